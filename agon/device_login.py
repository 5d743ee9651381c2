"""Sign-in through a browser with the device authorization flow (RFC 8628)."""

import platform
import time
from collections.abc import Callable
from typing import TypeVar
from urllib.parse import urlencode

import msgspec

from agon.connection import Connection
from agon.errors import AgonError, NotSignedIn

Kind = TypeVar("Kind")

CODE_PATH, TOKEN_PATH = "/device/code/", "/device/token/"
_CLIENT = "agon"
_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_FORM = "application/x-www-form-urlencoded"
_FINAL = ("access_denied", "expired_token", "invalid_grant")
_SLOWER = 5  # seconds added after `slow_down`, as in RFC 8628
_LONGEST_NAME = 80  # maximum length of a token's name in characters


class Codes(msgspec.Struct, frozen=True):
    """The codes to show to the user, and how long they are valid."""

    device_code: str
    user_code: str
    verification_uri: str
    expires_in: float
    verification_uri_complete: str = ""
    interval: float = 5


class _Token(msgspec.Struct, frozen=True):
    access_token: str


def sign_in(
    address: str,
    scope: str,
    task: str,
    show: Callable[[Codes], None],
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> str:
    """Wait until a person approves the login in a browser, and return a new access token.

    `show` is first called with the codes. If `task` is given, the token is valid only for that task.

    Raises:
        NotSignedIn: the login was denied, or the code has expired.
    """
    connection = Connection(address, None)
    name = f"agon login, {platform.node() or 'unknown computer'}"[:_LONGEST_NAME]
    codes = _post(connection, Codes, CODE_PATH, client_id=_CLIENT, scope=scope, task=task, name=name)
    show(codes)
    end, interval = clock() + codes.expires_in, max(codes.interval, 1)
    while clock() < end:
        sleep(interval)
        try:
            given = {"grant_type": _GRANT, "device_code": codes.device_code, "client_id": _CLIENT}
            return _post(connection, _Token, TOKEN_PATH, **given).access_token
        except AgonError as error:
            if error.code == "slow_down":
                interval += _SLOWER
            elif error.code in _FINAL:
                raise NotSignedIn(str(error), error.code) from None
            elif error.code != "authorization_pending":
                raise
    raise NotSignedIn("The login wasn't approved in time. Run “agon login” again.", "expired_token")


def _post(connection: Connection, kind: type[Kind], path: str, **fields: str) -> Kind:
    body = urlencode(fields).encode()
    answer = connection.ask("POST", path, body=body, headers={"Content-Type": _FORM})
    return connection.decoded(kind, answer.data)
