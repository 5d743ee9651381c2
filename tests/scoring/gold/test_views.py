"""How tracks read a gold file: thresholds, merged labels and mapped labels."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring import DefinitionError, load_definition, score
from scoring.score import GoldError, load_gold
from scoring.task_folder.folder import errors_of_folder

TASK = """
agon: 1
slug: viewed
title: Viewed
year: 2026
languages: [en]
tracks:
  - slug: main
    format: {track_format}
    items: items.txt
    metrics: [{metric}]
    rank_by: {metric}
naming: {{run: "{{track}}_{{team}}.csv"}}
phases: [{{slug: one, opens: "2026-01-01 00:00 UTC", closes: "2026-02-01 00:00 UTC", scores: at-once, official: best}}]
gold:
  - {{track: main, file: gold.csv, format: {gold_format}, view: {view}}}
"""
LABELS = "{kind: table-labels, id: id, label: label, classes: [negative, joy]}"
SINGLE = "{kind: table-labels, id: id, label: label, classes: [anger, fear, joy]}"


@pytest.fixture
def made(tmp_path: Path) -> Callable[..., Path]:
    def make(gold: str, **parts: Any) -> Path:
        (tmp_path / "task.yaml").write_text(TASK.format(**{"metric": "accuracy"} | parts))
        (tmp_path / "gold.csv").write_text(gold)
        (tmp_path / "items.txt").write_text("1\n2\n3\n4\n")
        return tmp_path

    return make


def scored(folder: Path, run: str, metric: str = "accuracy") -> float | None:
    definition = load_definition(folder)
    assert errors_of_folder(definition) == []
    return score(definition, "main", run.encode(), folder / "gold.csv").scores[metric]


def test_two_labels_are_merged(made: Callable[..., Path]) -> None:
    folder = made(
        "id,label\n1,anger\n2,fear\n3,joy\n4,joy\n",
        track_format=LABELS,
        gold_format=SINGLE,
        view="{map: {anger: negative, fear: negative}}",
    )
    assert scored(folder, "id,label\n1,negative\n2,negative\n3,joy\n4,negative\n") == 0.75


def test_weights_from_a_bound_up_are_labels(made: Callable[..., Path]) -> None:
    folder = made(
        "id,anger,joy\n1,0.5,0.5\n2,0.4,0.6\n3,0.9,0.1\n4,0,1\n",
        track_format="{kind: table-labels, id: id, label: label, classes: [anger, joy], multi: true, between: ' '}",
        gold_format="{kind: table-soft, id: id, classes: [anger, joy]}",
        view="{at_least: 0.5}",
        metric="exact_match_ratio",
    )
    labels = "id,label\n1,anger joy\n2,joy\n3,anger\n4,anger\n"
    assert scored(folder, labels, "exact_match_ratio") == 0.75


def test_numbers_from_a_bound_up_are_1(made: Callable[..., Path]) -> None:
    folder = made(
        "id,stars\n1,3\n2,2.9\n3,5\n4,1\n",
        track_format="{kind: table, id: id, columns: [good]}",
        gold_format="{kind: table, id: id, columns: [stars], values: number}",
        view="{at_least: 3, map: {stars: good}}",
    )
    assert scored(folder, "id,good\n1,1\n2,0\n3,1\n4,1\n") == 0.75


def test_numbers_of_one_column_are_mapped_to_labels(made: Callable[..., Path]) -> None:
    folder = made(
        "id,stars\n1,1\n2,2\n3,3\n4,3\n",
        track_format=LABELS,
        gold_format="{kind: table, id: id, columns: [stars], values: [1, 2, 3]}",
        view='{map: {"1": negative, "2": negative, "3": joy}}',
    )
    assert scored(folder, "id,label\n1,negative\n2,joy\n3,joy\n4,joy\n") == 0.75


def test_merged_weights_are_added(made: Callable[..., Path]) -> None:
    folder = made(
        "id,anger,fear,joy\n1,0.2,0.3,0.5\n2,0,0,1\n3,0.5,0.5,0\n4,0,0.2,0.8\n",
        track_format="{kind: table-soft, id: id, classes: [joy, negative]}",
        gold_format="{kind: table-soft, id: id, classes: [anger, fear, joy]}",
        view="{map: {anger: negative, fear: negative}}",
        metric="mae",
    )
    gold = load_gold(load_definition(folder), "main", folder / "gold.csv")
    assert gold.matrix.columns == ("joy", "negative")
    assert gold.matrix.values.tolist() == [[0.5, 0.5], [1, 0], [0, 1], [0.8, 0.2]]


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("{map: {anger: bad}}", "bad, fear is not one of negative, joy: add it to map"),
        ("{map: {angst: negative}}", "map contains angst, but the gold has only anger, fear, joy"),
        ("{at_least: 0.5}", "at_least requires numbers or weights, but the file contains labels"),
    ],
)
def test_what_does_not_fit_is_said_before_an_import(made: Callable[..., Path], view: str, message: str) -> None:
    folder = made("id,label\n1,anger\n2,fear\n3,joy\n4,joy\n", track_format=LABELS, gold_format=SINGLE, view=view)
    definition = load_definition(folder)
    with pytest.raises(GoldError, match=message):
        load_gold(definition, "main", folder / "gold.csv")
    assert message in errors_of_folder(definition)[0]


def test_values_without_a_label_are_named(made: Callable[..., Path]) -> None:
    folder = made(
        "id,stars\n1,1\n2,2\n3,3\n4,3\n",
        track_format=LABELS,
        gold_format="{kind: table, id: id, columns: [stars], values: [1, 2, 3]}",
        view='{map: {"1": negative}}',
    )
    with pytest.raises(GoldError, match="map has no label for 2, 3"):
        load_gold(load_definition(folder), "main", folder / "gold.csv")


def test_the_key_is_read_strictly(made: Callable[..., Path]) -> None:
    folder = made("id,label\n", track_format=LABELS, gold_format=SINGLE, view="{at_most: 3}")
    with pytest.raises(DefinitionError, match=r"the key at_most does not exist\. Allowed keys: at_least, map"):
        load_definition(folder)
