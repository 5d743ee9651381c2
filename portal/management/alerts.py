"""Emails to administrators from commands. They need neither the broker nor a worker, and if necessary no database."""

import time
from collections.abc import Sequence
from contextlib import suppress
from smtplib import SMTPException

import structlog
from django.conf import settings
from django.core.mail import send_mail
from django.db import DatabaseError

from portal.evaluation.notices import alert
from portal.mail import outbox
from portal.models import OutgoingMail
from portal.models.clock import database_now
from portal.queries.mails import facts

AGAIN_HOURS = 6  # between emails that could not be recorded in the database
_LONGEST = 120  # characters of an email's occasion

log = structlog.get_logger("portal.mail")


def send_alert(about: str, lines: Sequence[str]) -> None:
    """Email every administrator, at most once a day about the same thing.

    If the mail server does not respond, the mail worker tries again later. If the database does not respond either, the
    email goes to the addresses in AGON_ALERTS_TO, because those of administrators are not known.
    """
    try:
        at = database_now()
        alert(None, f"{about} {at:%Y-%m-%d}"[:_LONGEST], lines, at)
        waiting = OutgoingMail.objects.filter(kind=OutgoingMail.Kind.ALERT, state=OutgoingMail.State.QUEUED)
        outbox.send(list(waiting.values_list("pk", flat=True)), database_now, facts)
    except DatabaseError as error:
        log.error("alert not recorded", about=about, error=type(error).__name__)
        _send_without_database(lines)


def _send_without_database(lines: Sequence[str]) -> None:
    sent = settings.CACHE_ROOT / "alerted-without-database"
    with suppress(FileNotFoundError):
        if time.time() - sent.stat().st_mtime < AGAIN_HOURS * 3600:
            return
    text = "\n\n".join(
        [f"The database of {settings.PUBLIC_URL} does not respond, so Agon can't accept uploads.", *lines]
    )
    try:
        send_mail("Agon: the database does not respond", text, None, settings.ALERTS_TO)
    except (OSError, SMTPException) as error:
        log.error("alert not sent", error=type(error).__name__)
    else:
        sent.touch()
