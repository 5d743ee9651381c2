"""Inviting people to a team, leaving it, and handing over the captain's role. Joining is in `teams`."""

from datetime import timedelta
from typing import Annotated

from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from portal.actions.action import Act, action
from portal.actions.errors import Conflict, LimitReached, NotAllowed
from portal.actions.input import column, passes
from portal.actions.roles import CAPTAIN, MEMBERS
from portal.actions.team_mails import queue_mail
from portal.actions.teams import (
    ACTIVE,
    TEAM_STATE,
    TEAMS_CLOSED,
    require_open_teams,
    require_state,
    withdraw,
    withdraw_team,
)
from portal.actions.waiting import until_fewer
from portal.models import AuditEntry, Membership, OutgoingMail, Team

INVITATIONS_A_DAY = 20  # per team, and per person in a task, so that the portal cannot be used for spam

TOO_MANY_INVITATIONS = LimitReached.declare(
    "too_many_invitations",
    _("Teams and people can each send %(limit)d invitations per day. Share the link instead, or try again tomorrow."),
)
HAND_OVER_FIRST = Conflict.declare("hand_over_first", _("You are the captain. Choose a new captain first."))
NO_OTHER_MEMBER = NotAllowed.declare("no_other_member", _("Choose another member of your team."))


@action(
    who=MEMBERS,
    says=_("invited by email"),
    errors=[TEAM_STATE, TEAMS_CLOSED, TOO_MANY_INVITATIONS],
    locks=True,  # the members stay the same until the transaction ends, and a person's invitations wait for each other
)
def invite_by_mail(
    act: Act,
    team: Team,
    *,
    address: Annotated[
        str, column(OutgoingMail, "address", required=True, title="Email address"), passes(validate_email)
    ],
) -> OutgoingMail:
    """Email the team's invitation link to an address. The recipient needs no account yet."""
    require_state(team, *ACTIVE)
    require_open_teams(team.shared_task, act.at)
    _require_few_invitations(act, team)
    act.record(address=address)
    kind, user = OutgoingMail.Kind.INVITATION, act.user
    return queue_mail(team, kind, address, act.at, inviter=str(user), language=user.language)


@action(who=MEMBERS, says=_("left the team"), errors=[HAND_OVER_FIRST], locks=True)
def leave_team(act: Act, team: Team) -> None:
    """Leave a team. A team without members is withdrawn. Captains hand over their role first, unless they are alone."""
    membership = team.memberships.get(user=act.user)
    is_last = not team.memberships.exclude(pk=membership.pk).exists()
    if membership.is_captain and not is_last:
        raise HAND_OVER_FIRST()
    membership.delete()
    act.record()
    if is_last and team.state in ACTIVE:
        withdraw(act, team)
        AuditEntry.objects.record(act.actor, withdraw_team.name, team, act.at)


@action(who=CAPTAIN, says=_("made another member the captain"), errors=[NO_OTHER_MEMBER], locks=True)
def hand_over(act: Act, team: Team, *, member: Membership) -> None:
    """Make another member the captain."""
    others = team.memberships.exclude(user=act.user)
    if not others.filter(pk=member.pk).update(is_captain=True):
        raise NO_OTHER_MEMBER()
    team.memberships.filter(user=act.user).update(is_captain=False)
    act.record(captain=member.user_id)


def _require_few_invitations(act: Act, team: Team) -> None:
    a_day = timedelta(days=1)
    by_team = team.mails.filter(kind=OutgoingMail.Kind.INVITATION, queued_at__gt=act.at - a_day)
    by_person = AuditEntry.objects.filter(
        actor=act.user, shared_task=team.shared_task, verb=invite_by_mail.name, at__gt=act.at - a_day
    )
    sent = (by_team.values_list("queued_at", flat=True), by_person.values_list("at", flat=True))
    if seconds := max(until_fewer(times, INVITATIONS_A_DAY, a_day, act.at) for times in sent):
        raise TOO_MANY_INVITATIONS(limit=INVITATIONS_A_DAY, seconds=seconds)
