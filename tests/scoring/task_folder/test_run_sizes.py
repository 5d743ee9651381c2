"""Limits on the size of runs, which depend on the number of items: task check reports them, stored definitions work."""

from pathlib import Path

import pytest

from scoring import limits, load_definition
from scoring.metrics import tuple_limits
from scoring.task_folder.folder import errors_of_folder
from scoring.task_folder.gold_file import check_gold
from scoring.task_folder.run_sizes import errors_of_size
from tests.scoring.formats.test_writing import track
from tests.scoring.task_folder.test_own_score import TASK

CLASSES = [f"c{number}" for number in range(1000)]
MOST = {
    "items": (track("json-labels", classes=["a", "b"]), limits.ITEMS),
    "texts": (track("text-lines"), limits.TEXTS),
    "columns": (track("table", id="id", columns=CLASSES), limits.VALUES // 1000),
    "classes": (track("json-soft", classes=CLASSES), limits.VALUES // 1000),
    "depth": (track("trec-run", depth=500), limits.RANKED // 500),
}


@pytest.mark.parametrize("name", MOST)
def test_as_many_items_as_are_allowed_and_one_more(name: str) -> None:
    where, most = MOST[name]
    assert list(errors_of_size(where, most)) == []
    [sentence] = errors_of_size(where, most + 1)
    assert name in sentence
    assert f"{most + 1:,}" in sentence


def test_usual_campaigns_are_far_below() -> None:
    """A hundred thousand items with ten classes, texts, or tuples, and a thousand queries."""
    usual = [track("json-soft", classes=CLASSES[:10]), track("text-lines"), track("tuples", columns=["a", "b"])]
    assert [list(errors_of_size(where, 100_000)) for where in usual] == [[], [], []]
    assert list(errors_of_size(track("trec-run", depth=100), 1000)) == []


def task(folder: Path, most: int) -> Path:
    """Write a task with partial credit for tuples, whose gold has two tuples for the only item."""
    (folder / "items.txt").write_text("1\n")
    (folder / "gold.txt").write_text('[{"id": "1", "value": [{"a": "x"}, {"a": "y"}]}]')
    form = f"{{kind: tuples, columns: [a], most: {most}}}"
    (folder / "task.yaml").write_text(TASK.replace("FORMAT", form).replace("METRIC", "tuple_f1_partial"))
    return folder


def test_a_folder_with_too_large_runs_can_still_be_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = task(tmp_path, 3)
    assert errors_of_folder(load_definition(folder)) == []
    monkeypatch.setattr(limits, "ITEMS", 0)
    [error] = errors_of_folder(load_definition(folder))
    assert error.startswith("items.txt")
    assert "1 items; at most 0 are allowed" in error


def test_gold_whose_tuples_take_too_long_to_pair_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    definition = load_definition(task(tmp_path, 3))
    gold = (tmp_path / "gold.txt").read_bytes()
    monkeypatch.setattr(tuple_limits, "MOST_STEPS", 12)
    assert check_gold(definition, "main", gold).report.ok
    monkeypatch.setattr(tuple_limits, "MOST_STEPS", 11)
    [problem] = check_gold(definition, "main", gold).report.errors
    assert (problem.code, problem.expected) == ("tuples-too-many-pairs", "11")
    [error] = errors_of_folder(definition)
    assert "12 steps" in error
