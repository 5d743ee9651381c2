"""Emails with a message from organizers to teams. The organizers' text is not translated."""

from datetime import datetime

from django.utils.translation import gettext as _

from portal.mail.content import Block, MailContent, button, names_of, page
from portal.models import MailFacts, OutgoingMail


def message(mail: OutgoingMail, found: MailFacts, at: datetime) -> MailContent:
    """Send the message. Without a team, it is a test for the organizer who wrote it."""
    assert found.message is not None
    names = names_of(mail)
    if mail.team is None:
        why = _("You received this email because you are an organizer of %(task)s on Agon.") % names
    else:
        why = _("You received this email because you are a member of the team %(team)s in %(task)s on Agon.") % names
    return MailContent(
        subject=f"{names['task']}: {found.message.subject}",
        blocks=[
            Block("markdown", found.message.text, html=found.message.html),
            button(_("Open team page"), page("team", mail.shared_task.slug)),
        ],
        why=why,
    )
