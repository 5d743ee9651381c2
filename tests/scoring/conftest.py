"""A small shared task for the engine's tests, with ten items and one track for each run format."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from scoring import Definition, load_definition

# By default, hypothesis fails tests on a busy machine, where examples take longer. All examples of a test share its
# fixtures, but none depends on the files of another.
settings.register_profile(
    "any machine",
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("any machine")

ITEMS = [f"i{number}" for number in range(10)]

DEFINITION = """
agon: 1
slug: tiny
title: Tiny
year: 2026
languages: [en]
hierarchies: {kinds: {"YES": [A, B], "NO": []}}
tracks:
  - slug: task1-hard
    format: {kind: json-labels, classes: ["NO", A, B], constants: {test_case: TINY}}
    hierarchy: kinds
    items: items.txt
    metrics: [icm]
    rank_by: icm
  - slug: task2-hard
    format: {kind: json-labels, classes: ["NO", A, B], multi: true}
    items: items.txt
    metrics: [f1_macro]
    rank_by: f1_macro
  - slug: task1-soft
    format: {kind: json-soft, classes: ["NO", A, B], sum: 1}
    hierarchy: kinds
    items: items.txt
    metrics: [icm_soft]
    rank_by: icm_soft
  - slug: task3-table
    format: {kind: table, id: [doc, pos], columns: [whole, left], implies: {whole: whole, parts: [left]}}
    items: pairs.txt
    optional_items: optional.txt
    metrics: ["f1_macro:whole"]
    rank_by: "f1_macro:whole"
  - slug: task4-plain
    format: {kind: table, separator: tab, header: optional, id: id, columns: [HS]}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
  - slug: task5-spans
    format: {kind: spans}
    items: items.txt
    metrics: [span_f1]
    rank_by: span_f1
naming:
  archive: "tiny_{team}"
  run: "{task}_{context}_{team}_{number}[.json]"
  track: "{task}-{context}"
  number: [1, 2, 3]
phases:
  - {slug: open, opens: "2026-01-01 00:00 UTC", scores: at-once, official: best}
"""


@pytest.fixture
def write_task(tmp_path: Path) -> Callable[[str], Path]:
    """Write a shared task's folder with the given task.yaml and return it."""

    def write(text: str) -> Path:
        folder = tmp_path / "task"
        folder.mkdir(exist_ok=True)
        (folder / "task.yaml").write_text(text, encoding="utf-8")
        (folder / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
        (folder / "pairs.txt").write_text("\n".join(f"d_{number}" for number in range(10)), encoding="utf-8")
        (folder / "optional.txt").write_text("o_1\no_2\n", encoding="utf-8")
        return folder

    return write


@pytest.fixture
def tiny(write_task: Callable[[str], Path]) -> Definition:
    """The small shared task, loaded."""
    return load_definition(write_task(DEFINITION))
