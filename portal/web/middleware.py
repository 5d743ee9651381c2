"""What every answer carries, and what ties a request's log lines together."""

import re
from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

import structlog
from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from portal.storage import StorageUnavailable

GetResponse = Callable[[HttpRequest], HttpResponseBase]

log = structlog.get_logger("portal.web")

RETRY_SECONDS = 60
_UNAVAILABLE = "Agon can’t save anything right now. Nothing was changed. Try again in a minute."
_READ_ONLY = "25006"  # PostgreSQL's error code read_only_sql_transaction
_REQUEST_ID = re.compile(r"[0-9a-f-]{16,64}")
# What pages here never do, no page that got in by a trick does either.
_UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")


def headers(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """What Django's SecurityMiddleware does not set; the proxy's X-Request-ID, or a new one, also in every log line."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        known_as = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        structlog.contextvars.clear_contextvars()  # not at the end: Django logs an answer when it has left here
        structlog.contextvars.bind_contextvars(request_id=known_as)
        response = get_response(request)
        response["X-Request-ID"] = known_as
        response["Permissions-Policy"] = ", ".join(f"{feature}=()" for feature in _UNUSED)
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return middleware


def unavailable(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 503 while the database or the storage accepts nothing: the same request, sent again later, succeeds."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not _is_an_outage(exception):
            return None
        log.error("unavailable", path=request.path, error=type(exception).__name__, reason=str(exception))
        headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
        if request.path.startswith("/api/"):
            answer: HttpResponse = JsonResponse({"code": "unavailable", "message": _UNAVAILABLE})
        else:
            answer = HttpResponse(render_to_string("503.html"))  # without the request: nothing asks the database
        answer.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        for name, value in headers.items():
            answer[name] = value
        return answer

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware


def _is_an_outage(error: Exception) -> bool:
    """PostgreSQL calls a write to a read-only database an internal error."""
    if isinstance(error, InternalError):
        return getattr(error.__cause__, "sqlstate", None) == _READ_ONLY
    return isinstance(error, (StorageUnavailable, OperationalError, InterfaceError))


def has_nul(request: HttpRequest) -> bool:
    """Whether the address has a NUL character, which PostgreSQL does not take in a question."""
    return "\0" in request.path or "%00" in request.META.get("QUERY_STRING", "")


def no_nul(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 400 to an address with a NUL character, which PostgreSQL does not take in a question either."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if has_nul(request):
            message = "This address contains a NUL character (%00). Check the link.\n"
            return HttpResponseBadRequest(message, content_type="text/plain")
        return get_response(request)

    return middleware
