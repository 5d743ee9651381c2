"""From sign-up and the emailed password to the data and a receipt, on desktop and phone."""

import hashlib
import json
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from pathlib import Path

import pytest
import pyzipper
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.test_small_screens import problems
from tests.browser.visitor import create_team, sign_up, violations
from tests.services import wait_until

TASK = "/tasks/exist2024"
ASKED = "Your team’s password"


@pytest.fixture
def phone(browser: Browser, portal: Portal) -> Iterator[Page]:
    context = browser.new_context(base_url=portal.url, viewport={"width": 360, "height": 780}, has_touch=True)
    yield context.new_page()
    context.close()


def mailed_password(portal: Portal, address: str) -> str:
    """Return the data password, which is on a separate line of the approval email."""

    def find() -> str | None:
        for path in portal.mails_to(address):
            text = message_from_bytes(path.read_bytes(), policy=policy.default).get_body(("plain",))
            found = re.search(r"^[\w-]{22}$", text.get_content(), re.MULTILINE) if text else None
            if found:
                return found.group()
        return None

    wait_until(find, f"a mail with the password to {address}")
    password = find()
    assert password is not None
    return password


def download(page: Page, button: str, role: str = "link") -> Path:
    with page.expect_download() as started:
        page.get_by_role(role, name=button).click()  # type: ignore[arg-type]
    return started.value.path()


def run_file(portal: Portal, team: str, folder: Path) -> Path:
    """Write a valid run for task 1, hard: a baseline's answers under the team's name."""
    run = folder / f"task1_hard_{team}_1.json"
    run.write_bytes((portal.tasks / "exist2024/baselines/test/task1-hard/majority.json").read_bytes())
    return run


def test_from_sign_up_to_the_data_and_a_receipt(page: Page, portal: Portal, tmp_path: Path) -> None:
    found = []
    page.goto(f"{TASK}/data/")
    expect(page.get_by_role("link", name="Sign in").first).to_be_visible()
    found += violations(page)
    sign_up(page, portal, "Dora")
    create_team(page, "exist2024", "Gregale")

    # Two steps are missing: first the agreement, then the password.
    page.goto(f"{TASK}/data/test-tweets/")
    expect(page.get_by_role("heading", level=1)).to_contain_text("You can’t download")
    found += violations(page)
    page.get_by_role("main").get_by_role("link", name="Read and sign").last.click()
    page.get_by_label("Your full name").fill("Dora Rossi")
    page.get_by_role("button", name="I have read and agree").click()
    page.goto(f"{TASK}/data/test-tweets/")
    page.get_by_role("main").get_by_role("link", name="Enter your team’s password").last.click()
    page.get_by_label(ASKED).fill("a guess")
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_role("alert")).to_contain_text("Incorrect password")
    found += violations(page)
    password = mailed_password(portal, "dora@example.org")
    page.get_by_label(ASKED).fill(password)
    page.get_by_role("button", name="Continue").click()
    expect(page.get_by_text("Password accepted")).to_be_visible()
    found += violations(page)

    # The file has the checksum shown on the page.
    tweets = download(page, "Test tweets").read_bytes()
    assert tweets == (portal.tasks / "exist2024/data/test/tweets.json").read_bytes()
    expect(page.locator("table").first).to_contain_text(hashlib.sha256(tweets).hexdigest())

    # The other file is in an archive that opens with the password.
    page.get_by_role("link", name="Test memes").click()
    found += violations(page)
    page.get_by_label(ASKED).fill(password)
    with pyzipper.AESZipFile(download(page, "Download", "button")) as archive:
        archive.setpassword(password.encode())
        memes = archive.read("exist2024-test-memes.json")
    assert memes == (portal.tasks / "exist2024/data/test/memes.json").read_bytes()
    page.goto(f"{TASK}/data/")
    rows = page.get_by_role("table").filter(has_text="Dora")
    expect(rows.get_by_role("row")).to_have_count(3)  # including the heading row
    found += violations(page)

    # Submit a run and compare the checksum on its receipt.
    run = run_file(portal, "Gregale", tmp_path)
    page.goto(f"{TASK}/submit/")
    page.get_by_label("Run file or zip archive").set_input_files(run)
    page.get_by_role("button", name="Upload").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted: one run")
    receipt = json.loads(download(page, "Receipt").read_text())
    assert receipt["sha256"] == hashlib.sha256(run.read_bytes()).hexdigest()
    page.goto("/receipt/verify/")
    found += violations(page)
    assert not found, "\n".join(found)


def test_a_captain_on_a_phone(phone: Page, portal: Portal, tmp_path: Path) -> None:
    found = []
    sign_up(phone, portal, "Sara")
    create_team(phone, "exist2024", "Libeccio")
    found += problems(phone)
    phone.goto(f"{TASK}/agreement/")
    phone.get_by_label("Your full name").fill("Sara Serra")
    phone.get_by_role("button", name="I have read and agree").click()
    phone.goto(f"{TASK}/password/")
    phone.get_by_label(ASKED).fill(mailed_password(portal, "sara@example.org"))
    found += problems(phone)
    phone.get_by_role("button", name="Continue").click()
    assert download(phone, "Test tweets").stat().st_size > 0
    phone.goto(f"{TASK}/data/")
    found += problems(phone)
    phone.get_by_role("link", name="Test memes").click()
    found += problems(phone)
    phone.goto(f"{TASK}/submit/")
    phone.get_by_label("Run file or zip archive").set_input_files(run_file(portal, "Libeccio", tmp_path))
    phone.get_by_role("button", name="Upload").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Accepted: one run")
    found += problems(phone)
    phone.goto(f"{TASK}/runs/")
    found += problems(phone)
    assert not found, "\n".join(found)
