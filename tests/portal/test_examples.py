"""Examples: items without a gold answer, listed with the answers of all official runs and baselines."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser
from django.test import Client

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.uploads.submit import submit
from portal.evaluation.compare import compare_board
from portal.models import Board, SharedTask, Track
from portal.paper.tables import examples_table
from portal.queries.boards.insights import Examples, insights
from scoring import load_definition
from scoring.task_folder.folder import errors_of_folder
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, RELEASE, captain, new_team, pack_of, work_off

PAGE = "/tasks/pairs/insights/one/?phase=evaluation"
TASK = """agon: 1
slug: pairs
title: Pairs
year: 2024
languages: [en]
tracks:
  - slug: one
    format: {kind: table, id: id, columns: [first, second]}
    items: data/items.txt
    examples: {items: data/examples.tsv, columns: [text]}
    metrics: [f1_macro_all]
    rank_by: f1_macro_all
naming: {run: "{track}_{team}_{number}.csv", number: [1]}
phases:
  - {slug: evaluation, opens: "2024-05-01 00:00 UTC", closes: "2024-05-16 00:00 UTC", scores: on-release,
     released: "2024-05-24 10:00 UTC", official: last}
gold:
  - {track: one, file: gold/one.csv, format: {kind: table, id: id, columns: [first, second], group: kind}}
"""
GOLD = "id,kind,first,second\na,x,,\nb,x,,\nc,,1,0\nd,,0,0\n"  # a and b have no gold answer
RUNS = {
    "Ostro": "id,first,second\na,1,0\nb,1,1\nc,1,0\nd,0,0\n",
    "Meltemi": "id,first,second\na,0,0\nb,0,1\nc,0,0\nd,0,0\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "task.yaml": TASK,
        "data/items.txt": "a\nb\nc\nd\n",
        "data/examples.tsv": "id\ttext\na\tWomen & men\nc\tSecret\n",
        "gold/one.csv": GOLD,
    }
    for name, content in files.items():
        path = tmp_path / "pairs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "pairs"


@remembered
def task(db: None, folder: Path) -> SharedTask:
    task = import_shared_task(None, folder, EVALUATION).shared_task
    for name, body in RUNS.items():
        team, phase = new_team(task, name), task.phases.get(slug="evaluation")
        submit(captain(team), phase, EVALUATION, content=[body.encode()], file_name=f"one_{name}_1.csv")
    work_off(EVALUATION)
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    return task


def found(task: SharedTask) -> Examples:
    track = Track.objects.select_related("shared_task").get(slug="one")
    shown = insights(track, task.phases.select_related("shared_task").get(slug="evaluation"), AnonymousUser(), RELEASE)
    assert shown.examples is not None
    assert r"Women \& men & Ostro (1, 0) & Meltemi (0, 0)" in examples_table(shown, shown.examples).latex()
    return shown.examples


@pytest.mark.slow
def test_examples_are_shown_with_the_labels_of_the_runs(task: SharedTask) -> None:
    (row,) = found(task).rows
    assert (row.id, row.cells) == ("a", ["Women & men"])
    assert found(task).columns == ["Text"]
    assert (row.different, row.same) == ([("Ostro", "1, 0")], [("Meltemi", "0, 0")])
    text = Client().get(PAGE).content.decode()
    assert "Women &amp; men" in text
    assert 'Ostro <span class="soft">(1, 0)</span>' in text
    assert "tables/one-examples.tex" in pack_of(task).namelist()


def test_an_item_with_a_gold_answer_is_never_an_example(task: SharedTask) -> None:
    assert [row.id for row in found(task).rows] == ["a"]
    assert "Secret" not in Client().get(PAGE).content.decode()


def test_examples_are_hidden_until_the_release(task: SharedTask) -> None:
    task.phases.filter(slug="evaluation").update(released=None)
    assert "Women &amp; men" not in Client().get(PAGE).content.decode()


def test_new_examples_are_added_to_boards_that_were_compared(task: SharedTask, folder: Path) -> None:
    (folder / "data/examples.tsv").write_text("id\ttext\nb\tLater\n")
    import_shared_task(None, folder, RELEASE)
    compare_board(Board.objects.get(track__slug="one", phase__slug="evaluation"), RELEASE)
    assert "Later" in Client().get(PAGE).content.decode()


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("id\tother\na\tx\n", "has no column text"),
        ("id\ttext\n" + "".join(f"{n}\tx\n" for n in range(51)), "there are 51 examples; at most 50 are allowed"),
    ],
)
def test_a_folder_with_wrong_examples_is_rejected(folder: Path, table: str, expected: str) -> None:
    (folder / "data/examples.tsv").write_text(table)
    errors = errors_of_folder(load_definition(folder))
    assert any(expected in error for error in errors), errors
