"""Gold and run as sets of classes closed under the hierarchy, for ICM and the hierarchical F-measures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Numbers

Members = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassSets:
    """Shape (items, classes): true where an item has the class or one of its descendants.

    The classes are those of the gold's tree; in a table then the class `none` of items without any other; then those
    that only the run has.
    """

    gold: Members
    run: Members


def class_sets(comparison: MatrixComparison) -> ClassSets:
    """Both sides of `comparison`, closed. An item that the run does not have has no class at all."""
    gold = comparison.gold.once(gold_classes)
    known = len(comparison.gold.tree.classes)
    run = _close(comparison.gold, comparison.run[:, :known] > 0)
    run &= comparison.answered[:, None]
    unknown = comparison.run[:, known:] > 0
    nowhere = np.zeros(unknown.shape, bool)
    return ClassSets(np.hstack([gold, nowhere]), np.hstack([run, unknown]))


def weigh(sets: Members, weights: Numbers) -> Numbers:
    """The sum of the weights of each item's classes."""
    sums: Numbers = np.einsum("ic,c->i", sets, weights)  # not @, whose last bits depend on the number of threads
    return sums


def gold_classes(gold: LoadedGold) -> Members:
    """The gold's sets of classes; its part of `class_sets`."""
    return _close(gold, gold.values > 0)


def parents(gold: LoadedGold) -> NDArray[np.intp]:
    """The parent of each class that the gold knows, -1 at the top level."""
    return np.pad(gold.tree.parents, (0, int(_is_table(gold))), constant_values=-1)


def _close(gold: LoadedGold, members: Members) -> Members:
    """The sets closed upwards. In a table, items without any class share one, `none`."""
    closed = gold.tree.close(members)
    if not _is_table(gold):
        return closed
    return np.hstack([closed, ~closed.any(axis=1, keepdims=True)])


def _is_table(gold: LoadedGold) -> bool:
    return gold.matrix.values.dtype.kind == "i"
