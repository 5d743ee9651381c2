"""Emails sent by workers: rows in the outbox, written in the transaction of the event."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from portal.models import OutgoingMail, Run, SharedTask, Submission, User

ALERT_LINES = 20
SCORES_AWAITED = timedelta(seconds=60)  # if runs are scored within this time, one email reports both results


def notify_checked(submission: Submission, ok: bool, at: datetime) -> None:
    """Email the sender the result of the check: rejected, or accepted unless the runs are scored first.

    While the scores are hidden, the email does not wait for them.
    """
    if ok:
        awaited = at + SCORES_AWAITED if submission.phase.scores_are_public(at) else None
        _notify(submission, OutgoingMail.Kind.RUNS_ACCEPTED, at, lease_ends=awaited)
    else:
        _notify(submission, OutgoingMail.Kind.RUNS_REJECTED, at)


def notify_failed(work: Submission | Run, at: datetime) -> None:
    """Notify the sender, once per upload, that evaluation failed on the portal's side.

    If the upload's other runs are finished, also report their scores.
    """
    submission = work.submission if isinstance(work, Run) else work
    if submission is not None:
        _notify_after_check(submission, OutgoingMail.Kind.RUNS_FAILED, at)
    if isinstance(work, Run):
        notify_if_scored(work, at)


def alert(shared_task: SharedTask | None, occasion: str, lines: Sequence[str], at: datetime) -> None:
    """Email every administrator about a problem that they must solve, but only once per occasion."""
    details = {"lines": list(lines[:ALERT_LINES]), "count": len(lines)}
    kind = OutgoingMail.Kind.ALERT
    for user in User.objects.filter(is_staff=True, is_active=True):
        OutgoingMail.objects.notify(user, kind, occasion, at, shared_task=shared_task, details=details)


def notify_if_scored(run: Run, at: datetime) -> None:
    """Email the sender when the last run of an upload has been scored. Scoring it again sends no email.

    While the scores are hidden, no email is sent, because its time would reveal something about them. The caller has
    locked the upload. If two workers score its last two runs simultaneously, the lock ensures that one of them sees
    both as scored.
    """
    if run.submission_id is None:  # baselines have no sender
        return
    submission = Submission.objects.select_related("sent_by", "phase").get(pk=run.submission_id)
    if not submission.phase.scores_are_public(at):
        return
    states = set(submission.runs.values_list("state", flat=True))
    if Run.State.SCORED in states and states.isdisjoint(Run.UNFINISHED):
        _notify_after_check(submission, OutgoingMail.Kind.RUNS_SCORED, at)


def _notify_after_check(submission: Submission, kind: OutgoingMail.Kind, at: datetime) -> None:
    """Email the sender the outcome of the evaluation.

    If the receipt has not been emailed yet, it is sent in the same email.
    """
    if not submission.mails.filter(kind=kind).exists():
        receipt = submission.mails.filter(kind=OutgoingMail.Kind.RUNS_ACCEPTED).untried()
        if not receipt.release(kind=kind, details={"with_receipt": True}, queued_at=at):
            _notify(submission, kind, at)


def _notify(submission: Submission, kind: OutgoingMail.Kind, at: datetime, **options: Any) -> None:
    OutgoingMail.objects.notify(
        submission.sent_by,
        kind,
        f"submission {submission.pk}",
        at,
        shared_task_id=submission.shared_task_id,
        team_id=submission.team_id,
        phase_id=submission.phase_id,
        submission_id=submission.pk,
        **options,
    )
