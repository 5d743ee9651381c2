"""Rate limits for uploads that use no quota because they are rejected or replaced, per person and per team."""

from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Q, QuerySet, Subquery, Value
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.actions.base.errors import LimitReached
from portal.actions.base.waiting import seconds_until, until_fewer
from portal.models import FailedAttempt, Membership, SharedTask, Submission, Team, User, Validation
from portal.models.failed_attempt import AN_HOUR
from portal.models.prepared import PreparedQuery

REJECTED_AN_HOUR = 30  # uploads per person and per team; unchecked uploads are included until they are checked
REJECTED_IN_A_ROW = 8  # uploads by a person within ten minutes; after that, one upload per minute is allowed
REPLACEABLE_AN_HOUR = 30  # uploads per person and per team in phases in which a later upload replaces the earlier one
UNCHECKED = 50  # maximum number of a person's uploads that are not checked yet, however old they are
_IN_A_ROW, _A_MINUTE = timedelta(minutes=10), timedelta(minutes=1)

REJECTED_WITHIN_AN_HOUR = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d files from you or your team were rejected in the last hour. Wait a while, and check your files on "
        "your own computer before you upload them."
    ),
)
REJECTED_WITHIN_TEN_MINUTES = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d of your files were rejected in the last ten minutes. Wait a minute, and check your files on your "
        "own computer before you upload them."
    ),
)
UNCHECKED_OF_TEAM = LimitReached.declare(
    "too_many_unchecked",
    ngettext_lazy(
        "%(n)d file from you or your team is waiting to be checked. Wait until the check finishes, then upload the "
        "next file.",
        "%(n)d files from you or your team are waiting to be checked. Wait until the checks finish, then upload the "
        "next file.",
        "n",
    ),
)
UNCHECKED_OF_PERSON = LimitReached.declare(
    "too_many_unchecked",
    _("%(n)d of your uploads are waiting to be checked. Wait until the checks finish, then upload the next file."),
)
REPLACEABLE_WITHIN_AN_HOUR = LimitReached.declare(
    "too_many_uploads",
    _("%(n)d files from you or your team were uploaded in the last hour. Wait a while, then upload the next file."),
)
REJECTION_ERRORS = (REJECTED_WITHIN_AN_HOUR, REJECTED_WITHIN_TEN_MINUTES, UNCHECKED_OF_TEAM, UNCHECKED_OF_PERSON)


def lock_senders(user: User, team: Team) -> str:
    """Lock the accounts of the sender and the team's members, so that simultaneous uploads are counted one by one.

    The team itself is not locked: organizers' actions must not block uploads. Return why uploads to its task are
    paused, or an empty text.
    """
    _key, paused = _senders(user=user.pk, team=team.pk)[0]
    return str(paused)


@PreparedQuery
def _senders(user: int, team: int) -> QuerySet[User, Any]:
    members = Membership.objects.filter(team=team).values("user")
    senders = User.objects.filter(Q(pk=user) | Q(pk__in=members)).order_by("pk")
    task = SharedTask.objects.order_by().filter(teams=team).values("uploads_paused")
    return senders.select_for_update(no_key=True).values_list("pk", Subquery(task))


def count_rejected(user: User, team: Team, at: datetime) -> None:
    """Count an upload that was rejected because of its names or structure.

    Uploads that a worker rejects are not counted here, because they have their own rows.
    """
    FailedAttempt.objects.add(user, team, FailedAttempt.Kind.UPLOAD, at)


def require_few_rejections(user: User, team: Team, at: datetime) -> None:
    """Raise one of REJECTION_ERRORS if the person or the team has too many rejected uploads.

    Uploads that crashed their check count as rejected. Unchecked uploads count for at most an hour, so that an outage
    does not block people for longer. They never count toward the ten-minute limit.
    """
    rejected, waiting, unchecked = count_uploads(user, team, at)
    if rejected.most >= REJECTED_AN_HOUR:
        waits = (until_fewer(times, REJECTED_AN_HOUR, AN_HOUR, at) for times in rejected)
        raise REJECTED_WITHIN_AN_HOUR(n=REJECTED_AN_HOUR, seconds=max(waits))
    in_a_row = [one for one in rejected.own if one > at - _IN_A_ROW]
    if len(in_a_row) >= REJECTED_IN_A_ROW and max(in_a_row) > at - _A_MINUTE:
        raise REJECTED_WITHIN_TEN_MINUTES(n=len(in_a_row), seconds=seconds_until(max(in_a_row) + _A_MINUTE, at))
    if max(len(rejected.own) + len(waiting.own), len(rejected.of_team) + len(waiting.of_team)) >= REJECTED_AN_HOUR:
        raise UNCHECKED_OF_TEAM(n=waiting.most)
    if unchecked >= UNCHECKED:
        raise UNCHECKED_OF_PERSON(n=unchecked)


def require_few_replaceable(user: User, team: Team, at: datetime) -> None:
    """Limit uploads in phases with one submission per team. Replaced uploads use no quota but are checked and scored.

    Uploads count even before they are replaced, but not if they are rejected or failed.

    Raises:
        LimitReached: the person or the team has uploaded too often in the last hour.
    """
    theirs = Submission.objects.filter(Q(sent_by=user) | Q(team=team), received_at__gt=at - AN_HOUR)
    found = theirs.filter(phase__max_submissions__isnull=False).exclude(
        state__in=(Submission.State.REJECTED, Submission.State.FAILED)
    )
    uploads = list(found.order_by().values_list("sent_by", "team", "received_at"))
    own = [sent for sender, _team, sent in uploads if sender == user.pk]
    of_team = [sent for _sender, sent_for, sent in uploads if sent_for == team.pk]
    if max(len(own), len(of_team)) >= REPLACEABLE_AN_HOUR:
        waits = (until_fewer(times, REPLACEABLE_AN_HOUR, AN_HOUR, at) for times in (own, of_team))
        raise REPLACEABLE_WITHIN_AN_HOUR(n=REPLACEABLE_AN_HOUR, seconds=max(waits))


class Counted(NamedTuple):
    """The times of uploads in the last hour."""

    own: list[datetime]  # uploads by the person, for any team
    of_team: list[datetime]

    @property
    def most(self) -> int:
        return max(map(len, self))


class _Row(NamedTuple):
    """The sender, team, time and kind of an upload; see `count_uploads`."""

    sender: int
    team: int
    at: datetime
    kind: str

    @property
    def upload(self) -> tuple[int, int, datetime]:
        return self[:3]


def count_uploads(user: User, team: Team, at: datetime) -> tuple[Counted, Counted, int]:
    """Return the rejected and the waiting uploads of the last hour, and the number of the person's unchecked uploads.

    This takes a single query. A file that crashed its check counts as rejected. An upload that was rejected because of
    its names and then validated has two rows with the same time, of which only the first counts.
    """
    rows = _uploads(user=user.pk, team=team.pk, since=at - AN_HOUR)
    every = [_Row(*row) for row in rows]
    named = {row.upload for row in every if row.kind == "names"}

    def counted(kind: str) -> list[_Row]:
        return [row for row in every if row.kind == kind or (row.kind == f"{kind} content" and row.upload not in named)]

    def of(rows: list[_Row]) -> Counted:
        own = [row.at for row in rows if row.sender == user.pk]
        return Counted(own, [row.at for row in rows if row.team == team.pk])

    rejected = [row for row in every if row.kind == "names"] + counted("rejected")
    return of(rejected), of(counted("waiting")), len(counted("unchecked"))


@PreparedQuery
def _uploads(user: int, team: int, since: datetime) -> QuerySet[Any, Any]:
    """Select the sender, team, time and kind of each upload that `count_uploads` counts."""
    theirs, in_time = Q(sent_by=user) | Q(team=team), Q(received_at__gt=since)
    by_name = FailedAttempt.objects.since(user, team, FailedAttempt.Kind.UPLOAD, since)
    validated = Validation.objects.filter(Q(user=user) | Q(team=team), received_at__gt=since)
    unchecked = Submission.objects.unchecked()
    submitted = {
        "rejected": Submission.objects.rejected_or_fatal().filter(theirs, in_time),
        "waiting": unchecked.filter(theirs, in_time, attempts=0),
        "unchecked": unchecked.filter(sent_by=user),
    }
    content = {"rejected content": validated.rejected_or_fatal(), "waiting content": validated.unfinished()}
    found = by_name.order_by().values_list("user", "team", "at", Value("names"))
    parts = [
        rows.order_by().values_list(sender, "team", "received_at", Value(kind))
        for sender, those in (("sent_by", submitted), ("user", content))
        for kind, rows in those.items()
    ]
    return found.union(*parts, all=True)
