"""The leaderboard of one track in one phase, with scores from a single gold and scorer version."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from django.db.models import Count, QuerySet
from django.utils.translation import gettext as _

from portal.models import Board, BoardChange, Evaluation, GoldStandard, Phase, ReleasedBoard, Run, Team, Track, Viewer
from portal.models.prepared import PreparedQuery
from portal.models.task import engine_of
from portal.queries.boards.choices import Choices
from portal.queries.boards.columns import Order, columns, stepped_column
from portal.queries.boards.rows import Names, Selection, page_of, rows, select, select_slice, select_steps, shown
from portal.queries.boards.slices import BySlice, Scores, by_slice
from portal.queries.boards.table import BoardTable, Comparison, Row, comparison_of, released_ranks
from portal.queries.boards.ties import bracketed, groups_of
from scoring import __version__ as scorer_version


@dataclass(frozen=True, slots=True, kw_only=True)
class Leaderboard(BoardTable):
    """One page of a board. If `visible` is False, it has no rows.

    `hidden_reason` is empty if everyone may see the board.
    """

    visible: bool
    hidden_reason: str
    pending: int = 0  # number of runs that are waiting for their first score, if the board is visible
    # While runs are being rescored: how many are done, and how many there are.
    rescored: tuple[int, int] | None = None
    has_aliases: bool = False
    count: int = 0  # number of rows on all pages
    page: int = 1
    pages: int = 1
    releases: Sequence[ReleasedBoard] = ()  # newest first
    unmade: int = 0  # number of runs, on all pages, without scores for the chosen slice
    # Why there are no intervals and test results for the board's official runs. Empty if there are.
    missing_comparison: str = ""


def default_phase(phases: Sequence[Phase], at: datetime) -> Phase | None:
    """Return the default phase: the last with public scores, or else the last that has opened, or else the first.

    Among phases with public scores, closed ones are preferred, so that the results of a campaign are shown rather than
    a later phase.
    """
    opened = [phase for phase in phases if phase.opens <= at]
    public = [phase for phase in opened if phase.scores_are_public(at)]
    final = [phase for phase in public if phase.closes is not None and phase.closes <= at]
    return next(reversed(final or public or opened), next(iter(phases), None))


def leaderboard(
    track: Track, phase: Phase, viewer: Viewer, at: datetime, choices: Choices | None = None
) -> Leaderboard:
    """Return the board as the viewer may see it now.

    The teams' runs selected by `choices.runs` and `choices.until` are ranked by the track's ranking metric and its rule
    for ties, on all items or on those in `choices.slice`. Other choices do not change ranks. Baselines and the gold
    standard have no rank and are listed by score.
    """
    return leaderboards(track, phase, viewer, at, choices or Choices())[0]


def leaderboards(
    track: Track, phase: Phase, viewer: Viewer, at: datetime, *choices: Choices
) -> tuple[Leaderboard, ...]:
    """Return the same board for each of these choices, sharing queries between them."""
    # Used only for texts. The queryset of rows has its own filter.
    visible, step = phase.scores_are_visible_to(viewer, at), phase.step_for(viewer, at)
    board = _board(track, phase, viewer, at)
    result = Leaderboard(
        track=track,
        phase=phase,
        visible=visible,
        hidden_reason="" if phase.scores_are_public(at) else hidden_reason(phase, at),
        columns=columns(track, phase.split) if step is None else [stepped_column(track, step)],
        rows=[],
        rank_by=track.definition.rank_by,
        gold_version=None,
        scorer="",
        released=phase.released,
        pending=_pending(track, phase, board) if visible else 0,
        step=step,
    )
    if board is None or board.gold is None or not (visible or _has_rows(board, viewer, at)):
        return (result,) * len(choices)
    if board.comparison.get("metric") != result.rank_by:
        board.comparison = {}  # it was computed with the previous ranking metric
    slices = by_slice(board) if step is None else BySlice()
    are_public = phase.names_are_public(at) or phase.shared_task.is_organized_by(viewer)
    result = replace(
        result,
        gold_version=board.gold.version,
        scorer=board.scorer,
        rescored=None if board.keeps_scores(at) else _rescored(board, track, viewer, at),
        has_aliases=not are_public,
        changes=_changes(board=board.pk),
        releases=_releases(track=track.pk, phase=phase.pk, at=at),
        slices=slices.choices,
    )
    names = Names(phase, are_public, _own_team(track, viewer))
    reader = _Reader(viewer, at, names)
    return tuple(_with_rows(result, board, reader, slices, chosen) for chosen in choices)


def _board(track: Track, phase: Phase, viewer: Viewer, at: datetime) -> Board | None:
    """Return the board's row, without its comparison if the viewer must not see it."""
    rows = Board.objects.filter(track=track, phase=phase).select_related("gold")
    board = rows.visible_to(viewer, at).first()
    if board is None and (board := rows.defer("comparison").first()) is not None:
        board.comparison = {}
    if board is not None:
        board.track, board.phase = track, phase
    return board


@PreparedQuery
def _changes(board: int) -> QuerySet[BoardChange]:
    return BoardChange.objects.filter(board=board).select_related("gold_before", "gold_after")


@PreparedQuery
def _releases(track: int, phase: int, at: datetime) -> QuerySet[ReleasedBoard]:
    return ReleasedBoard.objects.public(at).filter(track=track, phase=phase).defer("content")


def _has_rows(board: Board, viewer: Viewer, at: datetime) -> bool:
    """Return whether the viewer may see any row. If not, the caller can skip all other queries."""
    return Evaluation.objects.visible_at_all(viewer, at).filter(gold=board.gold, phase=board.phase).exists()


class _Reader(NamedTuple):
    """The viewer, the time, and the team names that the viewer may see."""

    viewer: Viewer
    at: datetime
    names: Names


def _with_rows(result: Leaderboard, board: Board, reader: _Reader, slices: BySlice, choices: Choices) -> Leaderboard:
    chosen = slices.choice(choices.slice)
    if chosen is not None:
        board = copy(board)
        board.comparison = {}  # the comparison covers all items, not a single slice
    names = reader.names
    selection = _select(board, result, choices, None if chosen is None else slices.of(chosen), reader)
    order = _order(result, choices)
    page = page_of(shown(selection, choices, names), selection, order, choices)
    lines = rows(page.lines, selection, names, groups_of(selection))
    if order == selection.best_first:
        lines = bracketed(lines)
    is_official = choices.runs == "official" and not choices.until and chosen is None
    is_exact = result.visible and result.step is None
    since = _last_release(board, result.releases) if is_official else None
    return replace(
        result,
        visible=result.visible or bool(lines),
        rows=_compared_with(since, lines) if since else lines,
        since=since.number if since else None,
        comparison=_comparison(board),
        missing_comparison=_missing_comparison(board, lines, reader.at) if is_official and is_exact else "",
        count=page.count,
        page=page.number,
        pages=page.pages,
        slice=chosen,
        unmade=0 if chosen is None else selection.found.exclude(pk__in=selection.scores or ()).count(),
    )


def _select(
    board: Board, result: Leaderboard, choices: Choices, in_slice: Mapping[int, Scores] | None, reader: _Reader
) -> Selection:
    if result.step is not None:
        return select_steps(board, result.track, choices, reader.viewer, reader.at)
    chosen = select(board, result.track, choices, reader.viewer, reader.at)
    return chosen if in_slice is None else select_slice(chosen, result.track, in_slice)


def _order(result: Leaderboard, choices: Choices) -> Order:
    heads = {column.key: column for column in result.columns}
    key = choices.sort if choices.sort in heads else result.rank_by
    return Order(key, heads[key].higher_is_better if choices.descending is None else choices.descending)


def _pending(track: Track, phase: Phase, board: Board | None) -> int:
    """Count the runs on the board that are waiting for their first score. Runs being rescored are not included."""
    if board is None or board.gold is None:
        return Run.objects.pending(track.pk, phase.pk).count()
    return _pending_runs.first(track=track.pk, phase=phase.pk, gold=board.gold_id, scorer=board.scorer) or 0


@PreparedQuery
def _pending_runs(track: int, phase: int, gold: int, scorer: str) -> QuerySet[Run, int]:
    """Count the runs that are waiting for their first score. If there are none, the result is empty."""
    runs = Board(track_id=track, phase_id=phase, gold_id=gold, scorer=scorer).pending_runs()
    return runs.order_by().values("phase").annotate(count=Count("pk")).values_list("count", flat=True)


def _rescored(board: Board, track: Track, viewer: Viewer, at: datetime) -> tuple[int, int] | None:
    gold, scorer = GoldStandard.objects.newest(track, board.phase.split), track.shared_task.scorer
    if gold is None or board.gold is None or (gold, scorer) == (board.gold, board.scorer):
        return None
    scored = partial(Evaluation.objects.visible_at_all(viewer, at).on_board, board.phase)
    return scored(gold, scorer).count(), scored(board.gold, board.scorer).count()


def _comparison(board: Board) -> Comparison | None:
    made = board.comparison
    if "intervals" not in made:
        return None
    return comparison_of(made, made["metric"])


def _missing_comparison(board: Board, lines: Sequence[Row], at: datetime) -> str:
    """Say why the official runs have no intervals. Empty if they have, or if no run has a score."""
    if not any(row.scores.get(board.track.definition.rank_by) is not None for row in lines):
        return ""
    if not board.comparison and engine_of(board.scorer) == scorer_version:
        if not board.phase.scores_are_public(at) and board.phase.is_open(at):
            return _("Intervals and tests are computed once the phase has closed.")
        return _("Intervals and tests are being computed. They appear here within minutes.")
    if "intervals" not in board.comparison:
        return _("Intervals and tests could not be computed for these runs.")
    return "" if board.comparison["intervals"] else _("Intervals are not available for this metric.")


def _last_release(board: Board, releases: Sequence[ReleasedBoard]) -> ReleasedBoard | None:
    """Return the newest release with a different gold or scorer version than the board shows now."""
    shown = (board.gold_id, board.scorer)
    return next((release for release in releases if (release.gold_id, release.scorer) != shown), None)


def _compared_with(release: ReleasedBoard, lines: list[Row]) -> list[Row]:
    """Return the rows with the number of ranks that each team has gained since the release."""
    before = released_ranks(release)

    def compared(row: Row) -> Row:
        if not row.is_team:
            return row
        rank = before.get(row.team)
        change = None if rank is None or row.rank is None else rank - row.rank
        return replace(row, change=change, is_new=row.team not in before)

    return [compared(row) for row in lines]


def _own_team(track: Track, viewer: Viewer) -> Team | None:
    if not viewer.is_authenticated:
        return None
    return Team.objects.filter(shared_task=track.shared_task_id, members=viewer.pk).first()


def hidden_reason(phase: Phase, at: datetime) -> str:
    if phase.opens > at:
        return _("This phase has not opened yet.")
    if phase.scores == Phase.Scores.NEVER:
        return _("The organizers do not publish the scores of this phase.")
    return _("The scores are hidden until the organizers release them.")


def board_state(board: Leaderboard, choices: Choices, at: datetime) -> str:
    """Return the board's state, one of the names in `portal.web.templatetags.icons`.

    The state is not "final" while changes are expected.
    """
    phase = board.phase
    if choices.until is not None and choices.until <= at:
        return "earlier"
    if board.rescored is not None:
        return "rescoring"
    if phase.opens > at:
        return "coming"
    if phase.last_closing is None:
        return "stays-open"
    if at < phase.last_closing:
        return "open"
    if board.pending:
        return "scoring"
    return "final" if phase.is_settled(at) else "closed"
