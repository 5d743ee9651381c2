"""What waits for a worker, and since when."""

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, QuerySet

from portal.models import OutgoingMail, Run, Submission


@dataclass(frozen=True, slots=True)
class Backlog:
    """Work of one kind: how much of it waits, and for how many seconds the oldest has."""

    work: str
    waiting: int
    age: float


def backlogs(at: datetime) -> list[Backlog]:
    """Uploads to check, runs to score, mails to send; what nobody could do now, for want of gold, does not wait."""
    submissions = Submission.objects.filter(state__in=(Submission.State.RECEIVED, Submission.State.CHECKING))
    runs = Run.objects.scorable().filter(state__in=(Run.State.RECEIVED, Run.State.SCORING), team__isnull=False)
    mails = OutgoingMail.objects.filter(state=OutgoingMail.State.QUEUED)
    return [
        _backlog("check", submissions, "received_at", at),
        _backlog("score", runs, "received_at", at),
        _backlog("mail", mails, "queued_at", at),
    ]


def _backlog(work: str, rows: QuerySet, since: str, at: datetime) -> Backlog:
    found = rows.order_by().aggregate(waiting=Count("pk"), oldest=Min(since))
    age = (at - found["oldest"]).total_seconds() if found["oldest"] else 0.0
    return Backlog(work, found["waiting"], max(0.0, age))
