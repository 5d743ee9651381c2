"""Distances between soft labels: scales, unanswered items, and logarithms of small weights."""

from math import log

import numpy as np
import pytest

from tests.scoring.metrics.answers import soft, value


@pytest.mark.parametrize(("classes", "distance"), [("abc", 2), (("1", "2", "5"), 4), (("5", "2", "1"), 4)])
def test_a_class_is_at_the_number_that_it_is_named_by(classes: tuple[str, ...], distance: float) -> None:
    first, _, last = classes
    gold, run = soft({"1": dict.fromkeys(classes, 0.0) | {first: 1}}), soft({"1": {last: 1}})
    assert value("wasserstein", gold, run) == distance


def test_items_without_weights() -> None:
    gold = soft({"1": {"a": 1, "b": 0, "c": 0}, "2": {"a": 0, "b": 0, "c": 0}})
    nothing = soft({"1": {"a": 0, "b": 0, "c": 0}, "2": {"a": 1, "b": 0, "c": 0}})
    assert value("wasserstein", gold, nothing) == 2
    assert value("jensen_shannon_distance", gold, nothing) == 1
    assert value("jensen_shannon", gold, nothing, base="e") == pytest.approx(log(2))
    assert value("kullback_leibler", gold, nothing, epsilon="0.001") == pytest.approx(log(1000))
    assert value("manhattan", gold, nothing) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_scorer_of_lewidi(seed: int) -> None:
    """Compare with the task's starting kit, which clips to epsilon, adds 1e-9, and averages over the items."""
    rng = np.random.default_rng(seed)
    gold, run = rng.multinomial(5, [0.6, 0.4], (2, 30)) / 5
    clipped = np.clip(run, 1e-12, 1 - 1e-12)
    official = -np.sum(gold * np.log(clipped + 1e-9)) / len(gold)
    sides = [soft({str(at): {"0": row[0], "1": row[1]} for at, row in enumerate(side)}) for side in (gold, run)]
    assert value("soft_cross_entropy", *sides, added="1e-9") == pytest.approx(official, abs=1e-9)


def test_epsilon_bounds_what_a_weight_of_nothing_costs() -> None:
    gold, run = soft({"1": {"a": 1, "b": 0}}), soft({"1": {"a": 0, "b": 1}})
    assert value("soft_cross_entropy", gold, run, epsilon="0.01", base="10") == pytest.approx(2)
