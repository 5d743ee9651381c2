"""Notes about a team that only the task's organizers see."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.input import column
from portal.actions.base.roles import ORGANIZERS
from portal.models import Team, TeamNote


@action(who=ORGANIZERS, says=_("wrote a note about the team"))
def add_note(
    call: ActionCall, team: Team, *, text: Annotated[str, column(TeamNote, "text", required=True)]
) -> TeamNote:
    """Keep a note about a team. Only organizers of the task see it. It can be deleted, but not changed."""
    note = TeamNote.objects.create(team=team, text=text, by=call.user, at=call.at)
    call.record()
    return note


@action(who=ORGANIZERS, says=_("deleted a note about the team"))
def delete_note(call: ActionCall, note: TeamNote) -> None:
    """Delete a note about a team."""
    call.record()
    note.delete()
