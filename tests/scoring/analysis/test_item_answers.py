"""Each item's gold answer and run answer as text, and how similar they are."""

import numpy as np
import pytest

from scoring.analysis.item_answers import ItemAnswers, item_answers
from scoring.answers import Matrix, Texts, Tuples
from scoring.metrics import LoadedGold, compare
from tests.scoring.metrics.examples import read_answers


def compared(kind: str, gold: dict[str, str], run: dict[str, str]) -> ItemAnswers:
    return item_answers(compare(LoadedGold(read_answers(kind, gold)), read_answers(kind, run)))


def test_labels_are_right_if_all_are() -> None:
    found = compared("labels", {"1": "A B", "2": "C"}, {"2": "C", "1": "A"})
    assert (found.measure, found.ids) == ("right", ["1", "2"])
    assert (found.gold, found.run, found.values) == ([("A", "B"), ("C",)], [("A",), ("C",)], [0, 1])


def test_cells_that_the_gold_does_not_judge_are_passed_over() -> None:
    found = compared("table", {"1": "HS 1, TR ?", "2": "HS ?, TR ?"}, {"1": "HS 1, TR 0", "2": "HS 1, TR 1"})
    assert (found.gold, found.run, found.values) == ([("HS 1",), ()], [("HS 1",), ()], [1, None])


def test_only_the_ones_of_a_wide_table_are_listed() -> None:
    found = compared("table", {"1": "a 1, b 0, c 2, d 0"}, {"1": "a 1, b 1, c 0, d 0"})
    assert (found.gold, found.run, found.values) == ([("a", "c 2")], [("a", "b")], [0])


def test_weights_overlap() -> None:
    gold = {"1": "Y 0.75, N 0.25", "2": "Y 1, N 0", "3": "Y 0, N 0"}
    found = compared("soft", gold, {"1": "Y 0.5, N 0.5", "2": "Y 0, N 1", "3": "Y 0, N 0"})
    assert found.measure == "overlap"
    assert found.values == [pytest.approx(0.75 / 1.25), 0, 1]
    assert found.gold[0] == ("Y 0.75", "N 0.25")


def test_numbers_are_not_weights() -> None:
    gold, run = (Matrix(["1"], ("x",), np.array([[value]])) for value in (-0.5, 0.5))
    assert item_answers(compare(LoadedGold(gold), run)).values == [None]


def test_spans_have_the_f1_of_their_characters() -> None:
    found = compared("spans", {"1": "3 4 5 9", "2": "", "3": "0"}, {"3": "", "1": "4 5", "2": ""})
    assert (found.gold, found.run) == ([("3–5", "9"), (), ("0",)], [("4–5",), (), ()])
    assert found.values == [pytest.approx(4 / 6), 1, 0]


def test_tuples_have_the_f1_of_whole_tuples() -> None:
    found = compared("tuples", {"1": "food good, staff bad", "2": ""}, {"2": "", "1": "food good, room bad"})
    assert (found.gold, found.run) == ([("(food; good)", "(staff; bad)"), ()], [("(food; good)", "(room; bad)"), ()])
    assert (found.values, found.measure) == ([0.5, 1], "f1")


@pytest.mark.parametrize(
    ("given", "expected"), [("a\0b", "a\ufffdb"), ("\ud83dx", "\ufffdx"), ("\ud83d\ude00\n", "😀\n")]
)
def test_answers_have_no_characters_that_databases_and_pages_lack(given: str, expected: str) -> None:
    gold, run = Texts(["1"], [("a",)]), Texts(["1"], [(given,)])
    assert item_answers(compare(LoadedGold(gold), run)).run == [(expected,)]
    assert item_answers(compare(LoadedGold(run), gold)).gold == [(expected,)]
    tuples = Tuples.of_sets(("what",), {"1": [(given,)]})
    assert item_answers(compare(LoadedGold(tuples), tuples)).run == [(f"({expected})",)]
