"""Publishing, hiding and deleting tasks.

A draft is published or deleted. A public task can be hidden and shown again.
"""

from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.roles import ORGANIZERS
from portal.models import (
    AuditEntry,
    Board,
    BoardChange,
    Download,
    Evaluation,
    GoldStandard,
    GoldUpload,
    ReleasedBoard,
    Run,
    SharedTask,
    Signature,
    Submission,
    Track,
)
from portal.objects.interface import gold_objects

NOT_DRAFT = Conflict.declare("not_draft", _("Only drafts can be opened or deleted. You can hide an open task."))
NOT_OPEN = Conflict.declare("not_open", _("Only an open task can be hidden."))
NOT_HIDDEN = Conflict.declare("not_hidden", _("The task isn’t hidden."))

State = SharedTask.State
_GOLD = (GoldStandard, GoldUpload)
_REQUIRED = {  # the state that a change requires, and the error in other states
    "open": (State.DRAFT, NOT_DRAFT),
    "hide": (State.OPEN, NOT_OPEN),
    "show": (State.HIDDEN, NOT_HIDDEN),
    "delete": (State.DRAFT, NOT_DRAFT),
}


def require_state(change: str, shared_task: SharedTask) -> None:
    """Raise an error if the task's state does not allow this change: `open`, `hide`, `show` or `delete`."""
    state, error = _REQUIRED[change]
    if shared_task.state != state:
        raise error()


@action(who=ORGANIZERS, says=_("opened the task"), errors=[NOT_DRAFT], locks=True)
def open_task(call: ActionCall, shared_task: SharedTask) -> SharedTask:
    """Make a draft public. It can be hidden later, but no longer deleted."""
    require_state("open", shared_task)
    return _set(call, shared_task, State.OPEN)


@action(who=ORGANIZERS, says=_("hid the task"), errors=[NOT_OPEN], locks=True)
def hide_task(call: ActionCall, shared_task: SharedTask) -> SharedTask:
    """Hide the task from everyone except its organizers, including its teams. Nothing is deleted."""
    require_state("hide", shared_task)
    return _set(call, shared_task, State.HIDDEN)


@action(who=ORGANIZERS, says=_("made the task public again"), errors=[NOT_HIDDEN], locks=True)
def show_task(call: ActionCall, shared_task: SharedTask) -> SharedTask:
    """Make a hidden task public again, in its current state."""
    require_state("show", shared_task)
    return _set(call, shared_task, State.OPEN)


@action(who=ORGANIZERS, says=_("deleted a draft"), errors=[NOT_DRAFT], locks=True)
def delete_draft(call: ActionCall, shared_task: SharedTask) -> None:
    """Delete a draft and everything in it. Its audit log entries are kept, without a link to the task."""
    require_state("delete", shared_task)
    forget_gold_of(Track.objects.filter(shared_task=shared_task))
    AuditEntry.objects.filter(shared_task=shared_task).update(shared_task=None)
    delete_runs(
        Run.objects.filter(track__shared_task=shared_task), Board.objects.filter(track__shared_task=shared_task)
    )
    Submission.objects.filter(shared_task=shared_task).update(replaced_by=None)  # a protected reference
    for model in (Submission, Download, Signature):
        model.objects.filter(shared_task=shared_task).delete()
    subject = shared_task.audit_subject
    shared_task.delete()
    call.target = call.user
    call.record(subject=subject, title=shared_task.title)


def delete_runs(runs: QuerySet[Run], boards: QuerySet[Board]) -> None:
    """Delete runs with their scores, and boards with their snapshots."""
    for board in boards:
        ReleasedBoard.objects.filter(track=board.track_id, phase=board.phase_id).delete()
    BoardChange.objects.filter(board__in=boards).delete()
    boards.delete()
    Evaluation.objects.filter(run__in=runs).delete()
    runs.delete()


def forget_gold_of(tracks: QuerySet[Track]) -> None:
    """Delete the sealed gold files of these tracks after the commit."""
    found = [model.objects.filter(track__in=tracks).values_list("sealed_sha256", flat=True) for model in _GOLD]
    transaction.on_commit(partial(_forget, set().union(*found) - {""}))


def _forget(sealed: set[str]) -> None:
    for name in sealed:
        gold_objects().delete(name)


def _set(call: ActionCall, shared_task: SharedTask, state: str) -> SharedTask:
    before = shared_task.state
    shared_task.state = state
    shared_task.save(update_fields=["state"])
    call.record(before=before, after=state)
    return shared_task
