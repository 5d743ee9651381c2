"""The outbox. Each row is claimed, rendered, sent and recorded. Failures are retried with growing delays.

Several emails are sent over one connection to the mail server. If the connection is lost, the next email gets a new
one.

If a worker dies after sending an email and before recording it, the email is sent again when the lease ends. So an
email may arrive twice, but it is never lost. Both copies have the same Message-ID. If they contain a password, the one
in the later copy is valid.
"""

from collections.abc import Callable, Iterable
from contextlib import closing
from datetime import datetime, timedelta
from smtplib import SMTPDataError, SMTPRecipientsRefused, SMTPSenderRefused
from uuid import UUID

import structlog
from django.core.mail import get_connection
from django.core.mail.backends.base import BaseEmailBackend
from django.db.models import F
from django.utils.translation import override

from portal.mail.messages import message
from portal.models import MailFacts, OutgoingMail

log = structlog.get_logger("portal.mail")

ATTEMPTS = 197  # about two days; after that, the email is marked as failed
LEASE_SECONDS = 120  # more than any mail server or job may take
RETRY_SECONDS = 30  # delay after the first error; doubles each time
MOST_RETRY_SECONDS = 900  # longest delay
HINT_SECONDS = 20  # time until the sweep queues another message
BATCH = 500
MAILS_PER_CONNECTION = 20
SENDING_SECONDS = 15  # after this time, the remaining emails wait for the next message in the queue
_NOT_AUTHENTICATED = 530  # reply to any email if the portal must log in or use TLS first (RFC 4954, RFC 3207)

Clock = Callable[[], datetime]
FindFacts = Callable[[OutgoingMail, datetime], MailFacts | None]


def send(mail_ids: Iterable[UUID], now: Clock, find_facts: FindFacts) -> None:
    """Send these emails, except those that are not waiting or that another worker has claimed.

    If the mail server does not respond, stop, because every remaining email would wait for it, too.
    """
    stop_at = now() + timedelta(seconds=SENDING_SECONDS)
    with closing(get_connection()) as server:
        for mail_id in mail_ids:
            at = now()
            if at >= stop_at or not _send(mail_id, at, find_facts, server):
                break


def _send(mail_id: UUID, at: datetime, find_facts: FindFacts, server: BaseEmailBackend) -> bool:
    """Send an email, or cancel it if it is no longer due. Return False if the mail server does not respond."""
    waiting = OutgoingMail.objects.filter(pk=mail_id, state=OutgoingMail.State.QUEUED, attempts__lt=ATTEMPTS)
    token = waiting.claim(at, LEASE_SECONDS, attempts=F("attempts") + 1)
    if token is None:
        return True
    rows = OutgoingMail.objects.select_related("shared_task", "team__shared_task", "user", "phase", "submission__phase")
    mail = rows.get(pk=mail_id)
    try:
        with override(mail.language):
            facts = find_facts(mail, at)
            if facts is not None:
                server.open()
                server.send_messages([message(mail, facts, at)])
    except Exception as error:  # any error, in the mail server, the connection or this code
        is_ours = not isinstance(error, OSError)  # OSError includes SMTPException
        log.warning("email not sent", id=str(mail_id), attempt=mail.attempts, error=_name(error), exc_info=is_ours)
        _record_error(mail, token, error, at)
        server.close()
        return is_ours or bool(_codes(error))
    else:
        state, sent_at = (OutgoingMail.State.SENT, at) if facts is not None else (OutgoingMail.State.CANCELED, None)
        OutgoingMail.objects.held(mail, token).release(state=state, sent_at=sent_at, error="")
        return True


def due(at: datetime) -> list[UUID]:
    """Return waiting emails that have no message in the queue, oldest first, and mark them as queued.

    Emails whose worker died during the last attempt are marked as failed.
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
    """Return the mail server's reply codes for this email, or none if it would give the same reply to every email."""
    if isinstance(error, SMTPRecipientsRefused):
        return [code for code, _words in error.recipients.values()]
    if isinstance(error, SMTPDataError | SMTPSenderRefused) and error.smtp_code != _NOT_AUTHENTICATED:
        return [error.smtp_code]
    return []


def _name(error: Exception) -> str:
    return " ".join([type(error).__name__, *map(str, _codes(error))])
