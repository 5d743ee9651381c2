"""Middleware: headers for every response, request ids for the log, outages, URLs of forms, and URLs with NUL."""

import re
from collections.abc import Callable
from http import HTTPStatus
from uuid import uuid4

import structlog
from django.db import InterfaceError, InternalError, OperationalError
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string

from portal.storage import StorageUnavailable

GetResponse = Callable[[HttpRequest], HttpResponseBase]

log = structlog.get_logger("portal.web")

RETRY_SECONDS = 60
_READ_ONLY = "25006"  # PostgreSQL's error code read_only_sql_transaction
_REQUEST_ID = re.compile(r"[0-9a-f-]{16,64}")
# Features that the portal's pages never use, disabled in case someone injects code.
_UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
_PERMISSIONS = ", ".join(f"{feature}=()" for feature in _UNUSED)


def headers(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Add headers that Django's SecurityMiddleware does not add, and X-Request-ID, which is also in every log line."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.META.get("HTTP_X_REQUEST_ID", "")
        known_as = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        structlog.contextvars.clear_contextvars()  # not at the end: Django logs the response after this middleware
        structlog.contextvars.bind_contextvars(request_id=known_as)
        response = get_response(request)
        response["X-Request-ID"] = known_as
        response["Permissions-Policy"] = _PERMISSIONS
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return middleware


def unavailable(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 503 while the database or storage is down or does not accept writes.

    Clients can repeat the request later.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        return get_response(request)

    def process_exception(request: HttpRequest, exception: Exception) -> HttpResponse | None:
        if not is_outage(exception):
            return None
        page = render_to_string("503.html")  # without the request, because its context would query the database
        headers = {"Retry-After": str(RETRY_SECONDS), "Cache-Control": "no-store"}
        return HttpResponse(page, status=HTTPStatus.SERVICE_UNAVAILABLE, headers=headers)

    middleware.process_exception = process_exception  # type: ignore[attr-defined]
    return middleware


def is_outage(error: Exception) -> bool:
    """Return whether the exception is caused by an outage, and log it if so.

    Writing to a read-only PostgreSQL raises InternalError.
    """
    is_one = isinstance(error, (StorageUnavailable, OperationalError, InterfaceError))
    if isinstance(error, InternalError):
        is_one = getattr(error.__cause__, "sqlstate", None) == _READ_ONLY
    if is_one:
        log.error("unavailable", error=type(error).__name__, reason=str(error))
    return is_one


def has_nul(request: HttpRequest) -> bool:
    """Return whether the URL contains a NUL character, which PostgreSQL does not accept in queries."""
    return "\0" in request.path or "%00" in request.META.get("QUERY_STRING", "")


def form_addresses(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Explain a 405 whose body is empty, because browsers show their own error page for it.

    People get one if they open the address of a form, for example after they signed in again to submit it.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        is_empty = isinstance(response, HttpResponseNotAllowed) and not response.content
        if is_empty and request.method == "GET":
            page = render_to_string("405.html", request=request)
            return HttpResponse(page, status=response.status_code, headers={"Allow": response["Allow"]})
        return response

    return middleware


def no_nul(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 400 to a URL that contains a NUL character."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if has_nul(request):
            message = "This address contains a null character (%00). Check the link.\n"
            return HttpResponseBadRequest(message, content_type="text/plain")
        return get_response(request)

    return middleware
