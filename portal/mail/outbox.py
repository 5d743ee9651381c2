"""The outbox: each row is claimed, rendered, sent and recorded. After a failure it is sent again, with growing delays.

If a worker dies after sending and before recording, the email is sent again when the lease ends. So an email may arrive
twice but is never lost. Both copies have the same Message-ID. If they contain a password, the later one is valid.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused
from uuid import UUID

import structlog
from django.db.models import F
from django.utils.translation import override

from portal.mail.messages import message
from portal.models import MailFacts, OutgoingMail

log = structlog.get_logger("portal.mail")

ATTEMPTS = 197  # these take two days; then the email is given up
LEASE_SECONDS = 120  # longer than any mail server or job may take
RETRY_SECONDS = 30  # after the first error; doubled each time
MOST_RETRY_SECONDS = 900  # longest wait for a server that works again
HINT_SECONDS = 20  # time until the sweep queues another hint
BATCH = 500

FindFacts = Callable[[OutgoingMail, datetime], MailFacts | None]


def send(mail_id: UUID, at: datetime, find_facts: FindFacts) -> None:
    """Send the email unless it was sent, given up or claimed by another worker. If it has no facts, it is canceled."""
    waiting = OutgoingMail.objects.filter(pk=mail_id, state=OutgoingMail.State.QUEUED, attempts__lt=ATTEMPTS)
    token = waiting.claim(at, LEASE_SECONDS, attempts=F("attempts") + 1)
    if token is None:
        return
    rows = OutgoingMail.objects.select_related("shared_task", "team__shared_task", "user", "phase", "submission__phase")
    mail = rows.get(pk=mail_id)
    try:
        with override(mail.language):
            facts = find_facts(mail, at)
            if facts is not None:
                message(mail, facts, at).send()
    except Exception as error:  # any error of the mail server or the connection
        is_ours = not isinstance(error, OSError)  # includes SMTPException
        log.warning("mail not sent", id=str(mail_id), attempt=mail.attempts, error=_name(error), exc_info=is_ours)
        _record_error(mail, token, error, at)
    else:
        state, sent_at = (OutgoingMail.State.SENT, at) if facts is not None else (OutgoingMail.State.CANCELED, None)
        OutgoingMail.objects.held(mail, token).release(state=state, sent_at=sent_at, error="")


def due(at: datetime) -> list[UUID]:
    """Return waiting emails without a hint in the queue, oldest first, and mark them as hinted.

    An email whose worker died during the last attempt is given up.
    """
    waiting = OutgoingMail.objects.due(at).filter(state=OutgoingMail.State.QUEUED)
    waiting.filter(attempts__gte=ATTEMPTS).release(at, state=OutgoingMail.State.FAILED)
    return waiting.order_by("queued_at").hint(at, HINT_SECONDS, BATCH)


def is_final(error: Exception) -> bool:
    """Return whether the mail server will never accept this email (5xx).

    A 4xx reply or a lost connection may be temporary.
    """
    codes = _codes(error)
    return bool(codes) and min(codes) >= 500


def _record_error(mail: OutgoingMail, token: UUID, error: Exception, at: datetime) -> None:
    is_last = mail.attempts >= ATTEMPTS or is_final(error)
    state = OutgoingMail.State.FAILED if is_last else OutgoingMail.State.QUEUED
    pause = min(RETRY_SECONDS * 2 ** (mail.attempts - 1), MOST_RETRY_SECONDS)
    later = at + timedelta(seconds=pause)
    OutgoingMail.objects.held(mail, token).release(later, state=state, error=_name(error))


def _codes(error: Exception) -> list[int]:
    """Return the mail server's reply codes for this email."""
    if isinstance(error, SMTPRecipientsRefused):
        return [code for code, _words in error.recipients.values()]
    return [error.smtp_code] if isinstance(error, SMTPDataError) else []


def _name(error: Exception) -> str:
    return " ".join([type(error).__name__, *map(str, _codes(error))])
