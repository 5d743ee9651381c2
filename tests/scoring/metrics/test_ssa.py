from pathlib import Path

import pytest

from scoring import DefinitionError, load_definition
from tests.scoring.metrics.answers import table, value

COLUMNS = "stereotype_label counter_label"
GOLD = table(COLUMNS, {"1": "--", "2": "--", "3": "--", "x": "10"}, groups=["gender", "race", "race", ""])


def test_share_of_tuples_with_the_same_label() -> None:
    run = table(COLUMNS, {"1": "11", "2": "01", "3": "00"})
    assert value("ssa_accuracy", GOLD, run) == pytest.approx(2 / 3)
    assert value("ssa_bias", GOLD, run) == pytest.approx(1 / 3)
    assert value("ssa_accuracy:gender", GOLD, run) == 1
    assert value("ssa_accuracy:race", GOLD, run) == 1 / 2
    assert value("ssa_bias:race", GOLD, run) == 1 / 2


def test_labeled_pairs_are_not_tuples() -> None:
    run = table(COLUMNS, {"1": "11", "2": "11", "3": "11", "x": "10"})
    assert value("ssa_accuracy", GOLD, run) == 1


def test_a_tuple_that_the_run_lacks_does_not_agree() -> None:
    assert value("ssa_accuracy", GOLD, table(COLUMNS, {"1": "00", "2": "00"})) == pytest.approx(2 / 3)


def test_a_group_that_the_gold_lacks_is_undefined() -> None:
    assert value("ssa_accuracy:age", GOLD, table(COLUMNS, {"1": "00"})) is None


def test_tuples_with_different_labels_are_counted() -> None:
    run = table(COLUMNS, {"1": "10", "2": "01", "3": "00", "x": "10"})
    assert value("ssa_reflected", GOLD, run) == 2
    assert value("ssa_reflected:race", GOLD, run) == 1
    assert value("ssa_reflected:age", GOLD, run) is None


def test_the_gold_file_must_have_groups(tmp_path: Path) -> None:
    """Without them, the metrics would be undefined for every run."""
    definition = """
agon: 1
slug: pairs
title: Pairs
year: 2027
languages: [en]
tracks:
  - slug: main
    format: {kind: table, id: id, columns: [HS, TR]}
    items: items.txt
    metrics: ["accuracy:HS", {combine: all, of: [ssa_accuracy], by: mean}]
    rank_by: "accuracy:HS"
naming: {run: "{track}_{team}"}
phases: [{slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: main, file: gold.csv, format: {kind: table, id: id, columns: [HS, TR], group: kind}}]
"""
    (tmp_path / "task.yaml").write_text(definition, encoding="utf-8")
    load_definition(tmp_path)
    (tmp_path / "task.yaml").write_text(definition.replace(", group: kind", ""), encoding="utf-8")
    with pytest.raises(DefinitionError, match="combine:all compares groups of items: add group, the column") as found:
        load_definition(tmp_path)
    assert [problem.line for problem in found.value.report] == [11]
