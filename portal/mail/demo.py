"""The demo's mail backend.

It writes each message to a file for mail programs and to an HTML page, and logs the page and the first link.
"""

import re
from collections.abc import Sequence
from email.utils import format_datetime
from pathlib import Path
from uuid import uuid4

import structlog
from django.conf import settings
from django.core.mail import EmailMultiAlternatives
from django.core.mail.backends.base import BaseEmailBackend
from django.core.mail.message import EmailMessage
from django.utils.text import slugify
from django.utils.timezone import now

log = structlog.get_logger("portal.mail")

_LINK = re.compile(r"https?://\S+")


class EmailBackend(BaseEmailBackend):
    """A backend that sends nothing. People read the files, or follow the link in the log."""

    def send_messages(self, email_messages: Sequence[EmailMessage]) -> int:
        folder = Path(settings.MAIL_ROOT)
        folder.mkdir(parents=True, exist_ok=True)
        for message in email_messages:
            moment = now()
            message.extra_headers.setdefault("Date", format_datetime(moment))
            subject = slugify(message.subject.replace(".", "-"))[:60]
            name = f"{moment:%Y%m%d-%H%M%S}_{message.to[0]}_{subject}_{uuid4().hex[:4]}"
            for html in _pages(message):
                (folder / f"{name}.html").write_text(html, encoding="utf-8")
            (folder / f"{name}.eml").write_bytes(message.message().as_bytes())
            links = _LINK.findall(str(message.body))
            log.info("mail", to=message.to[0], subject=message.subject, link=next(iter(links), ""), file=f"{name}.html")
        return len(email_messages)


def _pages(message: EmailMessage) -> list[str]:
    alternatives = message.alternatives if isinstance(message, EmailMultiAlternatives) else []
    return [str(content) for content, kind in alternatives if kind == "text/html"]
