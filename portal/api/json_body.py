"""JSON bodies, read strictly: UTF-8, no repeated keys, no special numbers, and no more than `JSON_BYTES`.

A lenient reader would use the last of several equal keys, and accept UTF-16. Size is checked before a body is read,
because validating an object takes about a hundred times its size in memory.
"""

import json
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from ninja.parser import Parser

from portal.actions.base.input import is_text
from portal.api.problems import BODY_TOO_LARGE, NOT_READABLE

JSON_BYTES = 64 * 1024

NOT_UTF_8 = _("The body must be JSON in UTF-8.")
REPEATED_KEY = _("The key “%(key)s” occurs more than once in the same object. Send each key once.")
ODD_KEY = _("A key contains an invalid character.")
NO_NUMBER = _("JSON has no %(name)s. Send a number or null.")
_SHOWN = 80  # characters of a key


class StrictJson(Parser):
    """Ninja's parser for bodies of requests."""

    def parse_body(self, request: HttpRequest) -> Any:
        """Return the parsed body.

        Raises:
            ActionError: NOT_READABLE, with the reason.
        """
        try:
            text = request.body.decode("utf-8-sig")
            return json.loads(text, object_pairs_hook=_without_repeated_keys, parse_constant=_reject)
        except (ValueError, RecursionError):  # also invalid UTF-8, and numbers with thousands of digits
            raise NOT_READABLE(expected=NOT_UTF_8) from None


def require_small_body(request: HttpRequest) -> None:
    """Raise BODY_TOO_LARGE if the body has more than `JSON_BYTES`. Every request has a length (`web.bodies`)."""
    if int(request.META.get("CONTENT_LENGTH") or 0) > JSON_BYTES:
        raise BODY_TOO_LARGE(limit=JSON_BYTES)


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if not is_text(key):
            raise NOT_READABLE(expected=ODD_KEY)
        if key in found:
            raise NOT_READABLE(expected=REPEATED_KEY % {"key": key[:_SHOWN]})
        found[key] = value
    return found


def _reject(name: str) -> None:
    raise NOT_READABLE(expected=NO_NUMBER % {"name": name})
