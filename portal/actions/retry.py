"""Retry after internal failures: uploads, runs and gold files that workers have given up on, and emails.

See `evaluation.record` for what workers retry on their own, and how often.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import ActionError, Conflict
from portal.actions.base.roles import ORGANIZERS_OR_SERVER
from portal.actions.uploads.slots import fill_slots
from portal.evaluation.limits import HINT_SECONDS
from portal.models import Board, GoldUpload, Quota, Run, SharedTask, Submission
from portal.models.lease import LeaseQuerySet

_GIVEN_UP = (Run.State.FAILED, Run.State.UNSCORABLE)

# Reasons why an upload, run or gold file remains failed, for `Retried.left`.
QUOTA_USED = Conflict.declare("no_runs_left", _("The team has since used up its quota."))
NUMBER_USED = Conflict.declare("run_number_taken", _("The run number has since been reused."))
REPLACED = Conflict.declare("replaced", _("The team’s newer submission has replaced it."))
NEWER_GOLD = Conflict.declare("newer_gold", _("A newer gold file exists."))


@dataclass(frozen=True, slots=True)
class Retried:
    """The number of runs and of gold files that were queued again. `left` has what remains failed, with the reasons."""

    runs: int
    gold: int
    left: list[tuple[str, ActionError]]


@action(who=ORGANIZERS_OR_SERVER, says=_("retried failed evaluations"), repeatable=True, atomic=False)
def retry_failed(call: ActionCall, shared_task: SharedTask) -> Retried:
    """Retry every evaluation that failed because of the portal itself, even after a deadline.

    A failed run released its quota, number and slot, and needs them again. If its team has used them since then, the
    run remains failed. A gold file remains failed if there is a newer one.
    """
    left: list[tuple[str, ActionError]] = []
    uploads = shared_task.submissions.filter(state=Submission.State.FAILED).order_by("received_at")
    runs = Run.objects.filter(track__shared_task=shared_task, state__in=_GIVEN_UP).order_by("received_at")
    alone = runs.filter(Q(submission__isnull=True) | Q(submission__state=Submission.State.ACCEPTED))
    failed_gold = GoldUpload.objects.filter(track__shared_task=shared_task, state=GoldUpload.State.FAILED)
    brought_back = sum(_attempt(partial(_retry_upload, one, call.at), str(one), left) for one in uploads)
    brought_back += sum(_attempt(partial(_retry_run, one, call.at), str(one), left) for one in alone)
    gold = sum(_attempt(partial(_retry_gold, one, call.at), str(one), left) for one in failed_gold)
    if brought_back or gold:
        call.record(runs=brought_back, gold=gold, left=len(left))
    return Retried(brought_back, gold, left)


@action(who=ORGANIZERS_OR_SERVER, says=_("resent undelivered emails"), repeatable=True)
def resend_mails(call: ActionCall, shared_task: SharedTask) -> int:
    """Queue the failed emails again and return their number. Delivery is attempted for another two days."""
    waiting = shared_task.mails.resend()
    if waiting:
        call.record(mails=len(waiting))
        transaction.on_commit(lambda: jobs.publish_mails(waiting))
    return len(waiting)


def _attempt(retry: Callable[[], int], name: str, left: list[tuple[str, ActionError]]) -> int:
    """Retry in a separate transaction, so that only one upload is locked at a time.

    Return the number of rows that were retried.
    """
    try:
        with transaction.atomic():
            return retry()
    except ActionError as error:
        left.append((name, error))
        return 0


def _retry_upload(upload: Submission, at: datetime) -> int:
    """Retry all of an upload's runs, or none of them if one cannot be retried."""
    if not _wait_again(Submission.objects.filter(pk=upload.pk), Submission.State.RECEIVED, at):
        return 0
    runs = list(upload.runs.locked().select_related("team", "phase", "track", "submission__sent_by"))
    for run in sorted(runs, key=lambda run: run.track.position):
        _reclaim(run, Run.State.RECEIVED, at)
    transaction.on_commit(lambda: jobs.publish_checks([upload.pk]))
    return len(runs)


def _retry_run(run: Run, at: datetime) -> int:
    found = Run.objects.filter(pk=run.pk, state__in=_GIVEN_UP).locked()
    locked = found.select_related("team", "phase", "track", "submission__sent_by").first()
    if locked is None:
        return 0
    if Submission.objects.filter(runs=locked, replaced_by__isnull=False).exists():
        raise REPLACED()
    _reclaim(locked, Run.State.VALID, at)
    transaction.on_commit(lambda: jobs.publish_first_scores([run.pk]))
    return 1


def _reclaim(run: Run, state: Run.State, at: datetime) -> None:
    """Reserve quota, number and slot again unless the run still has them, and queue the run in this state.

    Raises:
        Conflict: the team has used one of them in the meantime.
    """
    if run.team is not None and run.submission is not None and run.state == Run.State.FAILED:
        sender = run.submission.sent_by
        if not Quota.objects.reserve(run.team, sender, run.phase, run.track, 1, run.received_at, is_late=True):
            raise QUOTA_USED()
        _require_free_number(run)
        fill_slots([run], "", sender, at)
    _wait_again(Run.objects.filter(pk=run.pk), state, at)
    Board.objects.of(run).changed()


def _require_free_number(run: Run) -> None:
    """Check that the run's number is free. The team's other uploads must wait, because the quota row is locked."""
    others = Run.objects.filter(team=run.team, phase=run.phase, track=run.track, number=run.number, number_once=True)
    if run.number_once and others.exclude(state__in=Run.NOT_COUNTED).exists():
        raise NUMBER_USED()


def _retry_gold(upload: GoldUpload, at: datetime) -> int:
    """Retry a gold file. Raise NEWER_GOLD if there is a newer one."""
    there = Q(track=upload.track_id, split=upload.split)
    sent = GoldUpload.objects.filter(there, received_at__gt=upload.received_at)
    newer = sent.exclude(state=GoldUpload.State.REJECTED)
    versions = upload.track.gold_standards.filter(there, created_at__gt=upload.received_at)
    if newer.exists() or versions.exists():
        raise NEWER_GOLD()
    found = GoldUpload.objects.filter(pk=upload.pk)
    if not upload.sealed_sha256 or not _wait_again(found, GoldUpload.State.RECEIVED, at):
        return 0
    transaction.on_commit(lambda: jobs.publish_gold([upload.pk]))
    return 1


def _wait_again(rows: LeaseQuerySet[Any], state: str, at: datetime) -> bool:
    """Queue the row again in this state. Return False if a simultaneous call has already done so."""
    trusted_until = at + timedelta(seconds=HINT_SECONDS)
    failed = rows.filter(state__in=_GIVEN_UP)
    return bool(failed.release(trusted_until, state=state, attempts=0, postponed=0, leases_lost=0, cpu_seconds=0))
