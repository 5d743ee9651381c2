import numpy as np
import pytest

from scoring.answers import Matrix
from scoring.baselines import trivial

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
