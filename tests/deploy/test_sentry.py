"""Errors are reported to Sentry with their location, and without request data or values of variables."""

import gzip
import json
import subprocess
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import brotli
import pytest

from tests.canary import CANARY, EYES
from tests.conftest import ROOT
from tests.services import serving

UNPACK = {"br": brotli.decompress, "gzip": gzip.decompress, None: bytes}
PROGRAM = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "portal.settings"
import django, sentry_sdk
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.test import RequestFactory
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

django.setup()

@csrf_exempt
def broken(request, key):
    password, gold = request.POST["password"], os.environ["GOLD"]
    raise RuntimeError("broken")

urlpatterns = [path("accounts/password/reset/key/<str:key>/", broken)]
settings.ROOT_URLCONF = "__main__"
sent = {"Host": "localhost", "Authorization": "Bearer s3cret", "X-Forwarded-For": "192.0.2.7"}
sent |= {"Cookie": "sessionid=s3cret"}
address = "/accounts/password/reset/key/s3cret/?token=s3cret"
environ = RequestFactory(headers=sent).post(address, {"password": "s3cret"}).environ
list(get_wsgi_application()(environ, lambda status, headers: None))
sentry_sdk.flush(10)
"""


@pytest.fixture
def sentry() -> Iterator[tuple[str, list[bytes]]]:
    """A stand-in for Sentry's server: its DSN, and the bodies that it received."""
    received: list[bytes] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            received.append(UNPACK[self.headers["Content-Encoding"]](body))
            EYES.look("event for Sentry", received[-1])
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with serving(Receiver) as address:
        yield f"http://key@{address}/1", received


def test_an_error_is_reported_without_values(sentry: tuple[str, list[bytes]], tmp_path: Path) -> None:
    dsn, received = sentry
    environment = {"AGON_STATE": str(tmp_path), "SENTRY_DSN": dsn, "GOLD": CANARY}
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, check=True, capture_output=True)
    whole = b"\n".join(received).decode()
    assert '"RuntimeError"' in whole
    event = next(json.loads(line) for body in received for line in body.decode().splitlines() if '"exception"' in line)
    assert event["request"] == {"method": "POST", "url": "http://localhost/accounts/password/reset/key/…/"}
    frames = event["exception"]["values"][0]["stacktrace"]["frames"]
    assert frames[-1]["function"] == "broken"
    assert not any("vars" in frame for frame in frames)
    for secret in ("s3cret", "192.0.2.7", "sessionid"):
        assert secret not in whole
