"""The main job as a newcomer does it: from sign-up to a rank."""

from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import create_team, sign_agreement, sign_up, violations

TASK = "/tasks/detests2022"
SCORED = 120_000  # ms


@pytest.fixture
def run_of_all_ones(portal: Portal) -> str:
    """A valid run for task 1 of DETESTS 2022."""
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

    sign_up(page, portal, "Nora")
    found += violations(page)
    create_team(page, "detests2022", "Bora")
    found += violations(page)
    page.get_by_role("link", name="Read and sign the agreement").click()
    found += violations(page)
    page.get_by_label("Your full name").fill("Nora North")
    page.get_by_role("button", name="I have read it and agree").click()
    page.get_by_role("link", name="Upload runs").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload runs")

    # A wrong name is answered at once, with the right one.
    misnamed = tmp_path / "Borra_task1_1.csv"
    misnamed.write_text(run_of_all_ones)
    upload(page, misnamed)
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused: no run was taken")
    expect(page.locator("ins.be")).to_have_text("Bora")
    found += violations(page)

    # Wrong content: the report comes without a reload, with every problem, its place and its remedy.
    lines = run_of_all_ones.splitlines()
    wrong = tmp_path / "Bora_task1_1.csv"
    wrong.write_text("\n".join([lines[0], lines[1][:-1] + "7", *lines[3:]]))
    upload(page, wrong)
    expect(page.get_by_role("heading", level=1)).to_have_text("Refused: no run was taken", timeout=SCORED)
    problems = page.locator("table.problems")
    expect(problems).to_contain_text("line 2")
    expect(problems).to_contain_text("missing-items")
    found += violations(page)

    # Mended, it is accepted, scored and ranked.
    wrong.write_text(run_of_all_ones)
    page.get_by_role("link", name="Choose the mended file").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload runs")
    found += violations(page)
    upload(page, wrong)
    expect(page.get_by_role("heading", level=1)).to_have_text("Accepted: one run", timeout=SCORED)
    expect(page.locator("table.files")).to_contain_text("Scored", timeout=SCORED)
    found += violations(page)
    page.get_by_role("link", name="See where it stands on the leaderboard").click()
    mine = page.locator("tr.mine")
    expect(mine.locator(".rank")).to_have_text("1")
    expect(mine.locator(".team")).to_have_text("Bora")
    found += violations(page)
    mine.get_by_role("link").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Bora_task1_1.csv")
    found += violations(page)
    page.goto(f"{TASK}/runs/")
    expect(page.locator("table.runs tbody tr")).to_have_count(2)
    found += violations(page)
    assert not found, "\n".join(found)


def test_the_same_without_javascript(browser: Browser, portal: Portal, run_of_all_ones: str, tmp_path: Path) -> None:
    context = browser.new_context(base_url=portal.url, java_script_enabled=False)
    page = context.new_page()
    sign_up(page, portal, "Olaf")
    create_team(page, "detests2022", "Tramontana")
    sign_agreement(page, "detests2022", "Olaf")
    run = tmp_path / "Tramontana_task1_1.csv"
    run.write_text(run_of_all_ones)
    upload(page, run)
    for _ in range(240):
        if "Scored" in page.inner_text("main"):
            break
        page.wait_for_timeout(500)
        page.reload()
    expect(page.locator("table.files")).to_contain_text("Scored")
    page.goto(f"{TASK}/leaderboard/task1/?phase=post-evaluation&runs=all&team=tramon")
    expect(page.locator("tr.mine .team")).to_have_text("Tramontana")
    context.close()
