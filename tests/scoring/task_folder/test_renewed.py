"""A new edition of a task: only its slug, title and times change."""

import difflib
from datetime import date
from pathlib import Path

import pytest
import yaml

from scoring.task_folder.renewed import renewed

ROOT = Path(__file__).parents[3]
SHIPPED = sorted(ROOT.glob("tasks/*/task.yaml"))
YAML = """\
# Our task
slug: old
year: 2026
title: 'Old: task'  # with a colon
phases:
  - {slug: a, opens: 2026-03-01 00:00 AoE, closes: "2026-03-31 23:59 Europe/Madrid"}
  - {slug: b, opens: 2026-04-02T12:00:00Z, closes: null}
datasets:
  - {slug: x, released: 20260301T0000Z}
"""


def test_all_times_move_by_the_same_number_of_days() -> None:
    found = renewed(YAML, slug="new", title='New “𝔘”: "quoted"', first_day=date(2027, 2, 28))
    assert (
        found
        == """\
# Our task
slug: new
year: 2027
title: "New “𝔘”: \\"quoted\\""  # with a colon
phases:
  - {slug: a, opens: 2027-02-28 00:00 AoE, closes: "2027-03-30 23:59 Europe/Madrid"}
  - {slug: b, opens: 2027-04-01T12:00:00Z, closes: null}
datasets:
  - {slug: x, released: 20270228T0000Z}
"""
    )


def test_times_stay_without_a_first_day() -> None:
    assert renewed(YAML, slug="old", title="Old: task").replace('"Old: task"', "'Old: task'") == YAML


def test_times_outside_the_calendar_are_rejected() -> None:
    with pytest.raises(ValueError, match="can’t be moved"):
        renewed(YAML, slug="new", title="New", first_day=date(9999, 12, 31))


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.parent.name)
def test_shipped_tasks_change_only_in_these_lines(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    first = min(phase["opens"] for phase in yaml.load(text, yaml.BaseLoader)["phases"])[:10]
    same = renewed(text, slug="new", title="New", first_day=date.fromisoformat(first))
    changed = [line for line in difflib.ndiff(text.splitlines(), same.splitlines()) if line.startswith("+ ")]
    assert changed == ["+ slug: new", '+ title: "New"']
