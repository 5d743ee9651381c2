"""Sections that update until their state is final."""

import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path

from playwright.sync_api import Browser, expect

from portal.web.templatetags import polling
from tests.services import PATIENCE, serving

HTMX = Path(__file__).parents[2] / "static/vendor/htmx/htmx.min.js"


def test_a_response_that_never_comes_does_not_end_the_polling(browser: Browser, monkeypatch) -> None:
    monkeypatch.setattr(polling, "RESPONSE_MILLISECONDS", 100)
    page = f"<!doctype html><script>{HTMX.read_text()}</script><p {polling.poll('/status', 'received')}>received</p>"
    is_over = threading.Event()
    asked: list[str] = []

    class Stuck(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.startswith("/status"):
                asked.append(self.path)
                if len(asked) == 1:
                    is_over.wait()
                    return
            body = ("<p>scored</p>" if self.path.startswith("/status") else page).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing."""

    with serving(Stuck) as address:
        try:
            shown = browser.new_page()
            shown.goto(f"http://{address}/")
            expect(shown.locator("p")).to_have_text("scored", timeout=1000 * PATIENCE)
        finally:
            is_over.set()
    assert asked == ["/status?seen=received"] * 2
