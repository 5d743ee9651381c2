"""Span gold that lists only items with spans: a run's spans on all other items count against it."""

from pathlib import Path

import pytest
from django.contrib.auth.models import AnonymousUser

from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.compare import compare_board
from portal.models import Board, SharedTask
from portal.queries.boards.choices import Choices
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.gold import gold_lines
from tests.portal.world import EVALUATION, POST, new_team, send, work_off

TASK = """
agon: 1
slug: sparse
title: Sparse
year: 2024
languages: [en]
tracks:
  - slug: spans
    title: Spans
    format: {kind: spans, spans: pairs}
    items: items.txt
    metrics: [span_f1, span_f1_exact]
    rank_by: span_f1
naming: {run: "{team}.txt", track: spans}
phases:
  - {slug: evaluation, opens: "2024-05-01 00:00 UTC", split: test, scores: at-once, official: best}
gold:
  - {track: spans, file: gold.txt}
"""
ITEMS = [f"s{number}" for number in range(10)]
CAREFUL = {"s0": "[[0, 3]]"}
EAGER = {"s0": "[[0, 3]]", "s1": "[[5, 9]]"} | dict.fromkeys(ITEMS[2:], "[[1, 2]]")


def run(marked: dict[str, str]) -> bytes:
    return "".join(f"{item}\t{marked.get(item, '[]')}\n" for item in ITEMS).encode()


@pytest.fixture
def sparse(db: None, tmp_path: Path) -> SharedTask:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("\n".join(ITEMS), encoding="utf-8")
    (tmp_path / "gold.txt").write_text("s0\t[[0, 3]]\ns1\t[[5, 9]]\n", encoding="utf-8")
    result = import_shared_task(None, tmp_path, EVALUATION)
    assert "gold spans test: version 1, 2 of 10 items have gold" in result.changes
    return result.shared_task


def test_false_positives_on_other_items_count(sparse: SharedTask) -> None:
    for name, marked in (("Careful", CAREFUL), ("Eager", EAGER)):
        send(new_team(sparse, name), f"{name}.txt", run(marked), EVALUATION)
    work_off(EVALUATION)
    compare_board(Board.objects.get(), POST)
    shown = leaderboard(sparse.tracks.get(), sparse.phases.get(), AnonymousUser(), POST, Choices())
    # The first run has nine of ten items correct and finds one of two spans. The second run has two items correct, and
    # both spans are among the ten that it marks.
    assert [(row.team, row.scores["span_f1"], row.scores["span_f1_exact"]) for row in shown.rows] == [
        ("Careful", pytest.approx(0.9), pytest.approx(2 * 1 / (1 + 2))),
        ("Eager", pytest.approx(0.2), pytest.approx(2 * 2 / (10 + 2))),
    ]
    low, high = min(Board.objects.get().comparison["intervals"].values())
    assert low <= 0.2 <= high


def test_the_gold_page_says_how_many_items_have_gold(sparse: SharedTask) -> None:
    (line,) = gold_lines(sparse)
    assert line.newest is not None
    assert line.newest.counts == (2, 10)
    assert line.others == "the other items are empty"
