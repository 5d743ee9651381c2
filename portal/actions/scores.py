"""Showing new scores on released boards, with a public reason, and rescoring all runs."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import column, passes
from portal.actions.base.roles import ORGANIZERS, ORGANIZERS_OR_SERVER
from portal.evaluation.rescore import score_again
from portal.models import AuditEntry, Board, BoardChange, SharedTask
from portal.models.run import one_line
from portal.queries.boards.waiting_scores import WaitingScores, show_new_scores

BOARDS_AT_ONCE = 500  # boards in one call

NO_BOARD = Invalid.declare("no_board", _("Select at least one leaderboard."))
CHANGED = Conflict.declare(
    "changed", _("The new scores changed while you were reviewing them. Review them again, then apply them.")
)


@action(who=ORGANIZERS, says=_("applied new scores"), errors=[NO_BOARD, CHANGED])
def apply_scores(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    wanted: Annotated[list[WaitingScores], Field(max_length=BOARDS_AT_ONCE)],
    note: Annotated[str, column(BoardChange, "note", required=True, title="Reason"), passes(one_line)],
) -> list[BoardChange]:
    """Show the new scores on these boards. `wanted` lists the new scores that the organizer saw on the page."""
    seen = {one.board.pk: one.key for one in wanted}
    if not seen:
        raise NO_BOARD()
    rows = Board.objects.filter(track__shared_task=shared_task, pk__in=seen).order_by("pk")
    list(rows.select_for_update(of=("self",), no_key=True).values_list("pk"))
    boards = [board for board in rows.with_new_scores(call.at) if WaitingScores.key_of(board) == seen[board.pk]]
    if len(boards) < len(seen) or any(board.waits() for board in boards):
        raise CHANGED()
    changes = [show_new_scores(board, call.user, note, call.at) for board in boards]
    call.record(note=note, boards=[_in_words(change) for change in changes])
    return changes


@action(who=ORGANIZERS_OR_SERVER, says=AuditEntry.Event.RESCORE.label)
def rescore(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    reason: Annotated[str, Field(min_length=1, max_length=300, title="Reason")],
) -> int:
    """Score every run again with the newest gold and the installed scorer version, and return the number of runs."""
    again = score_again(shared_task)
    call.record(reason=reason, **again)
    return again["runs"]


def _in_words(change: BoardChange) -> str:
    """Describe the change in words, such as `task1 evaluation: gold version 1 → 2, scorer 0.9 → 0.9`."""
    board = change.board
    gold = f"gold version {change.gold_before.version} → {change.gold_after.version}"
    return f"{board.track.slug} {board.phase.slug}: {gold}, scorer {change.scorer_before} → {change.scorer_after}"
