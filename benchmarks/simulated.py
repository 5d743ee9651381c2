"""Runs of known quality for simulating intervals and tie groups. Their labels are drawn with fixed probabilities."""

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute
from scoring.metrics.comparison import MatrixComparison

CLASSES = ("a", "b", "c")
CHANCES = (0.6, 0.3, 0.1)  # probabilities of the classes in the gold
_TRUE_ITEMS = 500_000

Places = NDArray[np.intp]


def equal_runs(
    rng: np.random.Generator, runs: int, items: int, right: float, shared: float
) -> dict[str, MatrixComparison]:
    """Return runs that are equally good on the whole population of items.

    On a fraction `shared` of the items, they all give the same answer.
    """
    return graded_runs(rng, [right] * runs, items, right, shared)


def graded_runs(
    rng: np.random.Generator, rights: Sequence[float], items: int, right: float, shared: float
) -> dict[str, MatrixComparison]:
    """Return runs as in `equal_runs`, each with its own probability of being correct on items that are not shared."""
    gold = rng.choice(len(CLASSES), size=items, p=CHANCES)
    standard, common = _standard(gold), _answers(rng, gold, right)
    same = rng.random(items) < shared
    given = (np.where(same, common, _answers(rng, gold, own)) for own in rights)
    return {f"run {number}": _compared(standard, answers) for number, answers in enumerate(given)}


def one_run(rng: np.random.Generator, items: int, right: float) -> MatrixComparison:
    """Return a run that is correct on each item with the same probability."""
    gold = rng.choice(len(CLASSES), size=items, p=CHANCES)
    return _compared(_standard(gold), _answers(rng, gold, right))


@cache
def true_value(key: str, right: float) -> float:
    """Return the score of a run from `one_run` on a very large number of items."""
    value = compute(one_run(np.random.default_rng(0), _TRUE_ITEMS, right), spec_of(key))
    assert value is not None
    return value


def spec_of(key: str) -> MetricSpec:
    """Return the metric with this key, such as F1 of `a` for `f1:a`."""
    name, _, part = key.partition(":")
    return MetricSpec(name, part or None)


def _answers(rng: np.random.Generator, gold: Places, right: float) -> Places:
    other = (gold + rng.integers(1, len(CLASSES), size=len(gold))) % len(CLASSES)
    return np.where(rng.random(len(gold)) < right, gold, other)


def _standard(labels: Places) -> LoadedGold:
    return LoadedGold(_matrix(labels))


def _compared(standard: LoadedGold, labels: Places) -> MatrixComparison:
    found = compare(standard, _matrix(labels))
    assert isinstance(found, MatrixComparison)
    return found


def _matrix(labels: Places) -> Matrix:
    ids = [str(item) for item in range(len(labels))]
    return Matrix(ids, CLASSES, np.eye(len(CLASSES), dtype=bool)[labels])
