"""Processing common to all API requests: tokens, rate limits, and response headers."""

import logging
from collections.abc import Callable
from datetime import datetime
from functools import wraps
from hashlib import sha256
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.exceptions import BadRequest, RequestDataTooBig, SuspiciousOperation
from django.core.signals import got_request_exception
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.http.multipartparser import MultiPartParserError
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.http import quote_etag
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt

from portal import __version__
from portal.actions.base.errors import ActionError
from portal.actions.base.roles import SIGNED_OUT
from portal.api import problems, rates
from portal.models import AccessToken, User, Viewer
from portal.models.clock import database_now
from portal.permissions import Obstacle
from portal.web.access import client_address
from portal.web.middleware import RETRY_SECONDS, has_nul, is_outage

View = Callable[..., HttpResponseBase]

_log = logging.getLogger("django.request")
_SAFE = ("GET", "HEAD", "OPTIONS")


class ApiRequest(HttpRequest):
    """An API request. `user` is the token's owner. The session is never used."""

    user: Viewer
    at: datetime
    target: Any  # the object in an action's URL; set when the role is checked
    next_page: str  # URL of the list's next page
    location: str  # path of the created object


def guarded(view: View) -> View:
    """Wrap an API view. Cookies are ignored, so that other websites cannot act on behalf of a visitor."""

    @csrf_exempt
    @wraps(view)
    def answer(request: HttpRequest, *args: Any, **arguments: Any) -> HttpResponseBase:
        usage = None
        try:
            request.at = database_now()  # type: ignore[attr-defined]
            usage = _enter(request)
            if usage.is_over:
                raise problems.TOO_MANY_REQUESTS(limit=usage.limit, seconds=usage.seconds)
            if request.method not in _SAFE and not request.user.is_authenticated:
                raise problems.NO_TOKEN()  # raised before the body is read
            response = view(request, *args, **arguments)
        except Exception as error:  # the API reports all errors as JSON, even unexpected ones
            response = answer_to(error, request)
        return _finished(request, response, usage)

    return answer


def no_nul(get_response: Callable[[HttpRequest], HttpResponseBase]) -> Callable[[HttpRequest], HttpResponseBase]:
    """Reject NUL characters with a JSON error.

    This is middleware because it must run before cached boards are served.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path_info.startswith("/api/v1/") and has_nul(request):
            expected = _("The URL contains a null character (%00).")
            return problems.problem_response(problems.NOT_READABLE(expected=expected))
        return get_response(request)

    return middleware


def answer_to(error: Exception, request: HttpRequest) -> HttpResponse:
    """Return the response for an exception. An unknown exception is logged and reported as an internal error."""
    match error:
        case ActionError(code=SIGNED_OUT.code | Obstacle.SIGNED_OUT) if not request.user.is_authenticated:
            return problems.problem_response(problems.NO_TOKEN())
        case ActionError():
            return problems.problem_response(error)
        case Http404():
            return problems.problem_response(problems.NOT_FOUND())
        case RequestDataTooBig():
            return problems.problem_response(problems.BODY_TOO_LARGE(limit=settings.DATA_UPLOAD_MAX_MEMORY_SIZE))
        case BadRequest() | SuspiciousOperation() | MultiPartParserError():
            return problems.problem_response(problems.NOT_READABLE(expected=""))
    if is_outage(error):
        return problems.problem_response(problems.UNAVAILABLE(seconds=RETRY_SECONDS))
    got_request_exception.send(sender=None, request=request)
    _log.error("Internal Server Error: %s", request.path, exc_info=error, extra={"status_code": 500})
    return problems.problem_response(problems.SERVER_ERROR())


def _enter(request: HttpRequest) -> rates.Usage:
    """Set the request's user and count the request."""
    request.user = AnonymousUser()
    at: datetime = request.at  # type: ignore[attr-defined]
    address = client_address(request) or ""
    text = request.headers.get("Authorization", "")
    if not text:
        return rates.count(f"address:{address}", rates.REQUESTS, at.timestamp())
    scheme, _space, given = text.partition(" ")
    token = AccessToken.objects.find(given.strip(), at) if scheme.lower() == "bearer" else None
    if token is None:
        wrong = rates.count(f"wrong:{address}", rates.WRONG_TOKENS, at.timestamp())
        if wrong.is_over:
            raise problems.TOO_MANY_REQUESTS(limit=wrong.limit, seconds=wrong.seconds)
        raise problems.BAD_TOKEN()
    _note_use(token, at)
    user: User = token.user
    user.token = token
    request.user = user
    return rates.count(f"token:{token.pk}", rates.REQUESTS, at.timestamp())


def _note_use(token: AccessToken, at: datetime) -> None:
    """Record when the token was used. If the database is read-only, skip this, so that reading still works."""
    try:
        token.used(at)
    except DatabaseError as error:
        if not is_outage(error):
            raise


def _finished(request: HttpRequest, response: HttpResponseBase, usage: rates.Usage | None) -> HttpResponseBase:
    """Add the headers that every response has. Answer with status 304 if the client already has the content."""
    if response.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = response["Allow"]
        response = problems.problem_response(problems.WRONG_METHOD(allowed=allowed), Allow=allowed)
    for name, value in (usage.headers if usage else {}).items():
        response[name] = value
    if next_page := getattr(request, "next_page", ""):
        response["Link"] = f'<{next_page}>; rel="next"'
    if location := getattr(request, "location", ""):
        response["Location"] = f"{settings.PUBLIC_URL}{location}"
    response["Agon-Version"] = __version__  # lets older clients warn their users
    patch_vary_headers(response, ["Authorization", "Accept"])
    response.setdefault("Cache-Control", "private, no-cache")
    if request.method not in _SAFE or response.status_code != HTTPStatus.OK or not isinstance(response, HttpResponse):
        return response
    if not response.has_header("ETag"):
        response["ETag"] = quote_etag(sha256(response.content).hexdigest()[:32])
    return get_conditional_response(request, etag=response["ETag"], response=response) or response
