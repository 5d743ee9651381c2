"""A newcomer's main path: from sign-up to a rank."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import create_team, sign_up, violations
from tests.services import wait_until

TASK = "/tasks/detests2022"


@pytest.fixture
def run_of_all_ones(portal: Portal) -> str:
    """Return a valid run for task 1 of DETESTS 2022."""
    return (portal.tasks / "detests2022/baselines/task1/all-ones.csv").read_text()


def upload(page: Page, path: Path) -> None:
    page.goto(f"{TASK}/submit/")
    page.get_by_label("Run file or zip archive").set_input_files(path)
    page.get_by_role("button", name="Upload").click()


def test_from_sign_up_to_a_rank(page: Page, portal: Portal, run_of_all_ones: str, tmp_path: Path) -> None:
    found = []
    for address in ("/", "/guide/", "/accounts/signup/", "/accounts/login/", f"{TASK}/", f"{TASK}/team/"):
        page.goto(address)
        found += violations(page)
    for _step in walk(page, portal, ("Nora", "Bora"), run_of_all_ones, tmp_path):
        found += violations(page)
    assert not found, "\n".join(found)


def test_the_same_without_javascript(browser: Browser, portal: Portal, run_of_all_ones: str, tmp_path: Path) -> None:
    context = browser.new_context(base_url=portal.url, java_script_enabled=False)
    page = context.new_page()
    for _step in walk(page, portal, ("Olaf", "Tramontana"), run_of_all_ones, tmp_path, reload=True):
        assert page.locator("main").is_visible()
    context.close()


def walk(
    page: Page, portal: Portal, names: tuple[str, str], right: str, folder: Path, *, reload: bool = False
) -> Iterator[None]:
    """Go from sign-up to a rank with a new person and team. Yield at each page, so that the caller can check it.

    If `reload` is set, reload pages that would otherwise update themselves.
    """
    person, team = names
    sign_up(page, portal, person)
    yield
    create_team(page, "detests2022", team)
    yield
    page.get_by_role("link", name="Read and sign the agreement").click()
    yield
    page.get_by_label("Your full name").fill(f"{person} North")
    page.get_by_role("button", name="I have read and agree").click()
    page.get_by_role("link", name="Upload runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload runs")

    # An invalid name is rejected immediately, and the valid name is suggested.
    misnamed = folder / f"{team}x_task1_1.csv"
    misnamed.write_text(right)
    upload(page, misnamed)
    expect(page.get_by_role("heading", level=1)).to_have_text("Rejected: no run was submitted")
    expect(page.locator("ins.be")).to_have_text(team)
    yield

    # If the content is invalid, the report lists every problem with its location and a fix.
    lines = right.splitlines()
    run = folder / f"{team}_task1_1.csv"
    run.write_text("\n".join([lines[0], lines[1][:-1] + "7", *lines[3:]]))
    upload(page, run)
    shows(page, "h1", "Rejected: no run was submitted", reload)
    problems = page.locator("table.problems")
    expect(problems).to_contain_text("line 2")
    expect(problems).to_contain_text("missing-items")
    yield

    # The fixed run is accepted, scored and ranked.
    run.write_text(right)
    page.get_by_role("link", name="Upload corrected file").click()
    expect(page.get_by_role("heading", name="Upload a corrected file")).to_be_in_viewport()
    yield
    upload(page, run)
    shows(page, "h1", "Accepted: one run", reload)
    shows(page, "table.files", "Scored", reload)
    yield
    page.get_by_role("link", name="Open the leaderboard").click()
    mine = page.locator("tr.mine").filter(has_text=team)
    expect(mine.locator(".rank")).to_have_text("1")
    yield
    mine.locator(".c-run").get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(f"{team}_task1_1.csv")
    yield
    page.goto(f"{TASK}/runs/")
    expect(page.locator("table.runs tbody tr")).to_have_count(1)
    page.get_by_role("link", name="Rejected uploads").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    yield


def shows(page: Page, place: str, text: str, reload: bool) -> None:
    """Wait until a worker is done and the element at `place` contains `text`. If `reload` is set, reload the page."""

    def is_there() -> bool:
        page.reload()
        return text in page.locator(place).inner_text()

    if reload:
        wait_until(is_there, f"{text} in {place}")
    expect(page.locator(place)).to_contain_text(text)
