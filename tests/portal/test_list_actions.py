"""docs/actions.md must be the output of `manage.py list_actions`."""

import io

from django.core.management import call_command

from portal.actions.base.registry import every_action
from tests.conftest import ROOT


def test_the_page_about_actions_is_current() -> None:
    printed = io.StringIO()
    call_command("list_actions", stdout=printed)
    page = (ROOT / "docs/actions.md").read_text()
    assert page == printed.getvalue(), "Run: python manage.py list_actions > docs/actions.md"
    assert [line[4:] for line in page.splitlines() if line.startswith("### ")] == sorted(
        every_action(), key=lambda name: (every_action()[name].__module__.rpartition(".")[2], name)
    )
    assert "| `reason` | text | at most 300 characters, required |" in page
    assert "- Who: the account owner. A second factor is required for tokens that may organize" in page
    assert "| `days` | number | at least 1, at most 365, required |" in page
