"""Payloads in people's texts and file names, in a real browser: no script runs or has to be blocked."""

from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import create_team, sign_agreement, sign_up
from tests.security.payloads import PAYLOADS

TASK = "/tasks/exist2024"
WATCH = (
    "document.addEventListener('securitypolicyviolation', (event) => { window.xss = event.blockedURI || 'policy'; })"
)


def nothing_ran(page: Page) -> None:
    assert page.evaluate("window.xss === undefined"), page.url


def in_pieces(limit: int) -> list[str]:
    """Join the payloads into strings of at most `limit` characters."""
    texts, text = [], ""
    for payload in PAYLOADS:
        if len(text) + len(payload) > limit:
            texts, text = [*texts, text], ""
        text += payload
    return [*texts, text]


def test_nothing_runs(page: Page, portal: Portal, tmp_path: Path) -> None:
    page.add_init_script(WATCH)
    sign_up(page, portal, "Xenia")
    create_team(page, "exist2024", "Xanthos")
    sign_agreement(page, "exist2024", PAYLOADS[6])
    for text in in_pieces(110):
        page.goto("/settings/")
        page.locator("[name=name]").fill(text)
        page.locator("[name=affiliation]").fill(text)
        page.get_by_role("button", name="Save").click()
        nothing_ran(page)
        page.goto(f"{TASK}/team/")
        nothing_ran(page)
    for text in in_pieces(200):
        page.goto(f"{TASK}/submit/")
        file = {"name": text.replace("/", "∕"), "mimeType": "application/json", "buffer": b"[]"}
        page.get_by_label("Run file or zip archive").set_input_files(files=[file])
        page.get_by_role("button", name="Upload").click()
        expect(page.get_by_role("heading", level=1)).to_have_text("Rejected: no run was submitted")
        nothing_ran(page)
