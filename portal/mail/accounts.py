"""allauth's emails in the portal's style and the recipient's language, and what the page says if sending fails."""

from typing import Any
from urllib.parse import urlencode

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.account.models import EmailConfirmation
from allauth.account.utils import get_next_redirect_url
from allauth.core import context as current
from django.contrib import messages
from django.contrib.auth import REDIRECT_FIELD_NAME
from django.core.mail import EmailMessage
from django.http import HttpRequest, HttpResponse
from django.utils.translation import get_language_from_request, override
from django.utils.translation import gettext as _

from portal.mail.messages import printed
from portal.mail.outbox import is_final
from portal.mail.texts.accounts import TEXTS, details_of
from portal.models import OutgoingMail, User
from portal.models.clock import database_now

log = structlog.get_logger("portal.mail")

SENT_TO = "confirmation_sent_to"  # key in the session: the address that a confirmation was last sent to


class AccountMails(DefaultAccountAdapter):
    """An adapter that sends emails immediately, because someone is waiting for them.

    If the mail server does not respond, the outbox keeps the email.
    """

    def get_email_confirmation_url(self, request: HttpRequest, emailconfirmation: EmailConfirmation) -> str:
        """Return the link for the email. It leads back to where the person signed up from, on any device."""
        link: str = super().get_email_confirmation_url(request, emailconfirmation)
        after = get_next_redirect_url(request)
        return f"{link}?{urlencode({REDIRECT_FIELD_NAME: after})}" if after else link

    def respond_email_verification_sent(self, request: HttpRequest, user: User | None) -> HttpResponse:
        """Show the page that names the address which the person has just entered, whether or not it has an account."""
        request.session[SENT_TO] = request.POST.get("email") or request.POST.get("login", "")
        response: HttpResponse = super().respond_email_verification_sent(request, user)
        return response

    def render_mail(
        self, template_prefix: str, email: str, context: dict[str, Any], headers: dict[str, str] | None = None
    ) -> EmailMessage:
        user = _reader(email, context)
        language = _language(user, context["request"])
        with override(language):
            content = TEXTS[_name(template_prefix)]({**context, "user": user})
            return printed(content, email, language, headers or {})

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send the email, or keep it for later. If it is not sent, a message on the page says why."""
        try:
            self.send_now(template_prefix, email, context)
        except OSError as error:
            if is_final(error):
                words = _(
                    "We couldn’t send the email because the mail server does not accept this address. Check the "
                    "address and try again."
                )
                messages.error(current.request, words)
            else:
                _keep(_name(template_prefix), email, context)
                words = _(
                    "The mail server is not responding right now. We’ll send your email as soon as possible. You don’t "
                    "need to request it again."
                )
                messages.warning(current.request, words)

    def send_now(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """Send an email immediately, without keeping it if that fails.

        Raises:
            OSError: the mail server rejects it or cannot be reached.
        """
        try:
            super().send_mail(template_prefix, email, context)
        except OSError as error:  # includes SMTPException
            log.error("account email not sent", kind=template_prefix, error=type(error).__name__)
            raise


def _keep(name: str, email: str, context: dict[str, Any]) -> None:
    """Add a row to the outbox, unless the same email is already waiting there."""
    user = _reader(email, context)
    details = details_of(name, context) | {"language": _language(user, current.request)}
    mail = OutgoingMail(kind=OutgoingMail.Kind.ACCOUNT, user=user, address=email, details=details)
    same = OutgoingMail.objects.filter(kind=mail.kind, address=email, details=details, state=OutgoingMail.State.QUEUED)
    if not same.exists():
        mail.queued_at = database_now()
        mail.save()


def _name(template_prefix: str) -> str:
    return template_prefix.rpartition("/")[2]


def _reader(email: str, context: dict[str, Any]) -> User | None:
    return context.get("user") or User.objects.filter(email__iexact=email).first()


def _language(user: User | None, request: Any) -> str:
    return user.language if user else get_language_from_request(request)
