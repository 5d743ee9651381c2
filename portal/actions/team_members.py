"""Inviting people to a team, leaving a team, and handing over the role of captain. Joining is in `teams`."""

from datetime import timedelta
from typing import Annotated

from django.core.validators import validate_email
from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, LimitReached, NotAllowed
from portal.actions.base.input import column, passes
from portal.actions.base.roles import CAPTAIN, MEMBERS
from portal.actions.base.waiting import until_fewer
from portal.actions.team_mails import queue_mail
from portal.actions.teams import (
    TEAM_FULL,
    TEAM_STATE,
    TEAMS_CLOSED,
    require_open_teams,
    require_room,
    require_state,
    withdraw,
    withdraw_team,
)
from portal.models import AuditEntry, Membership, OutgoingMail, Team

INVITATIONS_A_DAY = 20  # per team, and per person in a task, so that the portal cannot be used for spam

TOO_MANY_INVITATIONS = LimitReached.declare(
    "too_many_invitations",
    _(
        "You or your team have reached the limit of %(limit)d invitations per day. Share the link instead, or try "
        "again tomorrow."
    ),
)
HAND_OVER_FIRST = Conflict.declare("hand_over_first", _("You are the captain. Choose a new captain first."))
TEAM_IS_FIXED = NotAllowed.declare(
    "team_is_fixed",
    _("Registration for this task is closed, so you can’t leave your team. Contact the organizers."),
)
NO_OTHER_MEMBER = NotAllowed.declare("no_other_member", _("Choose another member of your team."))


@action(
    who=MEMBERS,
    says=_("invited by email"),
    errors=[TEAM_STATE, TEAMS_CLOSED, TEAM_FULL, TOO_MANY_INVITATIONS],
    # Keeps the members unchanged until the transaction ends, and counts a team's invitations one at a time.
    locks=True,
)
def invite_by_mail(
    call: ActionCall,
    team: Team,
    *,
    address: Annotated[
        str, column(OutgoingMail, "address", required=True, title="Email address"), passes(validate_email)
    ],
) -> OutgoingMail:
    """Email the team's invitation link to an address. The recipient doesn't need an account yet."""
    require_state(team, *Team.ACTIVE)
    require_open_teams(team.shared_task, call.at)
    require_room(team)
    _require_few_invitations(call, team)
    call.record(address=address)
    kind, user = OutgoingMail.Kind.INVITATION, call.user
    return queue_mail(team, kind, address, call.at, inviter=str(user), language=user.language)


@action(who=MEMBERS, says=_("left the team"), errors=[HAND_OVER_FIRST, TEAM_IS_FIXED], locks=True)
def leave_team(call: ActionCall, team: Team) -> None:
    """Leave a team.

    If no members remain, the team is withdrawn. Captains must hand over their role first, unless they are the only
    member. When registration has closed, only members of a declined or withdrawn team can leave it.
    """
    if team.state in Team.ACTIVE and team.shared_task.teams_are_closed(call.at):
        raise TEAM_IS_FIXED()
    call.record()
    end_membership(call, team)


def end_membership(call: ActionCall, team: Team) -> None:
    """Remove the user from a locked team, even after registration has closed. If no members remain, withdraw the team.

    The caller writes the audit entry of `leave_team`.

    Raises:
        ActionError: HAND_OVER_FIRST, if the user is the captain but not the only member.
    """
    membership = team.memberships.get(user=call.user)
    is_last = not team.memberships.exclude(pk=membership.pk).exists()
    if membership.is_captain and not is_last:
        raise HAND_OVER_FIRST()
    membership.delete()
    if is_last and team.state in Team.ACTIVE:
        withdraw(call, team)
        withdraw_team.record(call.actor, team, call.at)


@action(who=CAPTAIN, says=_("made another member the captain"), errors=[NO_OTHER_MEMBER], locks=True)
def hand_over(call: ActionCall, team: Team, *, member: Membership) -> None:
    """Make another member the captain."""
    others = team.memberships.exclude(user=call.user)
    if not others.filter(pk=member.pk).update(is_captain=True):
        raise NO_OTHER_MEMBER()
    team.memberships.filter(user=call.user).update(is_captain=False)
    call.record(captain=member.user_id)


def _require_few_invitations(call: ActionCall, team: Team) -> None:
    a_day = timedelta(days=1)
    by_team = team.mails.filter(kind=OutgoingMail.Kind.INVITATION, queued_at__gt=call.at - a_day)
    by_person = AuditEntry.objects.filter(
        actor=call.user, shared_task=team.shared_task, verb=invite_by_mail.name, at__gt=call.at - a_day
    )
    sent = (by_team.values_list("queued_at", flat=True), by_person.values_list("at", flat=True))
    if seconds := max(until_fewer(times, INVITATIONS_A_DAY, a_day, call.at) for times in sent):
        raise TOO_MANY_INVITATIONS(limit=INVITATIONS_A_DAY, seconds=seconds)
