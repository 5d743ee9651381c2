"""The least that an upload must do: read a session, hash and sync the body, and commit one row.

This is an application for `portal.server` that uses the portal's database. No server can return an upload receipt
faster than this.
"""

# ruff: noqa: E402 - models need the settings

import os
from collections.abc import Callable, Iterable
from http.cookies import SimpleCookie
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

import django

django.setup()

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends.db import SessionStore

from portal.models import FailedAttempt, Membership
from portal.models.clock import database_now
from portal.storage import store_upload
from scoring.limits import UPLOAD_BYTES

_AT, _MEMBERS = database_now(), dict(Membership.objects.values_list("user", "team"))


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    """Answer with the SHA-256 of the whole body."""
    cookie = SimpleCookie(environ["HTTP_COOKIE"])
    user = int(SessionStore(cookie["sessionid"].value)[SESSION_KEY])
    body = environ["wsgi.input"].read(int(environ["CONTENT_LENGTH"]))
    with store_upload([body], "upload", UPLOAD_BYTES) as stored:
        FailedAttempt.objects.create(user_id=user, team_id=_MEMBERS[user], kind="smallest", at=_AT)
    start_response("201 Created", [("Content-Type", "text/plain"), ("Content-Length", "64")])
    return [stored.sha256.encode()]
