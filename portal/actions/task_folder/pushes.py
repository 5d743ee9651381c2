"""Pushing a task's folder as a zip, and applying a push that a worker has checked."""

from datetime import timedelta

from django.db import IntegrityError, transaction
from django.db.models import Sum
from django.utils.translation import gettext_lazy as _

from portal import jobs
from portal.actions.agreement import SIGNED_WITH_OTHER_TEXT
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid, LimitReached
from portal.actions.base.roles import CREATORS, ORGANIZERS
from portal.actions.task_folder.apply_definition import PART_HAS_RUNS, PART_MISSING, SCORER_CALL, TRACK_HAS_RUNS
from portal.actions.task_folder.import_phases import WINDOW
from portal.actions.task_folder.pushed_folder import TOO_MANY_DRAFTS, Pushed, base_of, require_few_drafts
from portal.actions.uploads.intake import TOO_LARGE
from portal.evaluation.limits import HINT_SECONDS
from portal.evaluation.pushes import expire
from portal.models import FolderEdit, SharedTask, TaskPush, User
from portal.models.failed_attempt import AN_HOUR
from portal.objects.interface import gold_objects
from portal.queries.push_effects import effects_of, state_before
from portal.sealing import SealedFile
from portal.storage import file_sha256, store_sealed_gold
from scoring.limits import MEBIBYTE, UPLOAD_BYTES
from scoring.task_folder.secret_files import secret_files

PUSH_BYTES = UPLOAD_BYTES
PUSHES_AN_HOUR = 20  # per person
BYTES_A_DAY = 1024 * MEBIBYTE  # per person, for zips and the unpacked files of valid pushes
_A_DAY = timedelta(days=1)

TOO_MANY_PUSHES = LimitReached.declare(
    "push_limit",
    _("You’ve pushed %(n)d folders in the last hour. Try again later, or check the folder on your own computer."),
)
TOO_MANY_BYTES = LimitReached.declare(
    "push_bytes", _("You’ve reached the daily limit of %(limit)d MiB for pushed folders. Push again tomorrow.")
)
PUSH_RUNNING = Conflict.declare(
    "push_running", _("Another of your pushes is still being checked. Wait until it finishes.")
)
NOT_READY = Conflict.declare("push_not_ready", _("This push can’t be applied in its current state (%(state)s)."))
STALE = Conflict.declare("push_stale", _("The task has changed since this push was checked. Push the folder again."))
UNSURE = Invalid.declare("push_unsure", _("Confirm that you want these effects:\n%(effects)s"))
LIMITS = [TOO_LARGE, TOO_MANY_PUSHES, TOO_MANY_BYTES, PUSH_RUNNING]


@action(who=CREATORS, errors=[*LIMITS, TOO_MANY_DRAFTS], atomic=False)
def push_new_task(call: ActionCall, user: User, *, sealed: SealedFile) -> TaskPush:
    """Push the folder of a new task. A worker checks it. A valid folder becomes a draft that only you can see."""
    require_few_drafts(user)
    return receive_push(call, None, sealed)


@action(who=ORGANIZERS, errors=LIMITS, atomic=False)
def push_task(call: ActionCall, shared_task: SharedTask, *, sealed: SealedFile) -> TaskPush:
    """Push the folder of an existing task. A worker checks it and compares it with the task.

    Apply it in a second step.
    """
    return receive_push(call, shared_task, sealed)


@action(
    who=ORGANIZERS,
    says=_("applied a push"),
    errors=[
        NOT_READY,
        STALE,
        UNSURE,
        WINDOW,
        PART_MISSING,
        PART_HAS_RUNS,
        TRACK_HAS_RUNS,
        SCORER_CALL,
        SIGNED_WITH_OTHER_TEXT,
    ],
    locks=True,
)
def apply_push(call: ActionCall, push: TaskPush, *, is_sure: bool = False) -> TaskPush:
    """Update the task from the pushed folder. If this affects runs, deadlines or people, `is_sure` is required."""
    if push.state != TaskPush.State.READY:
        raise NOT_READY(state=TaskPush.State(push.state))
    assert push.shared_task is not None  # guaranteed by the role
    shared_task = SharedTask.objects.select_for_update(no_key=True).get(pk=push.shared_task.pk)
    if base_of(shared_task) != push.base:
        raise STALE()
    before = state_before(shared_task)
    applied = Pushed.of(push.prepared).apply(call.at, call.user)
    # Runs may have been uploaded since the push was checked.
    found = effects_of(before, applied.shared_task, applied.changes, call.at)
    if found.touches_runs and not is_sure:
        raise UNSURE(effects=found.effects)
    push.state, push.applied_at, push.prepared = TaskPush.State.APPLIED, call.at, {}
    push.save(update_fields=["state", "applied_at", "prepared"])
    forget_applied_edits(applied.shared_task)
    call.record(definition=applied.shared_task.definition_sha256, changes=push.changes)
    return push


def is_stale(push: TaskPush) -> bool:
    """Return whether the task has changed since the push was compared with it."""
    if push.state != TaskPush.State.READY or push.shared_task is None:
        return False
    return base_of(SharedTask.objects.get(pk=push.shared_task.pk)) != push.base


def receive_push(call: ActionCall, shared_task: SharedTask | None, sealed: SealedFile) -> TaskPush:
    """Store the sealed zip first and then its row, because a push whose file is missing could only fail."""
    if sealed.length > PUSH_BYTES:
        raise TOO_LARGE(limit=PUSH_BYTES)
    _require_few(call)
    name = store_sealed_gold(sealed)
    try:
        with transaction.atomic():
            # Simultaneous pushes by the same person wait here.
            list(User.objects.select_for_update(no_key=True).filter(pk=call.user.pk))
            expire(call.at)  # also done here, in case no worker is running
            _require_few(call)
            push = TaskPush.objects.create(
                shared_task=shared_task,
                is_first=shared_task is None,
                sent_by=call.user,
                size=sealed.size,
                sealed_sha256=name,
                received_at=call.at,
                lease_ends=call.at + timedelta(seconds=HINT_SECONDS),
            )
            transaction.on_commit(lambda: jobs.publish_pushes([push.pk]))
    except IntegrityError:
        gold_objects().delete(name)
        raise PUSH_RUNNING() from None
    except BaseException:
        gold_objects().delete(name)
        raise
    return push


def forget_applied_edits(shared_task: SharedTask) -> None:
    """Delete the edits of files that the imported folder now contains, and of files that are now sealed as gold."""
    folder, secret = shared_task.definition.folder, secret_files(shared_task.definition)
    for edit in FolderEdit.objects.filter(shared_task=shared_task).defer("content"):
        file = folder / edit.path
        if file in secret or (file_sha256(file) if file.is_file() else "") == edit.sha256:
            edit.delete()


def _require_few(call: ActionCall) -> None:
    own = TaskPush.objects.filter(sent_by=call.user)
    if own.filter(received_at__gt=call.at - AN_HOUR).count() >= PUSHES_AN_HOUR:
        raise TOO_MANY_PUSHES(n=PUSHES_AN_HOUR)
    found = own.filter(received_at__gt=call.at - _A_DAY).aggregate(Sum("size"))["size__sum"]
    if (found or 0) >= BYTES_A_DAY:
        raise TOO_MANY_BYTES(limit=BYTES_A_DAY // MEBIBYTE)
