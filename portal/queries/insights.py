"""Results analysis: statistics of all runs, correlations between metrics, classes and hard items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar
from uuid import UUID

from portal.models import Board, Evaluation, Phase, Run, Track, Viewer
from portal.queries.board_table import Row
from portal.queries.choices import Choices
from portal.queries.columns import Column
from portal.queries.items import missed_items
from portal.queries.leaderboard import Leaderboard, leaderboards
from portal.queries.slices import BySlice, by_slice, slice_label
from scoring.analysis.field import Summary, rank_correlation, summary

Found = TypeVar("Found")

MANY = 5000  # maximum number of runs in a figure
FIELD = 30  # maximum number of runs shown next to each other


@dataclass(frozen=True, slots=True)
class LeadLine:
    """A run's lead over another run by the ranking metric, with bounds; see `scoring.significance.Lead`."""

    ahead: str
    behind: str
    lead: float
    low: float
    high: float
    p_value: float  # not corrected for the number of pairs
    disagreement: float | None  # share of items with different answers; None if answers are weights


@dataclass(frozen=True, slots=True)
class SliceScores:
    """Ranking scores of the best team runs (at most FIELD) on each slice of one column."""

    name: str
    title: str
    items: list[tuple[str, int]]  # slices and their numbers of items
    rows: list[tuple[str, float | None, list[float | None]]]  # runs, their scores, and their scores in each slice


@dataclass(frozen=True, slots=True)
class GapLine:
    """A run's most certain gap between two slices of a column; see `scoring.significance.slice_gaps`."""

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
class MissedByAnswer:
    """Items that all of the best runs answered incorrectly, by the gold's answer, as in Table 4 of HatEval 2019.

    `best`, `counts` and `ids` have an entry for each number of runs. `rows` contain only answers with missed items.
    """

    best: list[int]
    judged: int
    counts: list[int]
    rows: list[tuple[str, list[int], int]]  # the gold's answer, the counts of missed items, and the count of all items
    ids: list[list[str]]  # empty unless the task publishes its items


@dataclass(frozen=True, slots=True)
class Insights:
    """The analysis of a board's runs, with the names that the board shows."""

    board: Leaderboard  # with the official runs
    every_run: Leaderboard  # with all runs, or the best MANY of them
    statistics: list[tuple[Column, Summary]]  # for each metric that some run has
    correlations: list[tuple[Column, list[float | None]]]  # a row for each metric, with a value for each metric
    details: dict[str, dict[str, Any]]  # by run: `scoring.analysis.details.details`
    ranks: dict[str, tuple[int, int]]  # by run: range of its rank on resampled items
    leads: list[LeadLine]  # leads of the best runs over each other
    field: dict[str, Any]  # `scoring.analysis.details.field_details`; empty until a worker has computed it
    evaluation_ids: dict[str, int]  # by run: its evaluation
    missed: MissedByAnswer | None
    slices: list[SliceScores]
    gaps: list[GapLine]
    # Agreement between annotators as `scoring.gold.agreement.AnnotatorAgreement`; empty if unknown.
    agreement: list[dict[str, Any]]


def insights(track: Track, phase: Phase, viewer: Viewer, at: datetime) -> Insights:
    """Return the analysis that the viewer may see now. Its parts are empty if the board is hidden."""
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
        correlations=[
            (column, [rank_correlation(values[column.key], values[other.key]) for other in measured])
            for column in measured
        ],
        details={shown[one.run_id]: one.details for one in evaluations},
        ranks={name: (low, high) for name, (low, high) in _in_order(made.get("ranks", {}), names)},
        leads=_leads(made.get("leads", {}), field.get("disagreement", {}), names),
        field=field,
        evaluation_ids={name: int(pk) for pk, name in names.items()},
        slices=_slices(slices, board, teams[:FIELD], names),
        gaps=_gaps(slices, track, names),
        agreement=track.agreement.get(phase.split, []) if board.visible and board.gold_version else [],
        missed=_missed(field.get("missed", ()), board, at),
    )


def _evaluations(board: Leaderboard, shown: Mapping[UUID, str], viewer: Viewer, at: datetime) -> list[Evaluation]:
    """Return the evaluations of the rows, in their order."""
    if board.gold_version is None:
        return []
    seen = Evaluation.objects.visible_to(viewer, at)
    found = seen.filter(run__in=shown, gold__version=board.gold_version, scorer=board.scorer)
    places = {run: place for place, run in enumerate(shown)}
    return sorted(found, key=lambda evaluation: places[evaluation.run_id])


def _kept(board: Leaderboard, viewer: Viewer, at: datetime) -> Board | None:
    """Return the board with the worker's comparison of its runs. None if it is hidden or not compared yet."""
    if board.comparison is None:
        return None
    kept = Board.objects.visible_to(viewer, at).filter(track=board.track, phase=board.phase).first()
    if kept is not None:
        kept.track, kept.phase = board.track, board.phase
    return kept


def _leads(
    leads: Mapping[str, Mapping[str, list[float]]],
    disagreement: Mapping[str, Mapping[str, float | None]],
    names: Mapping[str, str],
) -> list[LeadLine]:
    return [
        LeadLine(one, other, lead, low, high, p_value, disagreement.get(one, {}).get(other))
        for one, others in _in_order(leads, names)
        for other, (lead, low, high, p_value) in _in_order(others, names)
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
    """Return a line for each run and column, in the order of the runs."""
    lines = []
    for run, by in _in_order(found.gaps, names):
        for name, gaps in _of_track(by, track):
            behind, ahead, gap, low, high = max(gaps, key=lambda one: float(one[3]))
            title = track.definition.slices[name].title
            labels = slice_label(name, behind), slice_label(name, ahead)
            lines.append(GapLine(run, title, *labels, gap, low, high))
    return lines


def _of_track(found: Mapping[str, Found], track: Track) -> list[tuple[str, Found]]:
    """Return the entries in the order of the track's slices."""
    return [(name, found[name]) for name in track.definition.slices if name in found]


def _missed(found: Sequence[Mapping[str, Any]], board: Leaderboard, at: datetime) -> MissedByAnswer | None:
    """Return missed items by answer, the answers with the most missed items first."""
    if not found:
        return None
    all_of = {answer: items for answer, (_missed, items) in found[0]["by_answer"].items()}
    rows = [(answer, [one["by_answer"][answer][0] for one in found], items) for answer, items in all_of.items()]
    return MissedByAnswer(
        best=[one["best"] for one in found],
        judged=found[0]["judged"],
        counts=[one["missed"] for one in found],
        rows=sorted((row for row in rows if any(row[1])), key=lambda row: ([-count for count in row[1]], row[0])),
        ids=[missed_items(board.track, board.phase, map(int, one["runs"]), at) for one in found],
    )


def _named(field: Mapping[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """Return the values by name instead of evaluation, without runs that the board does not show."""
    if "disagreement" not in field:
        return dict(field)
    table = _in_order(field["disagreement"], names)
    return {**field, "disagreement": {name: dict(_in_order(shares, names)) for name, shares in table}}


def _in_order(found: Mapping[str, Found], names: Mapping[str, str]) -> list[tuple[str, Found]]:
    """Return names and values in the order of the names. PostgreSQL's JSON objects have no order."""
    return [(name, found[pk]) for pk, name in names.items() if pk in found]
