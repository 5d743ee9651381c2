"""Rejected uploads use no quota, so they are rate-limited instead: for each person and for each team."""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q, Value
from django.utils.translation import gettext as _

from portal.actions.errors import LimitReached, count_refusal
from portal.models import FailedAttempt, Phase, Submission, Team, User, Validation
from portal.models.failed_attempt import AN_HOUR
from portal.queries.uploads import inspect
from portal.storage import StoredUpload
from scoring.uploads.inspection import Upload

REJECTED_AN_HOUR = 30  # uploads of a person, and of a team
REJECTED_IN_A_ROW = 8  # of a person within ten minutes; then one a minute
UNCHECKED = 50  # uploads of a person that wait for their check
_IN_A_ROW, _A_MINUTE = timedelta(minutes=10), timedelta(minutes=1)


def recognize(user: User, team: Team, phase: Phase, stored: StoredUpload, at: datetime) -> Upload:
    """What the names and the structure of an upload say; one that they reject counts toward the limits.

    The limits are checked before the names are read, which costs time, and again when the upload is counted: of several
    at once, those within the limits are reported.

    Raises:
        LimitReached: too many rejected uploads.
    """
    require_few_rejections(user, team, at)
    upload = inspect(team.shared_task, stored, team, phase)
    if not upload.report.ok:
        with transaction.atomic():
            Team.objects.locked().get(pk=team.pk)
            lock_sender(user)
            require_few_rejections(user, team, at)
            FailedAttempt.objects.add(user, team, FailedAttempt.Kind.UPLOAD, at)
        count_refusal(problem.code for problem in upload.report.errors)
    return upload


def lock_sender(user: User) -> None:
    """Let no other upload of that person be counted until the transaction ends."""
    list(User.objects.filter(pk=user.pk).select_for_update(no_key=True).values_list("pk"))


def require_few_rejections(user: User, team: Team, at: datetime) -> None:
    """LimitReached where the person or the team has sent too many uploads that were rejected, or killed their check.

    Uploads that wait because of an outage don't count as rejected.
    """
    own, of_team = _rejected(user, team, at)
    if max(len(own), of_team) >= REJECTED_AN_HOUR:
        message = _(
            "%(n)d files that you or your team uploaded or validated within an hour were rejected. Wait a while, and "
            "check files on your own machine before you upload them."
        )
        raise LimitReached("too_many_rejected", message % {"n": REJECTED_AN_HOUR})
    in_a_row = [one for one in own if one > at - _IN_A_ROW]
    if len(in_a_row) >= REJECTED_IN_A_ROW and max(in_a_row) > at - _A_MINUTE:
        message = _(
            "%(n)d files that you uploaded or validated within ten minutes were rejected. Wait a minute, and check "
            "files on your own machine before you upload them."
        )
        raise LimitReached("too_many_rejected", message % {"n": len(in_a_row)})
    waiting = (Submission.State.RECEIVED, Submission.State.CHECKING)
    if Submission.objects.filter(sent_by=user, state__in=waiting).count() >= UNCHECKED:
        message = _("%(n)d of your uploads wait to be checked. Upload the next one when they have been.")
        raise LimitReached("too_many_unchecked", message % {"n": UNCHECKED})


def _rejected(user: User, team: Team, at: datetime) -> tuple[list[datetime], int]:
    """When the person's rejected uploads of the last hour came in, and how many the team had.

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
    found = [row[:3] for row in every if row[3] != "content" or row[:3] not in named]
    own = [when for sender, _team, when in found if sender == user.pk]
    return own, sum(of == team.pk for _sender, of, _when in found)
