"""Pages at a width of 360 px: none scrolls sideways, and the active tab is visible."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import create_team, sign_agreement, sign_up, violations

PAGES = [
    "/",
    "/guide/",
    "/accounts/login/",
    "/accounts/signup/",
    "/accounts/password/reset/",
    "/accounts/email/",
    "/nowhere/",
    "/tasks/exist2024/",
    "/tasks/exist2024/agreement/",
    "/tasks/exist2024/data/",
    "/tasks/exist2024/evaluation/",
    "/tasks/exist2024/terms/",
    "/tasks/exist2024/leaderboard/",
    "/tasks/exist2024/leaderboard/task1-hard/",
    "/tasks/exist2024/leaderboard/task6-soft/?phase=evaluation",
    "/tasks/detests2022/leaderboard/task2/?runs=all",
    "/tasks/exist2024/insights/task2-hard/?phase=evaluation",
    "/tasks/exist2024/insights/task2-hard/compare/?phase=evaluation",
    "/tasks/exist2024/submit/",
    "/tasks/exist2024/runs/",
    "/tasks/exist2024/team/",
]

WIDER_THAN_THE_SCREEN = """
() => document.documentElement.scrollWidth > innerWidth
  ? [...document.querySelectorAll("main *")]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .map((element) => element.outerHTML.slice(0, 80))
      .concat("the page")
  : []
"""
ACTIVE_TAB_IS_IN_VIEW = """
() => [...document.querySelectorAll(".tabs [aria-current]")].every((tab) => {
  const box = tab.getBoundingClientRect();
  return box.left >= 0 && box.right <= innerWidth;
})
"""


@pytest.fixture
def phone(browser: Browser, portal: Portal) -> Iterator[Page]:
    context = browser.new_context(base_url=portal.url, viewport={"width": 360, "height": 780})
    yield context.new_page()
    context.close()


def problems(page: Page) -> list[str]:
    page.wait_for_load_state()  # after a click, the next page may not have any element yet
    found = [f"{page.url}: {element}" for element in page.evaluate(WIDER_THAN_THE_SCREEN)]
    if not page.evaluate(ACTIVE_TAB_IS_IN_VIEW):
        found.append(f"{page.url}: the active tab is out of view")
    return found + violations(page, schemes=["light"])


@pytest.mark.parametrize("is_signed_in", [False, True])
def test_nothing_scrolls_sideways_at_360_px(phone: Page, portal: Portal, is_signed_in: bool) -> None:
    if is_signed_in:
        sign_up(phone, portal, "Pina")
        create_team(phone, "exist2024", "Maestrale-with-a-long-name")
    found = []
    for address in PAGES:
        phone.goto(address)
        found += problems(phone)
    assert not found, "\n".join(found)


def test_a_long_wrong_name_fits_at_360_px(phone: Page, portal: Portal, tmp_path: Path) -> None:
    sign_up(phone, portal, "Quinn")
    create_team(phone, "exist2024", "Ponente-with-a-long-name")
    sign_agreement(phone, "exist2024", "Quinn")
    run = tmp_path / "task1_hard_Ponente-with-another-much-longer-name_1.json"
    run.write_text("[]")
    phone.goto("/tasks/exist2024/submit/")
    phone.get_by_label("Run file or zip archive").set_input_files(run)
    phone.get_by_role("button", name="Upload").click()
    expect(phone.get_by_role("heading", level=1)).to_have_text("Rejected: no run was submitted")
    found = problems(phone)
    assert not found, "\n".join(found)
