"""Applying new scores to released boards, with a sentence that everybody can read."""

from collections.abc import Iterable
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid
from portal.actions.organizing import require_organizer
from portal.models import AuditEntry, Board, BoardChange, SharedTask, User
from portal.models.board import PAIRS
from portal.queries.waiting_scores import WaitingScores, effect_of


@transaction.atomic
def apply_scores(
    user: User, shared_task: SharedTask, wanted: Iterable[WaitingScores], note: str, at: datetime
) -> list[BoardChange]:
    """Let these boards show their new scores from now on; `wanted` is what the organizer has seen of them.

    Raises:
        NotAllowed: the user does not organize the task.
        Invalid: no board, no sentence, or one that is too long.
        Conflict: scores are still being computed, or they are no longer those that the organizer has seen.
    """
    require_organizer(user, shared_task)
    seen = {one.board.pk: one.key for one in wanted}
    if not seen:
        raise Invalid("no_board", _("Choose at least one leaderboard."))
    rows = Board.objects.filter(track__shared_task=shared_task, pk__in=seen).order_by("pk")
    list(rows.select_for_update(of=("self",), no_key=True).values_list("pk"))
    boards = [board for board in rows.with_new_scores(at) if WaitingScores.key_of(board) == seen[board.pk]]
    if len(boards) < len(seen) or any(board.waits() for board in boards):
        raise Conflict(
            "changed", _("The new scores have changed in the meantime. Look at them again, then apply them.")
        )
    changes = [_apply(board, note.strip(), user, at) for board in boards]
    rows.changed()
    AuditEntry.objects.create(
        actor=user,
        shared_task=shared_task,
        verb="apply_scores",
        subject=f"shared task {shared_task.slug}",
        detail={"note": note.strip(), "boards": [_in_words(change) for change in changes]},
        at=at,
    )
    return changes


def _apply(board: Board, note: str, user: User, at: datetime) -> BoardChange:
    effect = effect_of(board, user, at)
    change = BoardChange(
        board=board,
        gold_before=board.gold,
        gold_after=board.next_gold,
        scorer_before=board.scorer,
        scorer_after=board.next_scorer,
        runs=effect.runs,
        ranks=effect.ranks,
        note=note,
        by=user,
        at=at,
    )
    try:
        change.clean_fields()
    except ValidationError:
        message = _("Say in one line of at most 300 characters why the scores change; everybody can read it.")
        raise Invalid("note", message) from None
    board.show_next()
    board.save(update_fields=PAIRS)
    change.save()
    return change


def _in_words(change: BoardChange) -> str:
    """task1 evaluation: gold version 1 → 2, scorer 0.9 → 0.9"""
    board = change.board
    gold = f"gold version {change.gold_before.version} → {change.gold_after.version}"
    return f"{board.track.slug} {board.phase.slug}: {gold}, scorer {change.scorer_before} → {change.scorer_after}"
