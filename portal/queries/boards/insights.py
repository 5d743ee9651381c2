"""Results analysis: statistics of the runs, correlations between metrics, results by class, and hard items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from django.utils.text import capfirst

from portal.models import Board, Evaluation, Phase, Run, Track, Viewer
from portal.queries.boards.choices import Choices
from portal.queries.boards.columns import Column
from portal.queries.boards.label_shares import LabelShares, label_shares
from portal.queries.boards.leaderboard import Leaderboard, leaderboards
from portal.queries.boards.slices import BySlice, by_slice, slice_label
from portal.queries.boards.statistics import Threshold, track_statistics
from portal.queries.boards.table import Row
from portal.queries.items import missed_items
from scoring.analysis.field import Summary, rank_correlation, summary

Found = TypeVar("Found")

MANY = 5000  # maximum number of runs in a figure
FIELD = 30  # maximum number of runs shown side by side
ANSWERS = 20  # maximum number of incorrect answers that are listed


@dataclass(frozen=True, slots=True)
class LeadLine:
    """One run's lead over another by the ranking metric, with its interval; see `scoring.significance.Lead`."""

    ahead: str
    behind: str
    lead: float
    low: float
    high: float
    p_value: float  # not corrected for the number of pairs
    corrected: float | None  # p-value corrected for all pairs of runs; None on boards without bounds of ranks
    disagreement: float | None  # share of items with different answers; None if answers are weights


@dataclass(frozen=True, slots=True)
class SliceScores:
    """The ranking scores of the best team runs (at most FIELD) in each slice of one column."""

    name: str
    title: str
    items: list[tuple[str, int]]  # slices, and how many items each has
    rows: list[tuple[str, float | None, list[float | None]]]  # runs, their scores on all items and in each slice


@dataclass(frozen=True, slots=True)
class GapLine:
    """For one run, the most certain gap between two slices of a column; see `scoring.significance.slice_gaps`."""

    run: str
    title: str  # title of the column
    behind: str
    ahead: str
    gap: float
    low: float
    high: float

    @property
    def is_found(self) -> bool:
        """Whether the interval excludes 0."""
        return self.low > 0


@dataclass(frozen=True, slots=True)
class SameError:
    """The number of items for which the `best` top-scoring runs all gave the same incorrect answer, `answer`.

    If `answer` is empty, this is the total over all incorrect answers. `share` is the fraction of that total, and
    `of_items` the fraction of all judged items. Compare Table 4 of HatEval 2019.
    """

    best: int
    answer: str
    count: int
    share: float
    of_items: float


@dataclass(frozen=True, slots=True)
class MissedByAnswer:
    """Items that all of the best runs answered incorrectly, by gold answer.

    `best` lists how many of the best runs are considered; `counts` and `ids` have an entry for each of these numbers.
    `rows` contains only answers with missed items.
    """

    best: list[int]
    judged: int
    counts: list[int]
    rows: list[tuple[str, list[int], int]]  # a gold answer, its counts of missed items, and how many items have it
    ids: list[list[str]]  # empty unless the task publishes its items
    same: list[SameError]


@dataclass(frozen=True, slots=True)
class Example:
    """An example item and its cells.

    `different` lists the runs whose values differ between the columns, and `same` those whose values are all the same,
    each with its values as text.
    """

    id: str
    cells: list[str]
    different: list[tuple[str, str]]
    same: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Examples:
    """Example items with the runs' answers, as in Table 3 of SSA 2023."""

    columns: list[str]
    rows: list[Example]


@dataclass(frozen=True, slots=True)
class Insights:
    """The analysis of a board's runs, with the names that the board shows."""

    board: Leaderboard  # with the official runs
    every_run: Leaderboard  # all runs, or the best MANY of them
    statistics: list[tuple[Column, Summary]]  # for each metric for which any run has a value
    baselines: tuple[Threshold, ...]
    label_shares: list[LabelShares]
    correlations: list[tuple[Column, list[float | None]]]  # a row for each metric, with a value for each metric
    details: dict[str, dict[str, Any]]  # `scoring.analysis.details.details`, by run
    # The bounds of each run's rank or, on boards without bounds, the range of its rank on resampled items.
    ranks: dict[str, tuple[int, int]]
    leads: list[LeadLine]  # leads between pairs of the best runs
    field: dict[str, Any]  # `scoring.analysis.details.field_details`; empty until computed by a worker
    evaluation_ids: dict[str, int]  # run → its evaluation
    missed: MissedByAnswer | None
    examples: Examples | None
    slices: list[SliceScores]
    gaps: list[GapLine]
    # Annotator agreement as `scoring.gold.agreement.AnnotatorAgreement`; empty if unknown.
    agreement: list[dict[str, Any]]


def insights(track: Track, phase: Phase, viewer: Viewer, at: datetime) -> Insights:
    """Return the analysis as the viewer may see it now. If the board is hidden, its parts are empty."""
    board, every_run = leaderboards(track, phase, viewer, at, Choices(size=None), Choices(runs="all", size=MANY))
    teams = board.teams
    values = {column.key: [row.scores.get(column.key) for row in teams] for column in board.columns}
    measured = [column for column in board.columns if any(value is not None for value in values[column.key])]
    shown = {row.run_id: row.label for row in board.rows if row.kind != Run.Kind.GOLD}  # in order, best first
    evaluations = _evaluations(board, shown, viewer, at)
    names = {str(evaluation.pk): shown[evaluation.run_id] for evaluation in evaluations}
    kept = _kept(board, viewer, at)
    made = kept.comparison if kept else {}
    slices = by_slice(kept) if kept else BySlice()
    field = _named(made.get("field", {}), names)
    return Insights(
        board=board,
        every_run=every_run,
        statistics=[(column, summary(values[column.key])) for column in measured],
        baselines=track_statistics(board).baselines if measured else (),
        label_shares=label_shares(field.get("labels", {}), track),
        correlations=[
            (column, [rank_correlation(values[column.key], values[other.key]) for other in measured])
            for column in measured
        ],
        details={shown[evaluation.run_id]: evaluation.details for evaluation in evaluations},
        ranks=_ranks(board, made, names),
        leads=_leads(made.get("leads", {}), field.get("disagreement", {}), names),
        field=field,
        evaluation_ids={name: int(pk) for pk, name in names.items()},
        examples=_examples(made.get("examples", {}), names),
        slices=_slices(slices, board, teams[:FIELD], names),
        gaps=_gaps(slices, track, names),
        agreement=track.agreement.get(phase.split, []) if board.visible and board.gold_version else [],
        missed=_missed(field.get("missed", ()), board, at),
    )


def _evaluations(board: Leaderboard, shown: Mapping[UUID, str], viewer: Viewer, at: datetime) -> list[Evaluation]:
    """Return the evaluations of the rows in `shown`, in the same order."""
    if board.gold_version is None:
        return []
    seen = Evaluation.objects.visible_to(viewer, at)
    found = seen.filter(run__in=shown, gold__version=board.gold_version, scorer=board.scorer)
    places = {run: place for place, run in enumerate(shown)}
    return sorted(found, key=lambda evaluation: places[evaluation.run_id])


def _kept(board: Leaderboard, viewer: Viewer, at: datetime) -> Board | None:
    """Return the board with a worker's comparison of its runs, or None if it is hidden or has not been compared yet."""
    if board.comparison is None:
        return None
    kept = Board.objects.visible_to(viewer, at).filter(track=board.track, phase=board.phase).first()
    if kept is not None:
        kept.track, kept.phase = board.track, board.phase
    return kept


def _ranks(board: Leaderboard, made: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, tuple[int, int]]:
    if board.has_bounds:
        return {row.label: (row.bounds.low, row.bounds.high) for row in board.rows if row.bounds}
    return {name: (low, high) for name, (low, high) in _in_order(made.get("ranks", {}), names)}


def _leads(
    leads: Mapping[str, Mapping[str, list[float]]],
    disagreement: Mapping[str, Mapping[str, float | None]],
    names: Mapping[str, str],
) -> list[LeadLine]:
    return [
        LeadLine(
            better,
            other,
            lead,
            low,
            high,
            p_value,
            corrected=corrected[0] if corrected else None,
            disagreement=disagreement.get(better, {}).get(other),
        )
        for better, others in _in_order(leads, names)
        for other, (lead, low, high, p_value, *corrected) in _in_order(others, names)
    ]


def _slices(found: BySlice, board: Leaderboard, rows: list[Row], names: Mapping[str, str]) -> list[SliceScores]:
    by = board.rank_by
    shown = []
    for name, made in _of_track(found.scores, board.track):
        items = sorted(made["items"].items())
        own = {names[pk]: scores for pk, scores in made["scores"].items() if pk in names}
        lines = [
            (row.team, row.scores.get(by), [own[row.team][value].get(by) for value, _count in items])
            for row in rows
            if row.team in own
        ]
        counts = [(slice_label(name, value), count) for value, count in items]
        shown.append(SliceScores(name, board.track.definition.slices[name].title, counts, lines))
    return shown


def _gaps(found: BySlice, track: Track, names: Mapping[str, str]) -> list[GapLine]:
    """Return a line for each run and each column of slices, in the order of the runs."""
    lines = []
    for run, by in _in_order(found.gaps, names):
        for name, gaps in _of_track(by, track):
            behind, ahead, gap, low, high = max(gaps, key=lambda entry: float(entry[3]))
            title = track.definition.slices[name].title
            labels = slice_label(name, behind), slice_label(name, ahead)
            lines.append(GapLine(run, title, *labels, gap, low, high))
    return lines


def _examples(found: Mapping[str, Any], names: Mapping[str, str]) -> Examples | None:
    """Return the examples for the runs that the board shows, in the order of the board."""
    answers: list[tuple[str, list[list[float | None]]]] = _in_order(found.get("answers", {}), names)
    if not answers:
        return None
    rows = []
    for place, item in enumerate(found["items"]):
        values = [(name, own[place]) for name, own in answers]
        different, same = (
            [
                (name, ", ".join(_word(value) for value in cells))
                for name, cells in values
                if (len(set(cells)) > 1) is wanted
            ]
            for wanted in (True, False)
        )
        rows.append(Example(item["id"], item["cells"], different, same))
    columns = [capfirst(column.replace("_", " ")) for column in found["columns"]]
    return Examples(columns, rows) if rows else None


def _word(value: float | None) -> str:
    return "–" if value is None else f"{value:g}"


def _of_track(found: Mapping[str, Found], track: Track) -> list[tuple[str, Found]]:
    """Return the entries in the order of the track's slices."""
    return [(name, found[name]) for name in track.definition.slices if name in found]


def _missed(found: Sequence[Mapping[str, Any]], board: Leaderboard, at: datetime) -> MissedByAnswer | None:
    """Return missed items by gold answer. Answers with the most missed items come first."""
    if not found:
        return None
    all_of = {answer: items for answer, (_missed, items) in found[0]["by_answer"].items()}
    rows = [(answer, [group["by_answer"][answer][0] for group in found], items) for answer, items in all_of.items()]
    return MissedByAnswer(
        best=[group["best"] for group in found],
        judged=found[0]["judged"],
        counts=[group["missed"] for group in found],
        rows=sorted((row for row in rows if any(row[1])), key=lambda row: ([-count for count in row[1]], row[0])),
        ids=[missed_items(board.track, board.phase, map(int, group["runs"]), at) for group in found],
        same=[line for group in found for line in _same_errors(group)],
    )


def _same_errors(group: Mapping[str, Any]) -> list[SameError]:
    """Return the total over all incorrect answers, then an entry for each of the most frequent ones (up to ANSWERS).

    Empty if there are none.
    """
    counts: Mapping[str, int] = group.get("same", {})  # missing from comparisons made by older workers
    total, judged = sum(counts.values()), group["judged"]
    most = sorted(counts.items(), key=lambda entry: (-entry[1], entry[0]))[:ANSWERS]
    return [
        SameError(group["best"], answer, count, count / total, count / judged)
        for answer, count in (("", total), *most)
        if total
    ]


def _named(field: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Key the disagreements by name instead of evaluation, keeping only the runs that the board shows."""
    if "disagreement" not in field:
        return dict(field)
    table = _in_order(field["disagreement"], names)
    return {**field, "disagreement": {name: dict(_in_order(shares, names)) for name, shares in table}}


def _in_order(found: Mapping[str, Found], names: Mapping[str, str]) -> list[tuple[str, Found]]:
    """Return names and values in the order of `names`, because PostgreSQL's JSON objects are unordered."""
    return [(name, found[pk]) for pk, name in names.items() if pk in found]
