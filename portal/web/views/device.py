"""Command-line sign-in (RFC 8628): its two endpoints, and the page on which a person allows access."""

from http import HTTPStatus
from typing import Any

from allauth.account.decorators import reauthentication_required
from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions.access_tokens import needs_second_factor
from portal.actions.base.errors import ActionError, LimitReached
from portal.actions.device_login import (
    DENIED,
    EXPIRED,
    PENDING,
    SLOW_DOWN,
    TOO_MANY_CODES,
    UNKNOWN_CODE,
    allow_device_login,
    deny_device_login,
    issue_device_token,
    start_device_login,
    waiting_login,
)
from portal.models import AccessToken, DeviceLogin
from portal.models.clock import database_now
from portal.models.device_login import digest
from portal.web.access import SignedInRequest, client_address
from portal.web.action_forms import ActionForm, action_field


class CodeForm(ActionForm):
    """A form for the code that the command line shows."""

    fields_of_errors = {TOO_MANY_CODES.code: "code"}

    code = action_field(
        allow_device_login, "code", help_text=gettext_lazy("Your terminal shows the code, for example BCDF-GHJK.")
    )


CLIENT = "agon"
GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_WAITING = (PENDING.code, SLOW_DOWN.code)  # the answers to polls while the person has not decided
_STANDARD = (*_WAITING, EXPIRED.code, DENIED.code)


@csrf_exempt
@require_POST
@never_cache
def device_code(request: HttpRequest) -> JsonResponse:
    """Start a command-line sign-in and return its two codes."""
    if request.POST.get("client_id") != CLIENT:
        return _error("invalid_client", _("Set client_id to agon."))
    at, login = database_now(), DeviceLogin(address=client_address(request))
    given: dict[str, Any] = {name: request.POST[name] for name in ("name", "scope", "task") if name in request.POST}
    try:
        login, text = start_device_login(AnonymousUser(), login, at, **given)
    except ActionError as error:
        return _error(
            "temporarily_unavailable" if isinstance(error, LimitReached) else "invalid_request", error.message
        )
    page = f"{settings.PUBLIC_URL}{reverse('device')}"
    return JsonResponse(
        {
            "device_code": text,
            "user_code": login.shown_code,
            "verification_uri": page,
            "verification_uri_complete": f"{page}?code={login.shown_code}",
            "expires_in": int((login.expires_at - at).total_seconds()),
            "interval": login.interval,
        }
    )


@csrf_exempt
@require_POST
@never_cache
def device_token(request: HttpRequest) -> JsonResponse:
    """Answer a poll with the token, or with the reason why there is none."""
    if request.POST.get("grant_type") != GRANT:
        return _error("unsupported_grant_type", _("Set grant_type to %(grant)s.") % {"grant": GRANT})
    login = DeviceLogin.objects.filter(sha256=digest(request.POST.get("device_code", ""))).first()
    if login is None or request.POST.get("client_id") != CLIENT:
        return _error("invalid_grant", _("This sign-in request does not exist or has expired. Run “agon login” again."))
    try:
        token, text = issue_device_token(AnonymousUser(), login, database_now())
    except ActionError as error:
        response = _error(error.code if error.code in _STANDARD else DENIED.code, error.message)
        if error.code in _WAITING:
            response._has_been_logged = True  # type: ignore[attr-defined]  # Django then logs no warning
        return response
    seconds = int((token.expires_at - token.created_at).total_seconds())
    return JsonResponse({"access_token": text, "token_type": "Bearer", "expires_in": seconds, "scope": token.scope})


def _error(code: str, description: str) -> JsonResponse:
    """Return an error in the format of RFC 6749."""
    return JsonResponse({"error": code, "error_description": description}, status=HTTPStatus.BAD_REQUEST)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
@reauthentication_required
@never_cache
def device(request: SignedInRequest) -> HttpResponse:
    """Ask for the code, show the requested access, and let the person allow or deny it."""
    given = request.POST if request.method == "POST" else request.GET
    form = CodeForm(given if "code" in given else None)
    context: dict[str, Any] = {"form": form}
    if request.method == "POST":
        return _decided(request, form)
    if form.carry_out(lambda given: waiting_login(request.user, given["code"], database_now())):
        context["login"] = login = form.result
        context["lacks_second_factor"] = login is not None and needs_second_factor(request.user, login.scope)
        if login is None:
            form.add_error("code", UNKNOWN_CODE().message)
        else:
            context["login_scope"] = AccessToken.Scope(login.scope).in_words
            context["task"] = task = login.task_for(request.user)
            context["lacks_task"] = bool(login.task) and task is None
    return render(request, "settings/device.html", context, status=form.status)


def _decided(request: SignedInRequest, form: CodeForm) -> HttpResponse:
    decide = allow_device_login if "allow" in request.POST else deny_device_login
    is_done = form.carry_out(lambda given: decide(request.user, request.user, database_now(), **given))
    context = {"form": form, "decided": is_done and ("allowed" if "allow" in request.POST else "denied")}
    return render(request, "settings/device.html", context, status=form.status)
