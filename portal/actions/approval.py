"""Organizers' decisions about teams: approving, declining and excluding them."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.roles import ORGANIZERS
from portal.actions.team_mails import captain_of, queue_mail
from portal.models import Board, OutgoingMail, Team

DECIDED = Conflict.declare("team_state", _("%(team)s can’t be approved or declined in its current state (%(state)s)."))


@action(who=ORGANIZERS, says=_("approved the team"), errors=[DECIDED], locks=True)
def approve_team(call: ActionCall, team: Team) -> None:
    """Approve a team. The captain gets an email, with the data password if the task has one."""
    _require_state(team, Team.State.PENDING, Team.State.DECLINED)
    _decide(call, team, Team.State.APPROVED, "", OutgoingMail.Kind.TEAM_APPROVED)
    call.record()


@action(who=ORGANIZERS, says=_("declined the team"), errors=[DECIDED], locks=True)
def decline_team(
    call: ActionCall, team: Team, *, reason: Annotated[str, Field(min_length=1, max_length=2000, title="Reason")]
) -> None:
    """Decline a team, or exclude an approved one. The captain gets an email with the reason.

    The team's runs are removed from all boards that are not released yet. Released boards keep them.
    """
    _require_state(team, *Team.ACTIVE)
    _decide(call, team, Team.State.DECLINED, reason, OutgoingMail.Kind.TEAM_DECLINED)
    call.record(reason=reason)


def _require_state(team: Team, *states: Team.State) -> None:
    if team.state not in states:
        raise DECIDED(team=team.name, state=Team.State(team.state))


def _decide(call: ActionCall, team: Team, state: Team.State, reason: str, mail: OutgoingMail.Kind) -> None:
    team.state, team.reason, team.decided_at = state, reason, call.at
    team.data_password, team.data_password_at = "", None
    team.save(update_fields=["state", "reason", "decided_at", "data_password", "data_password_at"])
    Board.objects.filter(track__shared_task=team.shared_task).changed()
    captain = captain_of(team)
    if captain is not None:
        queue_mail(team, mail, captain, call.at, reason=reason)
