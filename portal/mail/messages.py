"""Render emails in the active language, as messages with plain text and HTML."""

from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from portal.mail import unsubscribe
from portal.mail.content import MailContent
from portal.mail.texts import TEXTS
from portal.models import MailFacts, OutgoingMail


def message(mail: OutgoingMail, facts: MailFacts, at: datetime) -> EmailMultiAlternatives:
    """Return the message for an outbox row.

    If the email contains a password, this creates the password and stores its hash.

    An email that is sent twice has the same Message-ID both times, so that mail programs can show it only once.
    """
    stop = unsubscribe.address(mail.user, mail.wish) if mail.user and mail.wish else ""
    headers = {"Message-ID": f"<{mail.pk}@{urlsplit(settings.PUBLIC_URL).hostname}>"}
    if stop:
        headers |= {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    return printed(TEXTS[mail.kind](mail, facts, at), mail.address, mail.language, headers, stop)


def printed(
    content: MailContent, address: str, language: str, headers: dict[str, str], stop: str = ""
) -> EmailMultiAlternatives:
    """Return the email as a message. `stop` is the link to unsubscribe, if there is one."""
    context = {"content": content, "language": language, "stop": stop, "portal": settings.PUBLIC_URL}
    message = EmailMultiAlternatives(
        subject=" ".join(content.subject.split()),  # a subject is a single line, but a name may contain line breaks
        body=render_to_string("mail/mail.txt", context),
        to=[address],
        headers={"Auto-Submitted": "auto-generated", **headers},
    )
    message.attach_alternative(render_to_string("mail/mail.html", context), "text/html")
    if content.attachment is not None:
        message.attach(*content.attachment, "application/json")
    return message
