"""The line of uploads that wait for their check. A message only says that one of them is waiting, not which is next.

Fresh uploads come first: those whose turn has come (`SubmissionQuerySet.next_turn`). Of these, the one that waits
longest in each task is a candidate, and the candidate goes first whose task has been served longest ago. So neither a
team's pile of uploads nor another task's rush delays anyone by more than a few checks. Uploads whose turn has not come
follow in the order of their turns, and uploads in bulk, such as those of the demo's invented teams, come last.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from uuid import UUID

from django.db.models import OuterRef, Q, QuerySet, Subquery

from portal.evaluation.claim import claim_submission
from portal.evaluation.limits import ATTEMPTS
from portal.models import SharedTask, Submission
from portal.models.lease import ended
from portal.models.task import by_engine
from scoring import __version__ as scorer_version

_LONG_AGO = datetime(1970, 1, 1, tzinfo=UTC)
_TRIES = 5  # other workers may claim the same upload first


def claim_next(submission_id: UUID, at: datetime) -> tuple[UUID, UUID] | None:
    """Claim the upload whose turn it is. Return its id and the token, or None if there is nothing to do.

    `submission_id` is the upload in the message. It goes first only if it has been tried before, because the message
    says that it is time to try again, or if an earlier version of Agon, which knew no turns, has accepted it.
    """
    for _ in range(_TRIES):
        for key in _in_order(submission_id, at):
            if token := claim_submission(key, at):
                return key, token
        if not _waiting(at).exists():
            return None
    return None


def _in_order(submission_id: UUID, at: datetime) -> Iterator[UUID]:
    """Yield the upload in the message if it goes first, then one upload of each task, the next one first."""
    in_message = Submission.objects.unchecked().filter(
        by_engine(scorer_version, "shared_task__scorer"), pk=submission_id
    )
    if in_message.filter(Q(started_at__isnull=False) | Q(turn_at__isnull=True)).exists():
        yield submission_id
    last_served = Submission.objects.filter(shared_task=OuterRef("shared_task"), started_at__isnull=False)
    first = Submission.objects.filter(pk__in=_first_of_each_task(at)).annotate(
        task_served=Subquery(last_served.order_by("-started_at").values("started_at")[:1])
    )
    rows = first.values_list("pk", "in_bulk", "turn_at", "task_served", "received_at")
    yield from (row[0] for row in sorted(rows, key=lambda row: _rank(*row[1:], at=at)))


def _rank(
    in_bulk: bool, turn_at: datetime | None, task_served: datetime | None, received_at: datetime, *, at: datetime
) -> tuple[bool, bool, datetime, datetime]:
    turn = turn_at or received_at
    is_early = turn > at
    return in_bulk, is_early, turn if is_early else task_served or _LONG_AGO, turn


def _first_of_each_task(at: datetime) -> list[UUID]:
    """Return the upload in each task that goes first, with an index probe for each task."""
    first = _waiting(at).filter(shared_task=OuterRef("pk")).order_by("in_bulk", "turn_at", "received_at")
    tasks = SharedTask.objects.filter(by_engine(scorer_version)).annotate(first=Subquery(first.values("pk")[:1]))
    return [key for key in tasks.values_list("first", flat=True) if key is not None]


def _waiting(at: datetime) -> QuerySet[Submission]:
    """Select uploads that a worker may claim now. Postponed ones wait until their time has come."""
    waiting = Submission.objects.filter(state=Submission.State.RECEIVED, attempts__lt=ATTEMPTS)
    return waiting.filter(Q(started_at__isnull=True) | ended("lease_ends", at))
