"""Emailed codes for people who change how they sign in while their account has only a password.

Someone who has stolen the password cannot read the email. A code works once, within 15 minutes, in the session that
requested it. After it is entered, that session can open pages with `mail_code_required` for 15 minutes. The session
stores only digests, which are bound to the person and the address. `ACCOUNT_RATE_LIMITS` limits how many codes are sent
and how often people can guess.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import wraps
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.models import EmailAddress
from allauth.core.internal import ratelimit
from allauth.core.internal.cryptokit import normalize_user_code
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.crypto import constant_time_compare, salted_hmac

from portal.models import User
from portal.models.clock import database_now
from portal.web.access import SignedInRequest

View = Callable[..., HttpResponseBase]

LIFETIME = timedelta(minutes=15)
_PENDING, _CONFIRMED = "mail_code", "confirmed_by_mail"  # keys in the session


def mail_code_required(needs: Callable[[User], bool]) -> Callable[[View], View]:
    """Redirect signed-in users for whom `needs` is true to the page that asks for the code, and then back."""

    def decorator(view: View) -> View:
        @wraps(view)
        def guarded(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            user = request.user
            if user.is_authenticated and needs(user) and not is_confirmed(request, database_now()):  # type: ignore[arg-type]
                return redirect(reverse("mail_code", query={"next": request.path}))
            return view(request, *args, **kwargs)

        return guarded

    return decorator


def confirmed_address(user: User) -> str | None:
    """Return the address that codes are sent to: the primary address, or None if it is not verified."""
    found = EmailAddress.objects.filter(user=user, verified=True, primary=True).first()
    return None if found is None else str(found.email)


def is_confirmed(request: SignedInRequest, at: datetime) -> bool:
    """Return whether a code has been entered in this session and is still valid.

    It must have been entered within the last 15 minutes, and the address must not have changed since.
    """
    return _kept(request, _CONFIRMED, at) == _digest(request.user)


def is_pending(request: SignedInRequest, at: datetime) -> bool:
    """Return whether this session has a code that has not been used or replaced and has not expired."""
    return bool(_kept(request, _PENDING, at))


def send_code(request: SignedInRequest, address: str, at: datetime) -> bool:
    """Email a new code, which replaces the previous one. Return False if too many have been sent.

    Raises:
        OSError: the mail server did not accept the email. The previous code still works.
    """
    if not ratelimit.consume(request, app="allauth.account", action="mail_code", limit_get=True):
        return False
    code = get_adapter().generate_email_verification_code()
    get_adapter().send_now("account/email/mail_code", address, {"user": request.user, "code": code})
    _keep(request, _PENDING, _digest(request.user, code), at)
    return True


def may_guess(request: SignedInRequest, at: datetime) -> bool:
    """Count a guess at the pending code. After too many, invalidate the code and return False.

    Guesses are not counted in the session, because simultaneous guesses would all read the same count.
    """
    key = _kept(request, _PENDING, at)
    is_allowed = bool(ratelimit.consume(request, app="allauth.account", action="mail_code_guess", key=key))
    if not is_allowed:
        del request.session[_PENDING]
    return is_allowed


def enter_code(request: SignedInRequest, code: str, at: datetime) -> bool:
    """Return whether `code` is the pending code. If so, it is used up, and the session is confirmed."""
    if not constant_time_compare(_kept(request, _PENDING, at), _digest(request.user, code)):
        return False
    del request.session[_PENDING]
    _keep(request, _CONFIRMED, _digest(request.user), at)
    return True


def _keep(request: HttpRequest, key: str, digest: str, at: datetime) -> None:
    request.session[key] = {"digest": digest, "until": (at + LIFETIME).isoformat()}


def _kept(request: HttpRequest, key: str, at: datetime) -> str:
    """Return the stored digest, or an empty string if there is none or it has expired."""
    kept = request.session.get(key)
    return kept["digest"] if kept and at < datetime.fromisoformat(kept["until"]) else ""


def _digest(user: User, code: str = "") -> str:
    """Return the digest of a code or, if it is empty, of a confirmation."""
    parts = (str(user.pk), confirmed_address(user) or "", normalize_user_code(code))
    return salted_hmac("portal.web.mail_codes", "\n".join(parts), algorithm="sha256").hexdigest()
