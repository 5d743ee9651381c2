"""The search for gold in the browser includes pages that have been left, and everything that pages fetch."""

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.conftest import received
from tests.canary import CANARY, EYES
from tests.services import serving

ANSWERS = {
    "/page": ("text/html", f"<p>{CANARY}</p>".encode()),
    "/fetches": ("text/html", b"<img src='/picture'>"),
    "/picture": ("image/svg+xml", f"<svg xmlns='http://www.w3.org/2000/svg'><title>{CANARY}</title></svg>".encode()),
}


@pytest.fixture
def leaking() -> Iterator[str]:
    """Yield the address of a server that sends the secret word."""

    class Leak(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            kind, body = ANSWERS.get(self.path, ("text/plain", b"nothing"))
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with serving(Leak) as address:
        yield f"http://{address}"


@pytest.mark.parametrize(("first", "leak"), [("/page", "/page"), ("/fetches", "/picture")])
def test_what_a_browser_receives_is_looked_at(
    browser: Browser, leaking: str, tmp_path: Path, first: str, leak: str
) -> None:
    with EYES.aside() as seen:
        with received(browser, tmp_path):
            page = browser.new_context().new_page()
            for _ in range(3):  # a response may be lost if the next page loads before the response is recorded
                page.goto(f"{leaking}{first}", wait_until="networkidle")
                page.goto(f"{leaking}/another")
        assert set(seen) == {f"browser, {leaking}{leak}"}
