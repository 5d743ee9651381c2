"""An upload's place in the line of uploads that wait for their check. Scoring does not count, so it reveals nothing."""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from math import ceil

from django.db.models import Avg, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet

from portal.models import GoldUpload, SharedTask, Submission, TaskPush

MANY = 1000  # uploads; if there are more before yours, they are not counted
_LATEST = 20  # checks from which the time that a check takes is estimated
_ONE_CHECK = 2.0  # seconds, if no upload of the task has been checked yet


@dataclass(frozen=True, slots=True)
class Place:
    """How many uploads are checked first, and in about how many seconds this one has been checked, too."""

    before: int
    seconds: int

    @property
    def is_many(self) -> bool:
        return self.before >= MANY

    @property
    def minutes(self) -> int:
        return ceil(self.seconds / 60)


def place_of(submission: Submission, at: datetime) -> Place | None:
    """Return the place of an upload that is waiting, as `evaluation.line` orders them, or None if it is not."""
    if submission.state != Submission.State.RECEIVED:
        return None
    running = Submission.objects.filter(state=Submission.State.CHECKING, lease_ends__gt=at).count()
    before = min(MANY, running + _before(submission, at))
    return Place(before, ceil(_seconds_of_check(submission) * (before + 1) / max(1, running)))


def pushes_before(push: TaskPush) -> int:
    """Return how many pushed folders are checked before this one."""
    return 0 if push.is_finished else TaskPush.objects.unfinished().filter(received_at__lt=push.received_at).count()


def gold_before(upload: GoldUpload) -> int:
    """Return how many gold files are checked before this one."""
    waiting = (GoldUpload.State.RECEIVED, GoldUpload.State.CHECKING)
    if upload.state not in waiting:
        return 0
    return GoldUpload.objects.filter(state__in=waiting, received_at__lt=upload.received_at).count()


def _before(submission: Submission, at: datetime) -> int:
    """Count the waiting uploads that go first: those of the task, and as many of each other task that has any."""
    turn = submission.turn_at or submission.received_at
    waiting = Submission.objects.filter(state=Submission.State.RECEIVED).exclude(pk=submission.pk)
    if not submission.in_bulk:
        waiting = waiting.filter(in_bulk=False)
    of_task = waiting.filter(shared_task=submission.shared_task_id)
    same_turn = Q(turn_at=turn, received_at__lt=submission.received_at)
    own = _count(of_task.filter(Q(turn_at__lt=turn) | same_turn))
    if own >= MANY:
        return MANY
    is_fresh = turn <= at and not submission.in_bulk
    by_task = _by_task(waiting.filter(turn_at__lte=max(turn, at)), submission.shared_task_id)
    return own + sum(min(count, own + 1) if is_fresh else count for count in by_task.values())


def _by_task(uploads: QuerySet[Submission], but: int) -> Counter[int]:
    """Count the uploads of each task but one, up to `MANY` in all. Only tasks that have any are read."""
    others = SharedTask.objects.exclude(pk=but).filter(Exists(uploads.filter(shared_task=OuterRef("pk"))))
    tasks = list(others.values_list("pk", flat=True))
    return Counter(uploads.filter(shared_task__in=tasks).order_by().values_list("shared_task", flat=True)[:MANY])


def _count(uploads: QuerySet[Submission]) -> int:
    return uploads.order_by()[:MANY].count()


def _seconds_of_check(submission: Submission) -> float:
    """Return the mean time of the latest checks in the task."""
    ended = Submission.objects.filter(shared_task=submission.shared_task_id, started_at__lt=F("checked_at"))
    latest = ended.order_by("-started_at").values("pk")[:_LATEST]
    took = ExpressionWrapper(F("checked_at") - F("started_at"), output_field=DurationField())
    mean = Submission.objects.filter(pk__in=list(latest.values_list("pk", flat=True))).aggregate(mean=Avg(took))["mean"]
    return mean.total_seconds() if mean else _ONE_CHECK
