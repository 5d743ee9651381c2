"""New scores for released boards. They are computed in the background and shown once organizers apply them."""

from copy import copy
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db import transaction

from portal.models import Board, BoardChange, Evaluation, Phase, SharedTask, User
from portal.models.board import PAIRS
from portal.queries.boards.choices import Choices
from portal.queries.boards.rows import select
from portal.queries.boards.slices import Scores


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of applying a board's new scores."""

    runs: int  # number of runs whose scores differ
    ranks: int  # number of official runs whose rank differs
    missing: int  # number of runs on the board that have no new score


@dataclass(frozen=True, slots=True)
class WaitingScores:
    """A released board with new scores.

    `scored` of the board's `count` runs have a new score. `effect` is None until all of them do.
    """

    board: Board
    scored: int
    count: int
    effect: Effect | None

    @property
    def key(self) -> str:
        """A key that identifies the board and the versions to apply. It changes whenever these versions change."""
        return self.key_of(self.board)

    @staticmethod
    def key_of(board: Board) -> str:
        return f"{board.pk} {board.next_gold_id} {board.next_scorer}"


def waiting_scores(shared_task: SharedTask, organizer: User, at: datetime) -> list[WaitingScores]:
    """Return an entry for each released board that has new scores, sorted by phase and track."""
    boards = Board.objects.filter(track__shared_task=shared_task).defer("comparison")
    return [_waiting(board, organizer, at) for board in boards.with_new_scores(at)]


def effect_of(board: Board, organizer: User, at: datetime) -> Effect:
    """Return how applying the new scores would change the board, as far as the organizer may see it."""
    after = copy(board)
    after.show_next()
    scores, new_scores = _scores(board, organizer, at), _scores(after, organizer, at)
    ranks, new_ranks = _ranks(board, organizer, at), _ranks(after, organizer, at)
    return Effect(
        runs=sum(values != new_scores[run] for run, values in scores.items() if run in new_scores),
        ranks=sum(rank != new_ranks[owner] for owner, rank in ranks.items() if owner in new_ranks),
        missing=len(scores.keys() - new_scores.keys()),
    )


def show_new_scores(board: Board, by: User, note: str, at: datetime) -> BoardChange:
    """Show the board's next scores, and record what changed and why. The caller must have locked the board's row."""
    effect = effect_of(board, by, at)
    change = BoardChange(
        board=board,
        gold_before=board.gold,
        gold_after=board.next_gold,
        scorer_before=board.scorer,
        scorer_after=board.next_scorer,
        runs=effect.runs,
        ranks=effect.ranks,
        note=note,
        by=by,
        at=at,
    )
    board.show_next()
    board.save(update_fields=PAIRS)
    change.save()
    Board.objects.filter(pk=board.pk).changed()
    return change


@transaction.atomic
def show_announced(board_key: int, at: datetime) -> BoardChange | None:
    """Show new scores together with the note on their gold standard, if the board is still waiting to show them."""
    rows = Board.objects.filter(pk=board_key)
    list(rows.select_for_update(of=("self",), no_key=True).values_list("pk"))
    for board in rows.to_announce(at):
        gold = board.next_gold
        if gold is not None and gold.applied_by is not None:
            return show_new_scores(board, gold.applied_by, gold.note, at)
    return None


def _scores(board: Board, organizer: User, at: datetime) -> dict[UUID, Scores]:
    """Return the scores of each run on the board."""
    assert board.gold is not None
    found = Evaluation.objects.visible_to(organizer, at).on_board(board.phase, board.gold, board.scorer)
    return dict(found.values_list("run", "scores"))


def _ranks(board: Board, organizer: User, at: datetime) -> dict[object, int | None]:
    """Return the ranks of official runs by team, or by run if all runs are official."""
    ranks = select(board, board.track, Choices(), organizer, at).ranks
    owner = "run" if board.phase.official == Phase.Official.ALL else "team"
    seen = Evaluation.objects.visible_to(organizer, at)
    return {who: ranks[pk] for pk, who in seen.filter(pk__in=ranks).values_list("pk", owner)}


def _waiting(board: Board, organizer: User, at: datetime) -> WaitingScores:
    on_board = partial(Evaluation.objects.visible_to(organizer, at).on_board, board.phase)
    assert board.gold is not None
    assert board.next_gold is not None
    scored, count = on_board(board.next_gold, board.next_scorer).count(), on_board(board.gold, board.scorer).count()
    return WaitingScores(board, scored, count, None if board.waits() else effect_of(board, organizer, at))
