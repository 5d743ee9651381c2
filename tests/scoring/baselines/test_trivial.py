from pathlib import Path

import numpy as np
import pytest

from scoring import load_definition
from scoring.__main__ import main
from scoring.answers import Matrix
from scoring.baselines import trivial
from scoring.task_folder.folder import errors_of_folder

LABELS = Matrix(["1", "2", "3"], ("NO", "YES", "NEVER"), np.array([[1, 0, 0], [1, 0, 0], [0, 1, 0]], bool))
TABLE = Matrix(["1_1", "1_2", "2_1"], ("HS", "TR"), np.array([[0, 1], [0, 1], [1, 0]]))


def test_constants_need_no_gold() -> None:
    ones = trivial.constant(["a", "b"], ["HS", "TR"], 1)
    assert ones.ids == ["a", "b"]
    assert ones.values.tolist() == [[1, 1], [1, 1]]


def test_majority_and_minority_of_labels() -> None:
    assert trivial.majority(["x", "y"], LABELS).values.tolist() == [[True, False, False]] * 2
    assert trivial.minority(["x"], LABELS).values.tolist() == [[False, True, False]]


def test_majority_and_minority_of_a_table_go_by_column() -> None:
    assert trivial.majority(["x"], TABLE).values.tolist() == [[0, 1]]
    assert trivial.minority(["x"], TABLE).values.tolist() == [[1, 0]]


def test_majority_of_weights_puts_all_weight_on_the_heaviest_class() -> None:
    gold = Matrix(["1", "2"], ("NO", "YES"), np.array([[0.4, 0.6], [0.3, 0.7]]))
    assert trivial.majority(["x"], gold).values.tolist() == [[0.0, 1.0]]
    assert trivial.minority(["x"], gold).values.tolist() == [[1.0, 0.0]]


def test_the_median_of_each_column_is_one_of_its_values() -> None:
    gold = Matrix(["1", "2", "3", "4"], ("stars", "price"), np.array([[1, 9.5], [5, 0.5], [2, 2.5], [1, 7]]))
    assert trivial.median(["x", "y"], gold).values.tolist() == [[1, 2.5]] * 2


NUMBERS = """
agon: 1
slug: numbers
title: Numbers
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: table, id: id, columns: {stars: {kind: ordinal, values: [1, 2, 3]}, price: {kind: number}}}
    items: items.txt
    metrics: ["mae:stars"]
    rank_by: "mae:stars"
naming: {run: "{track}_{team}"}
gold: [{track: one, split: test, file: gold.csv}]
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
baselines:
  - {name: Median, files: "{split}_median.csv", recipe: {method: median}}
"""


def test_tables_of_numbers_have_a_median_that_a_recipe_writes(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(NUMBERS, encoding="utf-8")
    (tmp_path / "items.txt").write_text("a\nb\nc\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text("id,stars,price\na,3,0.5\nb,3,2\nc,1,-7.25\n", encoding="utf-8")
    [missing] = errors_of_folder(load_definition(tmp_path))
    assert missing.endswith("Write it with agon baselines --declared, or correct task.yaml.")
    assert main(["baselines", "--task", str(tmp_path), "--declared"]) == 0
    written = (tmp_path / "test_median.csv").read_text(encoding="utf-8")
    assert written == "id,stars,price\na,3,0.5\nb,3,0.5\nc,3,0.5\n"
    assert errors_of_folder(load_definition(tmp_path)) == []
    labels = NUMBERS.replace("{stars: {kind: ordinal, values: [1, 2, 3]}, price: {kind: number}}", "[stars, price]")
    labels = labels.replace("mae:stars", "f1_macro:stars")
    (tmp_path / "task.yaml").write_text(labels, encoding="utf-8")
    (tmp_path / "gold.csv").write_text("id,stars,price\na,1,0\nb,1,1\nc,0,1\n", encoding="utf-8")
    assert main(["baselines", "--task", str(tmp_path), "--only", "median"]) == 1


def test_weighted_random_is_seeded_and_follows_the_gold() -> None:
    ids = [str(number) for number in range(3000)]
    drawn = trivial.weighted_random(ids, LABELS, seed=5)
    assert drawn.values.sum(axis=1).tolist() == [1] * 3000
    assert drawn.values.mean(axis=0) == pytest.approx([2 / 3, 1 / 3, 0], abs=0.03)
    assert (drawn.values == trivial.weighted_random(ids, LABELS, seed=5).values).all()
    assert (drawn.values != trivial.weighted_random(ids, LABELS, seed=6).values).any()


def test_spans_of_nothing_and_of_everything() -> None:
    nothing = trivial.empty_spans(["1", "2"])
    assert [nothing.offsets(row) for row in range(2)] == [[], []]
    everything = trivial.every_character({"1": "abc", "2": "", "3": "é!"})
    assert [everything.offsets(row) for row in range(len(everything.ids))] == [[0, 1, 2], [], [0, 1]]


ENTITIES = """
agon: 1
slug: names
title: Names
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: conll, classes: [PER, LOC]}
    items: items.txt
    texts: texts.tsv
    metrics: [entity_f1, entity_f1_surface]
    rank_by: entity_f1
naming: {run: "{track}_{team}"}
gold: [{track: one, split: test, file: gold.conll}]
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""


def test_entities_known_from_training_are_found_again_the_longest_first(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(ENTITIES, encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / "texts.tsv").write_text("id\ttext\n1\tAna of San Jose\n2\tSan Jose Ana Ana\n", encoding="utf-8")
    gold = "Ana B-PER\nof O\nSan B-LOC\nJose I-LOC\n\nSan B-PER\nJose I-PER\nAna I-PER\nAna O\n"
    (tmp_path / "gold.conll").write_text(gold, encoding="utf-8")
    train = "San B-LOC\nJose I-LOC\n\nSan B-LOC\nJose I-LOC\n\nSan B-PER\nJose I-PER\n\nSan B-PER\n\nAna B-PER\n"
    (tmp_path / "train.conll").write_text(train, encoding="utf-8")
    out = tmp_path / "out"
    words = ["baselines", "--task", str(tmp_path), "--train", str(tmp_path / "train.conll"), "--out", str(out)]
    assert main(words) == 0
    written = {path.stem: path.read_text(encoding="utf-8") for path in (out / "test/one").iterdir()}
    assert written.keys() == {"gold", "nothing", "known-entities"}
    assert written["gold"].split() == gold.split()
    assert written["nothing"].split() == [
        "Ana",
        "O",
        "of",
        "O",
        "San",
        "O",
        "Jose",
        "O",
        "San",
        "O",
        "Jose",
        "O",
        "Ana",
        "O",
        "Ana",
        "O",
    ]
    tags = written["known-entities"].split()[1::2]
    assert tags == ["B-PER", "O", "B-LOC", "I-LOC", "B-LOC", "I-LOC", "B-PER", "B-PER"]


TUPLES = """
agon: 1
slug: tuples
title: Tuples
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: tuples, columns: [from, to], file: table, id: id}
    items: items.txt
    metrics: [tuple_f1]
    rank_by: tuple_f1
naming: {run: "{track}_{team}"}
gold: [{track: one, split: test, file: gold.csv}]
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""


def test_baselines_of_tuples_are_the_gold_and_nothing(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TUPLES, encoding="utf-8")
    (tmp_path / "items.txt").write_text("a\nb\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text("id,from,to\na,Ann,Rome\na,Ann,Oslo\n", encoding="utf-8")
    out = tmp_path / "out"
    assert main(["baselines", "--task", str(tmp_path), "--out", str(out)]) == 0
    written = {path.stem: path.read_text(encoding="utf-8") for path in (out / "test/one").iterdir()}
    assert written == {"gold": "id,from,to\na,Ann,Oslo\na,Ann,Rome\nb,,\n", "nothing": "id,from,to\na,,\nb,,\n"}
