"""allauth's mails in our look and in their reader's language, and what a page says when one cannot be sent."""

from smtplib import SMTPException
from typing import Any

import structlog
from allauth.account.adapter import DefaultAccountAdapter
from allauth.core import context as current
from django.contrib import messages
from django.core.mail import EmailMessage
from django.utils.translation import get_language_from_request, override
from django.utils.translation import gettext as _

from portal.mail.letters.accounts import LETTERS
from portal.mail.messages import printed
from portal.models import User

log = structlog.get_logger("portal.mail")


class AccountMails(DefaultAccountAdapter):
    """Sends at once and not by the outbox: these mails hold keys that no row may hold, and somebody waits for them."""

    def render_mail(
        self, template_prefix: str, email: str, context: dict[str, Any], headers: dict[str, str] | None = None
    ) -> EmailMessage:
        user = context.get("user") or User.objects.filter(email__iexact=email).first()
        language = user.language if user else get_language_from_request(context["request"])
        with override(language):
            letter = LETTERS[template_prefix.rpartition("/")[2]]({**context, "user": user})
            return printed(letter, email, language, headers or {})

    def send_mail(self, template_prefix: str, email: str, context: dict[str, Any]) -> None:
        """A mail server that is down is no reason for a page of error: the person can ask for the mail again."""
        try:
            super().send_mail(template_prefix, email, context)
        except (OSError, SMTPException) as error:
            log.error("account mail not sent", kind=template_prefix, error=type(error).__name__)
            messages.error(current.request, _("The mail could not be sent just now. Ask for it again in some minutes."))
