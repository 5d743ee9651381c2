"""Errors as `application/problem+json` (RFC 9457). `type` is the URL of a page that explains the error code."""

import json
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.core.serializers.json import DjangoJSONEncoder
from django.http import HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import BaseModel, Field

from portal.actions.base.errors import ActionError, ErrorCode, LimitReached, TooLarge
from portal.actions.base.input import InvalidInput
from portal.actions.base.roles import SIGNED_OUT
from portal.actions.uploads.submit import UPLOAD_REJECTED
from scoring.limits import LISTED

MEDIA_TYPE = "application/problem+json"


def _declare(status: int, code: str, sentence: str | Promise) -> ErrorCode:
    """Declare an error that only the API has."""

    class ApiError(ActionError):
        http_status = status

    return ApiError.declare(code, sentence)


NO_TOKEN = _declare(401, SIGNED_OUT.code, _("Send an access token: “Authorization: Bearer agon_…”."))
BAD_TOKEN = _declare(401, "token_invalid", _("This access token is invalid, expired or revoked. Create a new token."))
NOT_FOUND = _declare(404, "not_found", _("This resource does not exist, or you don’t have access to it."))
WRONG_METHOD = _declare(405, "method_not_allowed", _("Use one of these methods: %(allowed)s."))
NOT_READABLE = _declare(400, "not_readable", _("We couldn’t read the request. %(expected)s"))
NO_LENGTH = _declare(
    411,
    "length_required",
    _("Send the length of the body as Content-Length. Without it, the limit is %(limit)d bytes."),
)
WRONG_MEDIA = _declare(415, "media_type", _("Send the body as %(expected)s."))
BODY_TOO_LARGE = TooLarge.declare("too_large", _("The body is too large. The limit is %(limit)d bytes."))
NO_SUCH_RANGE = _declare(416, "range", _("The file has %(size)d bytes. Request a range within it."))
TOO_MANY_REQUESTS = LimitReached.declare(
    "too_many_requests", _("You’ve sent more than %(limit)d requests in the last minute. Wait %(seconds)d seconds.")
)
SERVER_ERROR = _declare(500, "server_error", _("An error occurred on our side. Try again later."))
UNAVAILABLE = _declare(
    503,
    "unavailable",
    _("Agon can’t save changes right now. Nothing was changed. Try again in %(seconds)d seconds."),
)

OWN_ERRORS: tuple[ErrorCode, ...] = (
    NO_TOKEN,
    BAD_TOKEN,
    NOT_FOUND,
    WRONG_METHOD,
    NOT_READABLE,
    NO_LENGTH,
    WRONG_MEDIA,
    BODY_TOO_LARGE,
    NO_SUCH_RANGE,
    TOO_MANY_REQUESTS,
    SERVER_ERROR,
    UNAVAILABLE,
)
"""Errors of the API itself. All other errors come from actions."""


class FieldProblem(BaseModel):
    """A problem with one field of the input."""

    field: str
    code: str
    detail: str


class Problem(BaseModel):
    """An error in the format of RFC 9457, with its code and the values in its message."""

    type: str = Field(description="URL of the page that explains the code")
    title: str
    status: int
    detail: str = Field(description="What went wrong and how to fix it")
    code: str
    params: dict[str, Any] = Field(default_factory=dict, description="Values in the message")
    errors: list[FieldProblem] = Field(default_factory=list, description=f"Problems in the input, at most {LISTED}")
    errors_total: int = Field(0, description="Number of problems in the input, including those that aren’t listed")
    problems: list[dict[str, Any]] = Field(default_factory=list, description="Every problem in an uploaded file")


def problem_response(error: ActionError, **headers: str) -> HttpResponse:
    """Return the response for an error."""
    params = dict(error.params)
    listed = params.pop("problems") if error.code == UPLOAD_REJECTED.code else []
    fields = error.problems if isinstance(error, InvalidInput) else {}
    body = {
        "type": f"{settings.PUBLIC_URL}{reverse('error', args=[error.code])}",
        "title": HTTPStatus(error.http_status).phrase,
        "status": error.http_status,
        "detail": error.message,
        "code": error.code,
        "problems": listed,
        "params": {} if fields else params,
        "errors_total": error.total if isinstance(error, InvalidInput) else 0,
        "errors": [{"field": name, "code": one.code, "detail": one.message} for name, one in fields.items()],
    }
    content = json.dumps(body, cls=_Encoder, ensure_ascii=False, indent=1)
    if "seconds" in params and error.http_status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        headers = {"Retry-After": str(params["seconds"])} | headers
    if error.http_status == HTTPStatus.UNAUTHORIZED:
        headers = {"WWW-Authenticate": 'Bearer realm="Agon"'} | headers
    return HttpResponse(content, status=error.http_status, content_type=MEDIA_TYPE, headers=headers)


class _Encoder(DjangoJSONEncoder):
    def default(self, o: Any) -> Any:
        """Convert an error to its code, message and parameters, and other values that have no JSON type to text."""
        if isinstance(o, ActionError):
            return {"code": o.code, "detail": o.message, "params": o.params}
        try:
            return super().default(o)
        except TypeError:
            return str(o)
