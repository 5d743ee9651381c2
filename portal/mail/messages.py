"""Rendering emails in the active language, as messages with plain text and HTML."""

from datetime import datetime
from urllib.parse import urlsplit

from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.template.loader import render_to_string

from portal.mail import unsubscribe
from portal.mail.letter import Letter
from portal.mail.letters import LETTERS
from portal.models import MailFacts, OutgoingMail


def message(mail: OutgoingMail, facts: MailFacts, at: datetime) -> EmailMultiAlternatives:
    """Return the message for an outbox row.

    If it contains a password, the password is created here and its hash stored.

    An email that is sent twice has the same Message-ID, so mail programs may show it only once.
    """
    stop = unsubscribe.address(mail.user, mail.wish) if mail.user and mail.wish else ""
    headers = {"Message-ID": f"<{mail.pk}@{urlsplit(settings.PUBLIC_URL).hostname}>"}
    if stop:
        headers |= {"List-Unsubscribe": f"<{stop}>", "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"}
    return printed(LETTERS[mail.kind](mail, facts, at), mail.address, mail.language, headers, stop)


def printed(
    letter: Letter, address: str, language: str, headers: dict[str, str], stop: str = ""
) -> EmailMultiAlternatives:
    """Return the email as a message. `stop` is the link to unsubscribe, if there is one."""
    context = {"letter": letter, "language": language, "stop": stop, "portal": settings.PUBLIC_URL}
    message = EmailMultiAlternatives(
        subject=" ".join(letter.subject.split()),  # a subject is a single line, even if a name contains line breaks
        body=render_to_string("mail/letter.txt", context),
        to=[address],
        headers={"Auto-Submitted": "auto-generated", **headers},
    )
    message.attach_alternative(render_to_string("mail/letter.html", context), "text/html")
    if letter.attachment is not None:
        message.attach(*letter.attachment, "application/json")
    return message
