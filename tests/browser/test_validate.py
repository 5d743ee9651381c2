"""Validating a file. With JavaScript, the report is below the form; without it, on a page that reloads itself."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import Portal
from tests.browser.visitor import create_team, sign_agreement, sign_up, violations

TASK = "/tasks/detests2022"


def validate(page: Page, file: Path) -> None:
    page.goto(f"{TASK}/submit/")
    page.get_by_label("Run file or zip archive").set_input_files(file)
    page.get_by_role("button", name="Validate only").click()


def test_a_file_is_validated_with_and_without_javascript(
    page: Page, browser: Browser, portal: Portal, tmp_path: Path
) -> None:
    sign_up(page, portal, "Valda")
    create_team(page, "detests2022", "Levanter")
    sign_agreement(page, "detests2022", "Valda")
    run = tmp_path / "Levanter_task1_1.csv"
    run.write_text((portal.tasks / "detests2022/baselines/task1/all-ones.csv").read_text())
    validate(page, run)
    verdict = page.locator("#validation h2")
    expect(verdict).to_have_text("Valid: this file would be accepted")
    expect(page.get_by_role("heading", level=1)).to_have_text("Upload runs")  # the form is still shown
    assert not violations(page)
    lines = run.read_text().splitlines()
    run.write_text("\n".join([lines[0], lines[1][:-1] + "7", *lines[2:]]))

    context = browser.new_context(
        base_url=portal.url, java_script_enabled=False, storage_state=page.context.storage_state()
    )
    plain = context.new_page()
    validate(plain, run)
    expect(plain.locator("#validation h2")).to_have_text("Invalid: this file would be rejected")
    expect(plain.locator("table.problems")).to_contain_text("line 2")
    expect(plain.locator("#validation")).to_contain_text("We deleted the file after validation.")
    plain.goto(f"{TASK}/runs/")
    expect(plain.locator("main")).not_to_contain_text("Levanter_task1_1.csv")
    context.close()


@pytest.fixture(scope="module")
def required_field(portal: Portal) -> Iterator[None]:
    """The task requires a run field."""
    definition = portal.tasks / "detests2022/task.yaml"
    before = definition.read_text()
    definition.write_text(f"{before}\nrun_fields: [{{key: model, label: Model, required: true}}]\n")
    portal.manage("import_task", str(definition.parent))
    yield
    definition.write_text(before)
    portal.manage("import_task", str(definition.parent))


@pytest.mark.parametrize("java_script_enabled", [True, False])
def test_only_the_file_is_required(
    page: Page, browser: Browser, portal: Portal, tmp_path: Path, required_field: None, java_script_enabled: bool
) -> None:
    team = f"Gregale{java_script_enabled}"
    sign_up(page, portal, team)
    create_team(page, "detests2022", team)
    sign_agreement(page, "detests2022", team)
    run = tmp_path / f"{team}_task1_1.csv"
    run.write_text((portal.tasks / "detests2022/baselines/task1/all-ones.csv").read_text())
    context = browser.new_context(
        base_url=portal.url, java_script_enabled=java_script_enabled, storage_state=page.context.storage_state()
    )
    visitor = context.new_page()
    visitor.goto(f"{TASK}/submit/")
    visitor.get_by_role("button", name="Validate only").click()
    if java_script_enabled:
        expect(visitor.locator("#id_file")).to_be_focused()
    else:
        expect(visitor.locator("#id_file_error")).to_have_text("This field is required.")
    validate(visitor, run)
    expect(visitor.locator("#validation h2")).to_have_text("Valid: this file would be accepted")
    context.close()
