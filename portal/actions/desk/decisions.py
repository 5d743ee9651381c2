"""Approving or declining all selected teams that are waiting."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.approval import DECIDED, approve_team, decline_team
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import ActionError, Conflict
from portal.actions.base.roles import ORGANIZERS
from portal.models import SharedTask, Team
from portal.queries.desk.team_filter import TeamFilter, selected_teams

SELECTION_CHANGED = Conflict.declare(
    "selection_changed",
    _("The number of selected teams has changed from %(seen)d to %(now)d. Review the list, then confirm again."),
)

Seen = Annotated[int, Field(ge=0, title="Number of teams shown")]


@action(who=ORGANIZERS, says=_("approved all selected teams"), errors=[SELECTION_CHANGED], atomic=False)
def approve_teams(call: ActionCall, shared_task: SharedTask, *, wanted: TeamFilter, seen: Seen) -> list[str]:
    """Approve all selected teams that are waiting, and return their names. Each captain gets an email.

    `seen` is the number of these teams when the list was shown. If it has changed, nothing happens.
    """
    names = []
    for team in _waiting(call, shared_task, wanted, seen):
        try:
            approve_team(call.viewer, team, call.at)
        except ActionError as error:
            _require_decided(error)
        else:
            names.append(team.name)
    call.record(teams=names)
    return names


@action(who=ORGANIZERS, says=_("declined all selected teams"), errors=[SELECTION_CHANGED], atomic=False)
def decline_teams(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    wanted: TeamFilter,
    seen: Seen,
    reason: Annotated[str, Field(min_length=1, max_length=2000, title="Reason")],
) -> list[str]:
    """Decline all selected teams that are waiting, and return their names. Each captain gets an email with the reason.

    `seen` is the number of these teams when the list was shown. If it has changed, nothing happens.
    """
    names = []
    for team in _waiting(call, shared_task, wanted, seen):
        try:
            decline_team(call.viewer, team, call.at, reason=reason)
        except ActionError as error:
            _require_decided(error)
        else:
            names.append(team.name)
    call.record(teams=names, reason=reason)
    return names


def _waiting(call: ActionCall, shared_task: SharedTask, wanted: TeamFilter, seen: int) -> list[Team]:
    found = list(selected_teams(shared_task, wanted, call.at).filter(state=Team.State.PENDING))
    if len(found) != seen:
        raise SELECTION_CHANGED(seen=seen, now=len(found))
    return found


def _require_decided(error: ActionError) -> None:
    """Pass over a team that someone else has decided on in the meantime, or that no longer exists."""
    if error.code not in (DECIDED.code, "gone"):
        raise error
