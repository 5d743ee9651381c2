"""Copying text from a report."""

from pathlib import Path

from django.template.loader import render_to_string
from playwright.sync_api import Browser

STATIC = Path(__file__).parents[2] / "static"
WRONG, RIGHT = "Task3 hard Meltmi_1.json", "task3_hard_Meltemi_1.json"
PROBLEM = {
    "severity": "error",
    "code": "name-pattern",
    "message": f"The name {WRONG} does not follow the rule.",
    "file": WRONG,
    "found": WRONG,
    "expected": None,
    "suggestion": RIGHT,
    "line": None,
    "item": None,
    "count": 1,
    "places": [],
}


def test_a_suggested_name_is_copied_alone(browser: Browser, tmp_path: Path) -> None:
    styles = "".join(f"<style>{file.read_text()}</style>" for file in sorted(STATIC.glob("*.css")))
    table = render_to_string("problems/_report.html", {"problems": [PROBLEM]})
    file = tmp_path / "report.html"
    file.write_text(f"<!doctype html><meta charset=utf-8>{styles}{table}", encoding="utf-8")
    page = browser.new_page()
    page.goto(file.as_uri())
    name = page.locator("code.whole")
    assert name.inner_text() == RIGHT
    name.locator(".be").first.click()
    assert page.evaluate("String(getSelection())") == RIGHT
    shown = name.locator("del").first.evaluate("one => getComputedStyle(one, '::before').content")
    assert shown.strip('"') in WRONG
