"""Rate limits for rejected uploads, which use no quota: for each person and for each team."""

from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Q, Value
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from portal.actions.errors import LimitReached
from portal.actions.waiting import seconds_until, until_fewer
from portal.models import FailedAttempt, Submission, Team, User, Validation
from portal.models.failed_attempt import AN_HOUR

REJECTED_AN_HOUR = 30  # uploads per person and per team; unchecked ones count until they are checked
REJECTED_IN_A_ROW = 8  # uploads of a person within ten minutes; then one per minute
UNCHECKED = 50  # maximum number of unchecked uploads per person, of any age
_IN_A_ROW, _A_MINUTE = timedelta(minutes=10), timedelta(minutes=1)

REJECTED_WITHIN_AN_HOUR = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d files from you or your team were rejected within the last hour. Wait a while, and check your files on "
        "your own computer before you upload them."
    ),
)
REJECTED_WITHIN_TEN_MINUTES = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d of your files were rejected within the last ten minutes. Wait a minute, and check your files on your "
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
REJECTION_ERRORS = (REJECTED_WITHIN_AN_HOUR, REJECTED_WITHIN_TEN_MINUTES, UNCHECKED_OF_TEAM, UNCHECKED_OF_PERSON)


def lock_senders(user: User, team: Team) -> None:
    """Lock the accounts of the sender and the team's members, so that simultaneous uploads count each other.

    The team itself is not locked: organizers' actions must not block uploads.
    """
    senders = User.objects.filter(Q(pk=user.pk) | Q(pk__in=team.members.values("pk"))).order_by("pk")
    list(senders.select_for_update(no_key=True).values_list("pk"))


def count_rejected(user: User, team: Team, at: datetime) -> None:
    """Count an upload that was rejected because of its names or structure.

    Uploads that a worker rejects are counted by their own rows.
    """
    FailedAttempt.objects.add(user, team, FailedAttempt.Kind.UPLOAD, at)


def require_few_rejections(user: User, team: Team, at: datetime) -> None:
    """Raise one of REJECTION_ERRORS if the person or the team have too many rejected uploads.

    Uploads that killed their check count as well. Unchecked uploads count for up to an hour, so an outage does not
    block people for longer. They do not count as rejected in a row.
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


class Counted(NamedTuple):
    """The times of uploads within the last hour."""

    own: list[datetime]  # of the person's uploads, for any team
    of_team: list[datetime]

    @property
    def most(self) -> int:
        return max(map(len, self))


class _Row(NamedTuple):
    """The sender, team and time of an upload, and which of the five kinds it is."""

    sender: int
    team: int
    at: datetime
    kind: str

    @property
    def upload(self) -> tuple[int, int, datetime]:
        return self[:3]


def count_uploads(user: User, team: Team, at: datetime) -> tuple[Counted, Counted, int]:
    """Count rejected and unchecked uploads, and all unchecked ones of the person, in one statement.

    A file that killed its check counts as rejected. An upload that was rejected because of its names and then validated
    has two rows with the same time. Only the first one counts.
    """
    since, theirs, in_time = at - AN_HOUR, Q(sent_by=user) | Q(team=team), Q(received_at__gt=at - AN_HOUR)
    by_name = FailedAttempt.objects.within_an_hour(user, team, FailedAttempt.Kind.UPLOAD, at)
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
    every = [_Row(*row) for row in found.union(*parts, all=True)]
    named = {row.upload for row in every if row.kind == "names"}

    def counted(kind: str) -> list[_Row]:
        return [row for row in every if row.kind == kind or (row.kind == f"{kind} content" and row.upload not in named)]

    def of(rows: list[_Row]) -> Counted:
        own = [row.at for row in rows if row.sender == user.pk]
        return Counted(own, [row.at for row in rows if row.team == team.pk])

    rejected = [row for row in every if row.kind == "names"] + counted("rejected")
    return of(rejected), of(counted("waiting")), len(counted("unchecked"))
