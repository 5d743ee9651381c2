"""Less common paths: a declined team, a late upload, a member who leaves, and the keyboard as the only input."""

import re
import shutil
from collections.abc import Iterator
from email import message_from_bytes
from email.policy import default
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import PASSWORD, create_team, sign_up, violations
from tests.conftest import ROOT
from tests.portal.world import GOOD, run_file
from tests.services import wait_until

TASK = "/tasks/brief"


@pytest.fixture(scope="module")
def brief(portal: Portal, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    """A shared task with four items and one phase that is open for years. Its teams need approval."""
    folder = shutil.copytree(ROOT / "tests/portal/tiny_task", tmp_path_factory.mktemp("tasks") / "brief")
    path = folder / "task.yaml"
    text = path.read_text().replace("slug: tiny", "slug: brief").replace("Tiny", "Brief")
    text = text.replace("approval: automatic", "approval: manual").replace('"2024-05-16', '"2124-05-16')
    text = re.sub(r', released: "[^"]*"', "", text)
    path.write_text(re.sub(r"  - \{slug: (post|without-gold).*\n", "", text))
    portal.manage("import_task", str(folder))
    return portal


def opened(browser: Browser, portal: Portal) -> Page:
    """Open a browser page with its own session."""
    return browser.new_context(base_url=portal.url, viewport={"width": 1280, "height": 800}).new_page()


@pytest.fixture
def other(browser: Browser, brief: Portal) -> Iterator[Page]:
    """A second person's page."""
    page = opened(browser, brief)
    yield page
    page.context.close()


def make_organizer(portal: Portal, page: Page, name: str) -> None:
    sign_up(page, portal, name)
    grant = "SharedTask.objects.get(slug='brief').organizers.add(User.objects.get(email='{}@example.org'))"
    portal.manage("shell", "-v0", "-c", f"from portal.models import *; {grant.format(name.lower())}")


def decide(organizer: Page, team: str, *, reason: str = "") -> None:
    """Approve the team or, if there is a reason, decline it."""
    organizer.goto(f"{TASK}/organize/teams/")
    if reason:
        request = organizer.locator("section.request", has=organizer.get_by_role("heading", name=team))
        request.get_by_text("Decline", exact=False).first.click()
        request.get_by_label("Reason (shown to the team)").fill(reason)
        request.get_by_role("button", name=f"Decline {team}").click()
    else:
        organizer.get_by_role("button", name=f"Approve {team}").click()
    expect(organizer.get_by_role("status")).to_contain_text(team)


def mail_to(portal: Portal, address: str, subject: str) -> str:
    """Wait for an email with this subject and return its plain text."""

    def found() -> list[str]:
        mails = [message_from_bytes(path.read_bytes(), policy=default) for path in portal.mails_to(address)]
        return [mail.get_body(("plain",)).get_content() for mail in mails if subject in mail["Subject"]]  # type: ignore[union-attr]

    wait_until(found, f"a mail to {address}: {subject}")
    return found()[-1]


def upload(page: Page, folder: Path, name: str) -> None:
    path = folder / name
    path.write_bytes(run_file(GOOD))
    page.get_by_label("Run file or zip archive").set_input_files(path)
    page.get_by_role("button", name="Upload").click()


def test_a_declined_team_learns_why_and_asks_again(page: Page, other: Page, brief: Portal) -> None:
    make_organizer(brief, other, "Oana")
    sign_up(page, brief, "Runa")
    create_team(page, "brief", "Libeccio")
    expect(page.locator("main")).to_contain_text("The organizers must approve new teams")
    decide(other, "Libeccio", reason="Please name your university.")

    mail = mail_to(brief, "runa@example.org", "was declined")
    assert "Please name your university." in mail
    link = re.search(r"http://\S+/team/", mail)
    assert link
    page.goto(link.group())
    found = violations(page)
    expect(page.locator("main")).to_contain_text("Please name your university.")
    page.goto(f"{TASK}/submit/")
    expect(page.locator("main")).to_contain_text("can’t submit runs (declined)")
    page.get_by_role("link", name="Your team").click()
    page.get_by_label("Affiliation").fill("University of Bergen")
    page.get_by_role("button", name="Request approval again").click()
    expect(page.locator("main")).to_contain_text("The organizers must approve new teams")

    other.goto(f"{TASK}/organize/teams/")
    expect(other.locator("main")).to_contain_text("University of Bergen")
    found += violations(other)
    decide(other, "Libeccio")
    assert "was approved" in mail_to(brief, "runa@example.org", "was approved")
    page.reload()
    expect(page.get_by_role("link", name="Upload runs")).to_be_visible()
    other.goto(f"{TASK}/organize/mails/")
    expect(other.locator("table.ruled")).to_contain_text("Team declined")
    found += violations(other)
    assert not found, "\n".join(found)


def test_a_late_upload_uses_no_quota_and_says_what_can_be_done(
    page: Page, other: Page, brief: Portal, tmp_path: Path
) -> None:
    make_organizer(brief, other, "Olga")
    sign_up(page, brief, "Tove")
    create_team(page, "brief", "Grecale")
    decide(other, "Grecale")
    page.goto(f"{TASK}/submit/")
    expect(page.get_by_role("button", name="Upload")).to_be_visible()
    change = "from portal.models import *; phase = Phase.objects.filter(shared_task__slug='brief')"
    try:
        brief.manage("shell", "-v0", "-c", f"{change}; phase.update(closes='2024-05-16T00:00Z')")
        upload(page, tmp_path, "one_Grecale_1.json")
        alert = page.get_by_role("alert")
        expect(alert).to_contain_text("No run was submitted because the upload finished after Evaluation had closed")
        expect(alert).to_contain_text("2024")
        found = violations(page)
        page.goto(f"{TASK}/runs/")
        expect(page.locator("main")).not_to_contain_text("one_Grecale_1.json")
    finally:
        brief.manage("shell", "-v0", "-c", f"{change}; phase.update(closes='2124-05-16T00:00Z')")
    page.goto(f"{TASK}/submit/")
    upload(page, tmp_path, "one_Grecale_1.json")
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted: one run")
    mail = mail_to(brief, "tove@example.org", "was accepted")
    assert "one_Grecale_1.json" in mail
    stop = re.search(r"http://\S+/mails/stop/\S+", mail)
    assert stop
    other.goto(stop.group())  # the link is opened in a browser where Tove is not signed in
    found += violations(other)
    other.get_by_role("button", name="Unsubscribe").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("You have unsubscribed")
    page.goto("/settings/")
    expect(page.get_by_label("Results of your uploads")).not_to_be_checked()
    assert not found, "\n".join(found)


def test_who_leaves_sees_no_runs_any_more_and_gets_no_mails(
    page: Page, other: Page, brief: Portal, browser: Browser, tmp_path: Path
) -> None:
    make_organizer(brief, other, "Odile")
    sign_up(page, brief, "Ugo")
    create_team(page, "brief", "Zefiro")
    invitation = page.locator("pre code").inner_text()
    decide(other, "Zefiro")
    vera = opened(browser, brief)
    sign_up(vera, brief, "Vera")
    vera.goto(invitation)
    vera.get_by_role("button", name="Join Zefiro").click()
    vera.goto(f"{TASK}/submit/")
    upload(vera, tmp_path, "one_Zefiro_1.json")
    expect(vera.get_by_role("heading", level=1)).to_have_text("Accepted: one run")
    sent = vera.url
    mail_to(brief, "vera@example.org", "was accepted")
    vera.goto(f"{TASK}/team/")
    vera.get_by_text("Leave team").click()
    vera.get_by_role("button", name="Leave Zefiro").click()
    expect(vera.get_by_role("heading", level=1)).to_have_text("Create a team")
    found = violations(vera)
    answer = vera.goto(sent)
    assert answer is not None
    assert answer.status == 404
    vera.context.close()

    page.goto(f"{TASK}/runs/")  # uploaded runs remain with the team
    expect(page.locator("table.runs")).to_contain_text("one_Zefiro_1.json")
    page.goto(f"{TASK}/team/")
    expect(page.locator("table.ruled").first).not_to_contain_text("Vera")
    assert not found, "\n".join(found)


FOCUSED = """
() => {
  const here = document.activeElement;
  const style = getComputedStyle(here);
  const label = here.labels && here.labels.length ? here.labels[0].innerText : "";
  return {
    name: (here.getAttribute("aria-label") || label || here.innerText || "").trim(),
    visible: (style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0) || style.boxShadow !== "none",
  };
}
"""


def tab_to(page: Page, name: str) -> None:
    """Press Tab until the element with this name is focused. Every focused element must show its focus."""
    passed = []
    for _ in range(80):
        page.keyboard.press("Tab")
        focused = page.evaluate(FOCUSED)
        assert focused["visible"], f"{page.url}: the focus is invisible on {focused['name']!r}"
        if focused["name"].startswith(name):
            return
        passed.append(focused["name"])
    raise AssertionError(f"{page.url}: no way by Tab to {name!r}, but to {passed}")


def press(page: Page, name: str) -> None:
    tab_to(page, name)
    page.keyboard.press("Enter")


def write(page: Page, name: str, words: str) -> None:
    tab_to(page, name)
    page.keyboard.type(words)


def test_a_keyboard_is_enough(page: Page, other: Page, brief: Portal, tmp_path: Path) -> None:
    make_organizer(brief, other, "Orla")
    page.goto("/")
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED)["name"] == "Skip to content"
    press(page, "Create an account")
    expect(page.get_by_role("heading", level=1)).to_have_text("Create an account")
    for name, words in (("Your name", "Wanda"), ("Email", "wanda@example.org")):
        write(page, name, words)
    for name in ("Password", "Password (again)"):
        write(page, name, PASSWORD)
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Confirm your email address")
    link = re.search(r"http://\S+/confirm-email/\S+", mail_to(brief, "wanda@example.org", "confirm"))
    assert link
    page.goto(link.group())
    press(page, "Confirm address")
    expect(page.get_by_text("Wanda", exact=True)).to_be_visible()

    page.goto(f"{TASK}/")
    press(page, "Team")
    expect(page.get_by_role("heading", level=1)).to_have_text("Create a team")
    write(page, "Team name", "Levante")
    press(page, "Create team")
    expect(page.get_by_role("heading", level=1)).to_have_text("Levante")
    decide(other, "Levante")
    page.reload()
    press(page, "Upload runs")
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload runs")
    run = tmp_path / "one_Levante_1.json"
    run.write_bytes(run_file(GOOD))
    # Start waiting for the dialog before the button is focused, because Enter must be the next key.
    with page.expect_file_chooser() as chooser:
        press(page, "Run file or zip archive")
    chooser.value.set_files(run)
    press(page, "Upload")
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted: one run")
    press(page, "Runs")
    expect(page.locator("table.runs")).to_contain_text("one_Levante_1.json")
    press(page, "Wanda")  # opens the menu
    press(page, "Sign out")
    expect(page.get_by_role("link", name="Sign in")).to_be_visible()
