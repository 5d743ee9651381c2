"""Reporting internal errors to Sentry, with their location but without values."""

from typing import Any

import sentry_sdk
from sentry_sdk.types import Event, Hint

from portal.logs import SECRETS


def report_errors(dsn: str) -> None:
    sentry_sdk.init(
        dsn,
        send_default_pii=False,
        include_local_variables=False,
        max_request_body_size="never",
        auto_session_tracking=False,
        max_breadcrumbs=0,  # breadcrumbs contain log lines and queries
        before_send=_scrubbed,
    )


def _scrubbed(event: Event, _hint: Hint) -> Event:
    """Remove a job's arguments, and everything about a request except its method and URL, without query and secrets."""
    request: Any = event.get("request", {})
    event["request"] = {"method": request.get("method"), "url": SECRETS.sub(r"\1…", request.get("url", ""))}
    event.pop("extra", None)
    return event
