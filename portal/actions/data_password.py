"""Team data passwords: verifying them and sending new ones to the captain.

A password is created when its email is sent (`portal.mail.texts.teams`). The database stores only its hash.
"""

from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, LimitReached, NotAllowed
from portal.actions.base.roles import CAPTAIN_OR_ORGANIZERS, READERS
from portal.actions.base.waiting import until_fewer
from portal.actions.downloads import OBSTACLES
from portal.actions.team_mails import captain_of, queue_mail
from portal.actions.teams import TEAM_STATE, require_state
from portal.models import FailedAttempt, OutgoingMail, SharedTask, Team
from portal.models.failed_attempt import AN_HOUR, FIRST_GUESSES, GUESSES
from portal.permissions import Obstacle, data_access

WRONG_PASSWORD = NotAllowed.declare(
    "wrong_password",
    _("Incorrect password. Your team’s current password is in the latest password email to the captain."),
)
LAST_GUESS_WRONG = LimitReached.declare(WRONG_PASSWORD.code, WRONG_PASSWORD.sentence)
TOO_MANY_GUESSES = LimitReached.declare(
    "too_many_guesses",
    _(
        "You’ve entered too many incorrect passwords in the last hour. Wait an hour, or ask your captain to "
        "request a new password."
    ),
)
NO_PASSWORD = Conflict.declare("no_password", _("This team has no data password."))


@action(
    who=READERS,
    says=_("entered the data password"),
    errors=[*OBSTACLES.values(), WRONG_PASSWORD, LAST_GUESS_WRONG, TOO_MANY_GUESSES],
    atomic=False,
)
def give_password(
    call: ActionCall, shared_task: SharedTask, *, guess: Annotated[str, Field(max_length=200, title="Password")]
) -> str:
    """Verify the team's password and return a value that the session stores as proof.

    Each attempt is counted before the comparison, so that simultaneous attempts cannot exceed the limit. A correct
    attempt is then removed from the count.
    """
    own = data_access(call.user, shared_task)
    for obstacle in own.obstacles("password", None, call.at):
        if obstacle != Obstacle.PASSWORD:
            raise OBSTACLES[obstacle]()
    if own.team is None:
        raise OBSTACLES[Obstacle.PASSWORD]()
    counted = _count_guess(call, own.team)
    if not own.team.has_data_password(guess):
        is_last = FailedAttempt.objects.guesses_are_used_up(call.user, own.team, call.at)
        raise (LAST_GUESS_WRONG if is_last else WRONG_PASSWORD)()
    with transaction.atomic():
        counted.delete()
        call.record(subject=own.team.audit_subject)
    return own.team.password_stamp


def _count_guess(call: ActionCall, team: Team) -> FailedAttempt:
    guesses = FailedAttempt.objects
    if not guesses.guesses_are_used_up(call.user, team, call.at):
        counted = guesses.add(call.user, team, FailedAttempt.Kind.DATA_PASSWORD, call.at)
        if not guesses.exclude(pk=counted.pk).guesses_are_used_up(call.user, team, call.at):
            return counted
        counted.delete()
    own = guesses.within_an_hour(call.user, team, FailedAttempt.Kind.DATA_PASSWORD, call.at).filter(user=call.user)
    times = list(own.values_list("at", flat=True))
    seconds = (until_fewer(times, most, AN_HOUR, call.at) for most in (GUESSES, FIRST_GUESSES))
    raise TOO_MANY_GUESSES(seconds=next(filter(None, seconds)))


@action(who=CAPTAIN_OR_ORGANIZERS, says=_("replaced the data password"), errors=[TEAM_STATE, NO_PASSWORD], locks=True)
def renew_password(call: ActionCall, team: Team) -> None:
    """Invalidate the team's data password immediately and email a new one to the captain."""
    require_state(team, Team.State.APPROVED)
    captain = captain_of(team)
    if captain is None or not team.shared_task.has_password_data:
        raise NO_PASSWORD()
    Team.objects.filter(pk=team.pk).update(data_password="", data_password_at=None)
    call.record()
    waiting = team.mails.filter(
        kind__in=(OutgoingMail.Kind.DATA_PASSWORD, OutgoingMail.Kind.TEAM_APPROVED),
        state=OutgoingMail.State.QUEUED,
        attempts=0,
    )
    # If an email is already queued, it will contain the new password.
    if not waiting.exists():
        queue_mail(team, OutgoingMail.Kind.DATA_PASSWORD, captain, call.at)
