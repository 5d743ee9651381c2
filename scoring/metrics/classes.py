"""Class sets of gold and run that include all ancestors, for ICM and the hierarchical F-measures."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Numbers

Members = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class ClassSets:
    """Class sets with shape (items, classes): True where an item has the class or one of its descendants.

    The classes of the gold's tree come first. In a table, they are followed by the class `none`, for items without any
    other class. Classes that only the run has come last.
    """

    gold: Members
    run: Members


def class_sets(comparison: MatrixComparison) -> ClassSets:
    """Return the class sets of both sides with all ancestors. Items missing from the run have no classes."""
    gold = comparison.gold.once(gold_classes)
    known = len(comparison.gold.tree.classes)
    run = _close(comparison.gold, comparison.run[:, :known] > 0)
    run &= comparison.answered[:, None]
    unknown = comparison.run[:, known:] > 0
    nowhere = np.zeros(unknown.shape, bool)
    return ClassSets(np.hstack([gold, nowhere]), np.hstack([run, unknown]))


def weigh(sets: Members, weights: Numbers) -> Numbers:
    """Sum the weights of each item's classes."""
    # np.einsum is used instead of @ because the last bits of @ depend on the number of threads.
    sums: Numbers = np.einsum("ic,c->i", sets, weights)
    return sums


def gold_classes(gold: LoadedGold) -> Members:
    """Return the gold's part of `class_sets`."""
    return _close(gold, gold.values > 0)


def parents(gold: LoadedGold) -> NDArray[np.intp]:
    """Return the index of each gold class's parent, or -1 at the top level."""
    return np.pad(gold.tree.parents, (0, int(_is_table(gold))), constant_values=-1)


def _close(gold: LoadedGold, members: Members) -> Members:
    """Add all ancestors to the sets. In a table, give items without any class the class `none`."""
    closed = gold.tree.close(members)
    if not _is_table(gold):
        return closed
    return np.hstack([closed, ~closed.any(axis=1, keepdims=True)])


def _is_table(gold: LoadedGold) -> bool:
    return gold.matrix.values.dtype.kind == "i"
