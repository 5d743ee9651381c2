"""Rejected uploads use no quota, so they are rate-limited instead: for each person and for each team."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import NamedTuple, Self

from django.db.models import Q, Value
from django.utils.translation import gettext_lazy as _

from portal.actions.errors import LimitReached
from portal.models import FailedAttempt, Submission, Team, User, Validation
from portal.models.failed_attempt import AN_HOUR

REJECTED_AN_HOUR = 30  # uploads of a person, and of a team; those that wait for their check count until they have it
REJECTED_IN_A_ROW = 8  # of a person within ten minutes; then one a minute
UNCHECKED = 50  # uploads of a person that wait for their check, whenever they came in
_IN_A_ROW, _A_MINUTE = timedelta(minutes=10), timedelta(minutes=1)

REJECTED_WITHIN_AN_HOUR = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d files that you or your team uploaded or validated within an hour were rejected. Wait a while, and "
        "check files on your own machine before you upload them."
    ),
)
REJECTED_WITHIN_TEN_MINUTES = LimitReached.declare(
    "too_many_rejected",
    _(
        "%(n)d files that you uploaded or validated within ten minutes were rejected. Wait a minute, and check "
        "files on your own machine before you upload them."
    ),
)
UNCHECKED_OF_TEAM = LimitReached.declare(
    "too_many_unchecked",
    _("%(n)d files of you or your team wait to be checked. Upload the next one when they have been."),
)
UNCHECKED_OF_PERSON = LimitReached.declare(
    "too_many_unchecked", _("%(n)d of your uploads wait to be checked. Upload the next one when they have been.")
)
REJECTION_ERRORS = (REJECTED_WITHIN_AN_HOUR, REJECTED_WITHIN_TEN_MINUTES, UNCHECKED_OF_TEAM, UNCHECKED_OF_PERSON)


def lock_senders(user: User, team: Team) -> None:
    """Let no other upload of that person or of the team be counted until the transaction ends.

    Their accounts are locked, not the team: no organizer's action holds up an upload.
    """
    senders = User.objects.filter(Q(pk=user.pk) | Q(pk__in=team.members.values("pk"))).order_by("pk")
    list(senders.select_for_update(no_key=True).values_list("pk"))


def count_rejected(user: User, team: Team, at: datetime) -> None:
    """Count an upload that its names or its structure reject; for what a worker rejects its own row counts."""
    FailedAttempt.objects.add(user, team, FailedAttempt.Kind.UPLOAD, at)


def require_few_rejections(user: User, team: Team, at: datetime) -> None:
    """Raise one of REJECTION_ERRORS where person or team have too many uploads rejected, or fatal to their check.

    An upload that waits for its check may be rejected, so it counts as well, but not toward those in a row. It does so
    for an hour at most: an outage holds no one back for longer.
    """
    waiting = _waiting(user, team, at)  # first: a worker that rejects one meanwhile lets it count twice, not never
    rejected = _rejected(user, team, at)
    if rejected.most >= REJECTED_AN_HOUR:
        raise REJECTED_WITHIN_AN_HOUR(n=REJECTED_AN_HOUR)
    in_a_row = [one for one in rejected.own if one > at - _IN_A_ROW]
    if len(in_a_row) >= REJECTED_IN_A_ROW and max(in_a_row) > at - _A_MINUTE:
        raise REJECTED_WITHIN_TEN_MINUTES(n=len(in_a_row))
    if max(len(rejected.own) + len(waiting.own), rejected.of_team + waiting.of_team) >= REJECTED_AN_HOUR:
        raise UNCHECKED_OF_TEAM(n=waiting.most)
    if (unchecked := Submission.objects.unchecked().filter(sent_by=user).count()) >= UNCHECKED:
        raise UNCHECKED_OF_PERSON(n=unchecked)


class Counted(NamedTuple):
    """Uploads of the last hour."""

    own: list[datetime]  # when those of the person came in, for whatever team
    of_team: int

    @property
    def most(self) -> int:
        return max(len(self.own), self.of_team)

    @classmethod
    def of(cls, rows: Iterable[tuple[int, int, datetime]], user: User, team: Team) -> Self:
        """`rows` have sender, team and time."""
        found = list(rows)
        return cls(
            [when for sender, _team, when in found if sender == user.pk],
            sum(of == team.pk for _sender, of, _when in found),
        )


def _rejected(user: User, team: Team, at: datetime) -> Counted:
    """Those that were rejected.

    An upload whose names were rejected and whose content was validated all the same has two rows of one time: one
    counts.
    """
    since, kind = at - AN_HOUR, FailedAttempt.Kind.UPLOAD
    submitted = Submission.objects.rejected_or_fatal().filter(Q(sent_by=user) | Q(team=team), received_at__gt=since)
    validated = Validation.objects.rejected_or_fatal().filter(Q(user=user) | Q(team=team), received_at__gt=since)
    by_name = FailedAttempt.objects.within_an_hour(user, team, kind, at)
    rows = (
        by_name.order_by()
        .values_list("user", "team", "at", Value("name"))
        .union(
            validated.order_by().values_list("user", "team", "received_at", Value("content")),
            submitted.order_by().values_list("sent_by", "team", "received_at", Value("submitted")),
            all=True,
        )
    )
    every = list(rows)
    named = {row[:3] for row in every if row[3] == "name"}
    return Counted.of((row[:3] for row in every if row[3] != "content" or row[:3] not in named), user, team)


def _waiting(user: User, team: Team, at: datetime) -> Counted:
    """Those that wait for their check; a file that killed one counts as rejected already."""
    since = at - AN_HOUR
    submitted = Submission.objects.unchecked().filter(Q(sent_by=user) | Q(team=team), attempts=0, received_at__gt=since)
    validated = Validation.objects.unfinished().filter(Q(user=user) | Q(team=team), received_at__gt=since)
    rows = (
        submitted.order_by()
        .values_list("sent_by", "team", "received_at")
        .union(validated.order_by().values_list("user", "team", "received_at"), all=True)
    )
    return Counted.of(rows, user, team)
