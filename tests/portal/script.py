"""A script that uses the API, with or without a token."""

import json
from datetime import timedelta
from typing import Any

from django.test import Client
from django.test.client import ClientHandler

from portal.models import AccessToken, SharedTask, User
from tests.portal.world import EVALUATION

BASE = "/api/v1"
_SECRETS = (f"{number:030d}"[::-1] for number in range(1, 10**8))


def token_of(user: User, scope: str = "submit", task: SharedTask | None = None) -> str:
    """Create a token that is valid today and at all times used in tests, and return its text."""
    at, days = EVALUATION - timedelta(days=400), 36_500
    _, text = AccessToken.objects.issue(user, next(_SECRETS), at, name="CI", scope=scope, task=task, days=days)
    return text


class Script:
    """A client that sends requests with its user's token, or without a token if it has no `user`."""

    def __init__(self, user: User | None = None, scope: str = "submit", task: SharedTask | None = None) -> None:
        self._headers = {"Authorization": f"Bearer {token_of(user, scope, task)}"} if user else {}
        self._handler = ClientHandler(enforce_csrf_checks=False)  # loads the middleware at its first request

    def __call__(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> Any:
        """Send a request and return the response.

        A `body` that is not bytes is sent as JSON. In the names of `headers`, `_` stands for `-`.
        """
        wanted = self._headers | {name.replace("_", "-"): value for name, value in headers.items()}
        media = wanted.pop("Content-Type", "application/json")
        data = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        address = path if path.startswith("/api/") else BASE + path
        client = Client()  # without the cookies of earlier responses
        client.handler = self._handler
        return client.generic(method, address, data, content_type=media, headers=wanted)
