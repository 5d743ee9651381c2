"""Limits on incorrect passwords."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from allauth.core import context
from allauth.core.internal import ratelimit
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext_lazy as _

from portal.mail.accounts import AccountMails

_RULE = {"app": "allauth.account", "action": "login_failed_account"}


class SignIn(AccountMails):
    """Limits on guesses at an account's password: few from one IP address, more from all combined.

    This way, strangers cannot easily lock someone out. The rates are in `ACCOUNT_RATE_LIMITS`. Only failures count.
    """

    error_messages = AccountMails.error_messages | {
        "email_password_mismatch": _("Incorrect email address or password."),
        "enter_current_password": _("Incorrect current password."),
    }

    def _get_login_attempts_cache_key(self, request: HttpRequest, **credentials: Any) -> str:
        return f"{_account(credentials)} {ratelimit.get_ip(request)}"

    def pre_authenticate(self, request: HttpRequest, **credentials: Any) -> None:
        """Reject the attempt after too many incorrect guesses. Count it, unless it turns out to succeed."""
        super().pre_authenticate(request, **credentials)
        self._usage_of_account = ratelimit.consume(request, key=_account(credentials), **_RULE)
        if not self._usage_of_account:
            raise self.validation_error("too_many_login_attempts")

    def validation_error(self, code: str, *args: Any) -> ValidationError:
        """Return allauth's error. After too many attempts, also set status 429."""
        if code == "too_many_login_attempts":
            context.request.too_many_attempts = True
        error: ValidationError = super().validation_error(code, *args)
        return error

    def _rollback_login_failed_rl_usage(self) -> None:
        super()._rollback_login_failed_rl_usage()
        if self._usage_of_account:
            self._usage_of_account.rollback()

    def _delete_login_attempts_cached_email(self, request: HttpRequest, **credentials: Any) -> None:
        super()._delete_login_attempts_cached_email(request, **credentials)
        ratelimit.clear(request, key=_account(credentials), **_RULE)


def limits(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Set status 429 on password and code forms that allauth shows again with 200 after too many attempts."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        if getattr(request, "too_many_attempts", False) and response.status_code == HTTPStatus.OK:
            response.status_code = HTTPStatus.TOO_MANY_REQUESTS
        return response

    return middleware


def _account(credentials: dict[str, Any]) -> str:
    return str(credentials.get("email", "")).lower()
