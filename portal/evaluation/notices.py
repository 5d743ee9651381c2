"""Emails sent by workers: rows in the outbox, written in the transaction of the event."""

from collections.abc import Sequence
from datetime import datetime

from portal.models import OutgoingMail, Run, SharedTask, Submission, User

ALERT_LINES = 20
_UNFINISHED = {Run.State.RECEIVED, Run.State.SCORING}


def notify_checked(submission: Submission, ok: bool, at: datetime) -> None:
    """Email the sender the result of the check: accepted or rejected."""
    _notify(submission, OutgoingMail.Kind.RUNS_ACCEPTED if ok else OutgoingMail.Kind.RUNS_REJECTED, at)


def notify_failed(work: Submission | Run, at: datetime) -> None:
    """Email the sender that evaluation failed on our side, and how the upload's other runs ended.

    Sent once per upload.
    """
    submission = work.submission if isinstance(work, Run) else work
    if submission is not None:
        _notify(submission, OutgoingMail.Kind.RUNS_FAILED, at)
    if isinstance(work, Run):
        notify_if_scored(work, at)


def alert(shared_task: SharedTask | None, occasion: str, lines: Sequence[str], at: datetime) -> None:
    """Email every administrator about a problem that needs them. Each occasion is emailed only once."""
    details = {"lines": list(lines[:ALERT_LINES]), "count": len(lines)}
    kind = OutgoingMail.Kind.ALERT
    for user in User.objects.filter(is_staff=True, is_active=True):
        OutgoingMail.objects.notify(user, kind, occasion, at, shared_task=shared_task, details=details)


def notify_if_scored(run: Run, at: datetime) -> None:
    """Email the sender when the last run of an upload has been scored. Scoring again sends no email.

    If two workers score the last two runs simultaneously, the lock makes sure that one of them sees both as scored.
    """
    if run.submission_id is None:  # baselines have no sender
        return
    uploads = Submission.objects.select_related("sent_by").select_for_update(of=("self",), no_key=True)
    submission = uploads.get(pk=run.submission_id)
    states = set(submission.runs.values_list("state", flat=True))
    if Run.State.SCORED in states and not states & _UNFINISHED:
        _notify(submission, OutgoingMail.Kind.RUNS_SCORED, at)


def _notify(submission: Submission, kind: OutgoingMail.Kind, at: datetime) -> None:
    OutgoingMail.objects.notify(
        submission.sent_by,
        kind,
        f"submission {submission.pk}",
        at,
        shared_task_id=submission.shared_task_id,
        team_id=submission.team_id,
        phase_id=submission.phase_id,
        submission_id=submission.pk,
    )
