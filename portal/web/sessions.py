"""Sessions in the database, which end after inactivity, and whose pages no one stores."""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.contrib import messages
from django.contrib.auth import SESSION_KEY, logout
from django.contrib.auth.signals import user_logged_in
from django.contrib.sessions.backends.base import UpdateError
from django.contrib.sessions.backends.db import SessionStore
from django.dispatch import receiver
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _

from portal.models import User
from portal.web.middleware import is_outage

__all__ = ["LIFETIME", "LIFETIME_WITH_RIGHTS", "SessionStore", "limited"]  # SESSION_ENGINE names this module

LIFETIME = timedelta(days=14)  # as SESSION_COOKIE_AGE, Django's default
LIFETIME_WITH_RIGHTS = timedelta(hours=12)  # of organizers and administrators
_STEP = timedelta(minutes=10)  # a session's last use is recorded with this accuracy, to save writes
_LAST_USE = "last_use"  # key in the session: seconds since 1970


def limited(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """End sessions after inactivity, and forbid browsers and proxies to store what a signed-in person sees."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if SESSION_KEY in request.session:
            _end_or_renew(request, timezone.now())
        was_signed_in = SESSION_KEY in request.session
        response = get_response(request)
        if was_signed_in or SESSION_KEY in request.session:
            response["Cache-Control"] = "private, no-store"
        return response

    return middleware


def _end_or_renew(request: HttpRequest, now: datetime) -> None:
    """End the session if it was unused for too long. Otherwise, record this use, if none was recorded recently.

    The rights are read at this time, so they also shorten sessions that began before a person got them.
    """
    last_use = request.session.get(_LAST_USE)
    unused = timedelta(seconds=now.timestamp() - last_use) if last_use else None
    if unused is not None and unused < _STEP:
        return
    if unused is not None and unused >= _lifetime(request.user):
        logout(request)
        messages.info(request, _("You were signed out because you were inactive. Sign in again."))
        return
    _record_use(request, now)
    try:
        request.session.save()
    except UpdateError as error:
        if not isinstance(error.__context__, Exception) or not is_outage(error.__context__):
            logout(request)  # the session was ended during this request
        request.session.modified = False  # pages can be read while nothing can be saved


@receiver(user_logged_in)
def _begin(request: HttpRequest, **_others: object) -> None:
    """Record the first use, so that the first request writes nothing. Django imports this module for each login."""
    _record_use(request, timezone.now())


def _record_use(request: HttpRequest, now: datetime) -> None:
    request.session[_LAST_USE] = int(now.timestamp())


def _lifetime(user: object) -> timedelta:
    assert isinstance(user, User)
    has_rights = user.is_staff or user.is_superuser or user.organized_tasks.exists()
    return LIFETIME_WITH_RIGHTS if has_rights else LIFETIME
