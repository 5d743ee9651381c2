"""The gold standard scored against itself: `task check`, pushes and gold uploads warn if it isn't the best run."""

from pathlib import Path

import pytest
import yaml

from portal.evaluation.confined.gold import check_gold_file
from scoring import load_definition
from scoring.metrics import LoadedGold, compare, compute, describe, value_range
from scoring.metrics.metric import Metric
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.own_score import OTHERWISE
from tests.for_each import for_each
from tests.scoring.metrics.test_registry import EVERY, HIERARCHY, SLICES, answers, of_run, spec_of

TASK = """\
agon: 1
slug: tiny
title: Tiny
year: 2024
languages: [en]
tracks:
  - {slug: main, format: FORMAT, items: items.txt, metrics: [METRIC], rank_by: METRIC}
naming: {run: "{track}_{team}_{number}", number: [1, 2]}
phases:
  - {slug: main, opens: "2024-05-01 00:00 UTC", scores: at-once, official: best}
gold:
  - {track: main, file: gold.txt}
"""
TEXTS, NUMBERS = "{kind: text-lines}", "{kind: table, id: id, columns: [x], values: number}"
TUPLES = "{kind: tuples, columns: [x, y], file: table, id: id}"


def task(folder: Path, form: str, metric: str, gold: str, items: str = "1\n2\n3\n") -> Path:
    key = yaml.safe_load(metric)["as"] if metric.startswith("{") else metric
    text = TASK.replace("FORMAT", form).replace("[METRIC]", f"[{metric}]").replace("METRIC", key)
    (folder / "task.yaml").write_text(text)
    (folder / "gold.txt").write_text(gold)
    (folder / "items.txt").write_text(items)
    return folder


def test_an_empty_reference_is_named(tmp_path: Path) -> None:
    definition = load_definition(task(tmp_path, TEXTS, "rouge_l", "the cat\n\nit rains\n"))
    [warning] = problems_of_folder(definition)
    assert (warning.severity, warning.code, warning.file) == ("warning", "gold-below-best", "gold.txt")
    assert (warning.found, warning.expected) == ("rouge_l 0.6667", "1")
    assert warning.message.endswith("Items: 2.")


def test_an_undefined_metric_is_named(tmp_path: Path) -> None:
    definition = load_definition(task(tmp_path, NUMBERS, "pearson", "id,x\n1,2\n2,2\n3,2\n"))
    [warning] = problems_of_folder(definition)
    assert (warning.code, warning.found) == ("gold-undefined", "pearson")
    assert "all predictions are equal" in warning.message


@pytest.mark.parametrize(
    ("form", "metric", "gold"),
    [
        (TEXTS, "rouge_l", "the cat\nyes\nit rains\n"),
        (TEXTS, "wer", "the cat\nyes\nit rains\n"),
        (NUMBERS, "pearson", "id,x\n1,2\n2,3\n3,2\n"),
        (NUMBERS, "mae", "id,x\n1,2\n2,3\n3,2\n"),
        (TEXTS, "meteor", "the cat\nyes\nit rains\n"),
        (
            TUPLES,
            "{name: tuple_f1_numbers, numbers: y, as: credit}",
            "id,x,y\n1,food,7\n1,staff,2\n2,food,7\n3,price,5\n",
        ),
    ],
)
def test_gold_that_is_the_best_run_has_no_warning(tmp_path: Path, form: str, metric: str, gold: str) -> None:
    assert problems_of_folder(load_definition(task(tmp_path, form, metric, gold))) == []


def test_the_portals_check_of_gold_warns_without_items(tmp_path: Path) -> None:
    gold = b"the cat\n\nit rains\n"
    definition = load_definition(task(tmp_path, TEXTS, "rouge_l", gold.decode()))
    found = check_gold_file(definition, "main", "test", gold, None, None)
    [warning] = found["problems"]
    assert (found["ok"], warning["severity"], warning["code"]) == (True, "warning", "gold-below-best")
    assert "Items" not in warning["message"]
    assert not warning["places"]


# Tuples that differ only in their numbers get no credit, and the gold below has such tuples.
UNIQUE_TUPLES = {"tuple_precision_numbers", "tuple_recall_numbers", "tuple_f1_numbers"}


@for_each(("metric", "kind"), [one for one in EVERY if one.values[0].name not in OTHERWISE | UNIQUE_TUPLES])
def test_gold_without_defects_gets_the_best_value_of_every_metric(metric: Metric, kind: str) -> None:
    gold = answers(kind, 1)
    hierarchy = None if kind == "table" else HIERARCHY  # which has a class without items
    comparison = compare(LoadedGold(gold, hierarchy, slice_columns=SLICES), of_run(gold))
    spec = spec_of(metric, kind)
    low, high = value_range(spec)
    best = high if describe(spec).higher_is_better else low
    if best is not None:
        assert compute(comparison, spec) == pytest.approx(best)
