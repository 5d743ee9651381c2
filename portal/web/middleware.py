"""What every answer carries, and what ties a request's log lines together."""

import re
from collections.abc import Callable
from uuid import uuid4

import structlog
from django.http import HttpRequest, HttpResponseBadRequest
from django.http.response import HttpResponseBase

GetResponse = Callable[[HttpRequest], HttpResponseBase]

_REQUEST_ID = re.compile(r"[0-9a-f-]{16,64}")
# What pages here never do, no page that got in by a trick does either.
_UNUSED = ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")


def request_id(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """The proxy's X-Request-ID, or a new one: in every log line of the request, and in the answer."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        given = request.headers.get("X-Request-ID", "")
        known_as = given if _REQUEST_ID.fullmatch(given) else uuid4().hex
        structlog.contextvars.clear_contextvars()  # not at the end: Django logs an answer when it has left here
        structlog.contextvars.bind_contextvars(request_id=known_as)
        response = get_response(request)
        response["X-Request-ID"] = known_as
        return response

    return middleware


def no_nul(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """Answer 400 to an address with a NUL character, which PostgreSQL does not take in a question either."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if "\0" in request.path or "%00" in request.META.get("QUERY_STRING", ""):
            message = "This address contains a NUL character (%00). Check the link.\n"
            return HttpResponseBadRequest(message, content_type="text/plain")
        return get_response(request)

    return middleware


def headers(get_response: GetResponse) -> Callable[[HttpRequest], HttpResponseBase]:
    """What Django's SecurityMiddleware does not set."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        response["Permissions-Policy"] = ", ".join(f"{feature}=()" for feature in _UNUSED)
        response.setdefault("Cross-Origin-Resource-Policy", "same-origin")
        return response

    return middleware
