"""What teams say of their papers, for those who cite them; until the organizers close it."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid, NotAllowed
from portal.actions.organizing import require_organizer
from portal.actions.team_records import audit, locked
from portal.actions.texts import checked_field, checked_text
from portal.bibtex import BibtexError, read_entry
from portal.models import AuditEntry, SharedTask, Team, User
from portal.permissions import is_member

BIBTEX_LENGTH = 10_000  # characters


@transaction.atomic
def give_paper(user: User, team: Team, bibtex: str, link: str, at: datetime) -> Team:
    """Set, change or, with empty texts, remove the team's BibTeX entry and the link to its paper.

    Raises:
        NotAllowed: the user is no member.
        Conflict: the organizers have closed it.
        Invalid: it is no entry, or one that could do harm; or the link is no web address.
    """
    team = locked(team)
    if not is_member(user, team):
        raise NotAllowed("no_member", _("Only members of the team may do that."))
    if team.shared_task.papers_closed_at is not None:
        raise Conflict("papers_closed", _("The organizers have closed the list of papers. Write to them."))
    team.bibtex = _checked_entry(checked_text(bibtex, _("The BibTeX entry"), BIBTEX_LENGTH))
    team.paper = checked_field(link, Team._meta.get_field("paper"))
    try:
        team.clean_fields(exclude={field.name for field in Team._meta.fields} - {"paper"})
    except ValidationError:
        raise Invalid("link", _("The link is no web address, or longer than 300 characters.")) from None
    team.save(update_fields=["bibtex", "paper"])
    audit(user, team, "give_paper", at, bibtex=team.bibtex, link=team.paper)
    return team


@transaction.atomic
def close_papers(user: User, shared_task: SharedTask, is_closed: bool, at: datetime) -> None:
    """Let teams change what they say of their papers no more, or again.

    Raises:
        NotAllowed: the user does not organize the task.
    """
    require_organizer(user, shared_task)
    shared_task.papers_closed_at = at if is_closed else None
    shared_task.save(update_fields=["papers_closed_at"])
    AuditEntry.objects.create(
        actor=user,
        shared_task=shared_task,
        verb="close_papers" if is_closed else "open_papers",
        subject=f"shared task {shared_task.slug}",
        at=at,
    )


def _checked_entry(text: str) -> str:
    if not text.strip():
        return ""
    try:
        return read_entry(text).written()
    except BibtexError as error:
        raise Invalid("bibtex", " ".join(error.faults)) from None
