"""What a worker lets people know: rows of the outbox, written in the transaction of what happened. Jobs send them."""

from collections.abc import Sequence
from datetime import datetime

from portal.models import OutgoingMail, Run, SharedTask, Submission, User

ALERT_LINES = 20
_UNFINISHED = {Run.State.RECEIVED, Run.State.SCORING}


def tell_checked(submission: Submission, ok: bool, at: datetime) -> None:
    """The sender learns whether the upload was accepted."""
    _tell(submission, OutgoingMail.Kind.RUNS_ACCEPTED if ok else OutgoingMail.Kind.RUNS_REJECTED, at)


def tell_failed(work: Submission | Run, at: datetime) -> None:
    """The sender learns that we have failed, once an upload, and how its other runs have ended."""
    submission = work.submission if isinstance(work, Run) else work
    if submission is not None:
        _tell(submission, OutgoingMail.Kind.RUNS_FAILED, at)
    if isinstance(work, Run):
        tell_if_scored(work, at)


def alert(shared_task: SharedTask, occasion: str, lines: Sequence[str], at: datetime) -> None:
    """Every administrator learns of something that is for people to look at; once an occasion."""
    details = {"lines": list(lines[:ALERT_LINES]), "count": len(lines)}
    kind = OutgoingMail.Kind.ALERT
    for user in User.objects.filter(is_staff=True, is_active=True):
        OutgoingMail.objects.tell(user, kind, occasion, at, shared_task_id=shared_task.pk, details=details)


def tell_if_scored(run: Run, at: datetime) -> None:
    """With the last run of an upload, its sender learns that it is scored; a rescore is no news.

    The lock makes the workers of two last runs come one after the other, so that one of them sees both at their end.
    """
    if run.submission_id is None:  # a baseline
        return
    uploads = Submission.objects.select_related("sent_by").select_for_update(of=("self",), no_key=True)
    submission = uploads.get(pk=run.submission_id)
    states = set(submission.runs.values_list("state", flat=True))
    if Run.State.SCORED in states and not states & _UNFINISHED:
        _tell(submission, OutgoingMail.Kind.RUNS_SCORED, at)


def _tell(submission: Submission, kind: OutgoingMail.Kind, at: datetime) -> None:
    OutgoingMail.objects.tell(
        submission.sent_by,
        kind,
        f"submission {submission.pk}",
        at,
        shared_task_id=submission.shared_task_id,
        team_id=submission.team_id,
        phase_id=submission.phase_id,
        submission_id=submission.pk,
    )
