"""Teams' papers: a BibTeX entry and a link, which teams can change until the organizers close the list."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import column, passes
from portal.actions.base.roles import MEMBERS, ORGANIZERS
from portal.bibtex import BibtexError, read_entry
from portal.models import SharedTask, Team
from portal.models.team import web_address

PAPERS_CLOSED = Conflict.declare(
    "papers_closed", _("The organizers have closed the paper list. Contact the organizers to change your reference.")
)
BIBTEX = Invalid.declare("bibtex", "%(problems)s")


@action(name="give_paper", who=MEMBERS, says=_("added the team’s paper"), errors=[PAPERS_CLOSED, BIBTEX], locks=True)
def set_paper(
    call: ActionCall,
    team: Team,
    *,
    bibtex: Annotated[str, Field(max_length=5_000, title="BibTeX entry")] = "",
    link: Annotated[str, column(Team, "paper"), passes(web_address)] = "",
) -> Team:
    """Set the team's BibTeX entry and the link to its paper. An empty string removes the value."""
    if team.shared_task.papers_closed_at is not None:
        raise PAPERS_CLOSED()
    team.bibtex, team.paper = _checked_entry(bibtex), link
    team.save(update_fields=["bibtex", "paper"])
    call.record(bibtex=team.bibtex, link=team.paper)
    return team


@action(who=ORGANIZERS, says=_("closed the paper list"), repeatable=True)
def close_papers(call: ActionCall, shared_task: SharedTask) -> None:
    """Stop teams from changing their papers."""
    is_open = SharedTask.objects.filter(pk=shared_task.pk, papers_closed_at=None)
    if is_open.update(papers_closed_at=call.at):
        call.record()


@action(who=ORGANIZERS, says=_("reopened the paper list"), repeatable=True)
def open_papers(call: ActionCall, shared_task: SharedTask) -> None:
    """Let teams change their papers again."""
    is_closed = SharedTask.objects.filter(pk=shared_task.pk, papers_closed_at__isnull=False)
    if is_closed.update(papers_closed_at=None):
        call.record()


def _checked_entry(text: str) -> str:
    try:
        return read_entry(text).written() if text else ""
    except BibtexError as error:
        raise BIBTEX(problems=" ".join(error.errors)) from None
