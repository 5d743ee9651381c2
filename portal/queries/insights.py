"""Results analysis: statistics of all runs, correlations of metrics, classes, hard items."""

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

MANY = 5000  # limit of runs in a picture
FIELD = 30  # limit of runs shown next to each other


@dataclass(frozen=True, slots=True)
class LeadLine:
    """One run's lead over another by the ranking metric, with bounds; see `scoring.significance.Lead`."""

    ahead: str
    behind: str
    lead: float
    low: float
    high: float
    p_value: float  # not corrected for the number of pairs
    disagreement: float | None  # share of items with different answers; None for weights


@dataclass(frozen=True, slots=True)
class SliceScores:
    """Scores of the teams' FIELD best runs by the slices of one column, by the ranking metric."""

    name: str
    title: str
    items: list[tuple[str, int]]  # slice and number of items
    rows: list[tuple[str, float | None, list[float | None]]]  # run, its score, and the score in each slice


@dataclass(frozen=True, slots=True)
class GapLine:
    """The most certain gap of a run between two slices of a column; see `scoring.significance.slice_gaps`."""

    run: str
    title: str  # of the column
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
    """Items that the best runs all got wrong, by the gold's answer, as in Table 4 of HatEval 2019.

    `best`, `counts` and `ids` have an entry for each number of runs. `rows` have the answers of which some were missed.
    """

    best: list[int]
    judged: int
    counts: list[int]
    rows: list[tuple[str, list[int], int]]  # the gold's answer, its missed items, all its items
    ids: list[list[str]]  # empty unless the task publishes its items


@dataclass(frozen=True, slots=True)
class Insights:
    """The analysis of a board's runs, which have the names shown on the board."""

    board: Leaderboard  # the official runs
    every_run: Leaderboard  # or the best MANY of them
    statistics: list[tuple[Column, Summary]]  # of metrics that some run has
    correlations: list[tuple[Column, list[float | None]]]  # one row, and as many values, for each metric
    details: dict[str, dict[str, Any]]  # `scoring.analysis.details.details` by run
    ranks: dict[str, tuple[int, int]]  # range of a run's rank on resampled items
    leads: list[LeadLine]  # of the best runs over each other
    field: dict[str, Any]  # `scoring.analysis.details.field_details`; empty until a worker made it
    evaluation_ids: dict[str, int]  # by run
    missed: MissedByAnswer | None
    slices: list[SliceScores]
    gaps: list[GapLine]
    agreement: list[dict[str, Any]]  # the annotators', as `scoring.gold.agreement.AnnotatorAgreement`; empty if unknown


def insights(track: Track, phase: Phase, viewer: Viewer, at: datetime) -> Insights:
    """The analysis that the viewer may see now; empty parts for a hidden board."""
    board, every_run = leaderboards(track, phase, viewer, at, Choices(size=None), Choices(runs="all", size=MANY))
    teams = board.teams
    values = {column.key: [row.scores.get(column.key) for row in teams] for column in board.columns}
    measured = [column for column in board.columns if any(value is not None for value in values[column.key])]
    shown = {row.run_id: row.label for row in board.rows if row.kind != Run.Kind.GOLD}  # best first
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
    """The evaluations of the rows, in their order."""
    if board.gold_version is None:
        return []
    seen = Evaluation.objects.visible_to(viewer, at)
    found = seen.filter(run__in=shown, gold__version=board.gold_version, scorer=board.scorer)
    places = {run: place for place, run in enumerate(shown)}
    return sorted(found, key=lambda evaluation: places[evaluation.run_id])


def _kept(board: Leaderboard, viewer: Viewer, at: datetime) -> Board | None:
    """The worker's comparison of the board's runs; None where the board is hidden or not compared."""
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
    """One line for each run and column, in the order of the runs."""
    lines = []
    for run, by in _in_order(found.gaps, names):
        for name, gaps in _of_track(by, track):
            behind, ahead, gap, low, high = max(gaps, key=lambda one: float(one[3]))
            title = track.definition.slices[name].title
            labels = slice_label(name, behind), slice_label(name, ahead)
            lines.append(GapLine(run, title, *labels, gap, low, high))
    return lines


def _of_track(found: Mapping[str, Found], track: Track) -> list[tuple[str, Found]]:
    """In the order of the track's slices."""
    return [(name, found[name]) for name in track.definition.slices if name in found]


def _missed(found: Sequence[Mapping[str, Any]], board: Leaderboard, at: datetime) -> MissedByAnswer | None:
    """The answers with the most missed items first."""
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
    """Values by name instead of evaluation, without runs that the board does not show."""
    if "disagreement" not in field:
        return dict(field)
    table = _in_order(field["disagreement"], names)
    return {**field, "disagreement": {name: dict(_in_order(shares, names)) for name, shares in table}}


def _in_order(found: Mapping[str, Found], names: Mapping[str, str]) -> list[tuple[str, Found]]:
    """Names and values in the order of the names; PostgreSQL's JSON has no order."""
    return [(name, found[pk]) for pk, name in names.items() if pk in found]
