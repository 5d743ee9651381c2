"""A visitor's actions in the browser, and accessibility checks with axe."""

import email
import email.policy
import re
from collections.abc import Sequence
from email.message import EmailMessage
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Page, expect

from tests.browser.conftest import Portal
from tests.services import text_of, wait_until

AXE = (Path(__file__).parent / "vendor/axe.min.js").read_text()
# Only the violations, because describing all other results takes longer.
RUN_AXE = "axe.run({resultTypes: ['violations']}).then((result) => result.violations)"
PASSWORD = "a long winter in the north"


def sign_up(page: Page, portal: Portal, name: str) -> None:
    """Sign up, confirm the email address with the emailed link, and remain signed in."""
    address = f"{name.lower()}@example.org"
    page.goto("/accounts/signup/")
    page.get_by_label("Your name").fill(name)
    page.get_by_label("Email").fill(address)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_label("Password (again)").fill(PASSWORD)
    page.get_by_role("button", name="Create account").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm your email address")
    link = re.search(r"http://\S+/accounts/confirm-email/\S+", text_of(latest_mail(portal, address)))
    assert link is not None
    page.goto(link.group())
    page.get_by_role("button", name="Confirm address").click()
    expect(page.get_by_text(name, exact=True)).to_be_visible()


def latest_mail(portal: Portal, address: str) -> EmailMessage:
    wait_until(lambda: portal.mails_to(address), f"a mail to {address}")
    return email.message_from_bytes(portal.mails_to(address)[-1].read_bytes(), policy=email.policy.default)


def create_team(page: Page, slug: str, name: str) -> None:
    page.goto(f"/tasks/{slug}/team/")
    page.get_by_label("Team name").fill(name)
    for question in page.locator("input[name^=answer-][required]").all():
        question.fill("Research")
    page.get_by_role("button", name="Create team").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(name)


def sign_agreement(page: Page, slug: str, name: str) -> None:
    page.goto(f"/tasks/{slug}/agreement/")
    page.get_by_label("Your full name").fill(name)
    page.get_by_role("button", name="I have read and agree").click()
    expect(page.get_by_text("You have signed the agreement.")).to_be_visible()


def violations(page: Page, schemes: Sequence[Literal["dark", "light"]] = ("dark", "light")) -> list[str]:
    """Return the accessibility problems that axe finds in each color scheme."""
    found = []
    page.wait_for_load_state()  # after a click, the next page may not have any element yet
    page.evaluate(AXE)  # not as a script tag, because the content policy would block it
    for scheme in schemes:
        page.emulate_media(color_scheme=scheme)
        result: list[dict[str, Any]] = page.evaluate(RUN_AXE)
        for violation in result:
            places = ", ".join(str(node["target"]) for node in violation["nodes"])
            found.append(f"{page.url} in {scheme}: {violation['id']} at {places}")
    return found
