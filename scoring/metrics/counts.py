"""Counts per class, for precision, recall, F1, accuracy, kappa and Matthews correlation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.distinct import distinct

Cells = NDArray[Any]  # Boolean or integer
CELLS_AT_ONCE = 100_000  # of a table, of which arrays of indexes are in memory at the same time


class ClassCounts(NamedTuple):
    """Counts per class, each with shape (…, classes).

    `hits` counts where gold and run agree, `predicted` how often the run has the class, and `actual` how often the gold
    has it.
    """

    hits: Cells
    predicted: Cells
    actual: Cells


@dataclass(frozen=True, slots=True)
class ClassMarks:
    """Marks by item and class: where gold and run agree, where the run has the class, and where the gold has it.

    `hits`, `says` and `has` have shape (items, classes), for classes or values that the gold or its format knows.
    `others` (items, other classes) marks classes that only the run has. `judged` (items,) counts the answers that the
    gold judges, and `given` (items,) counts those that the run contains. `outside` (classes,), `other_outside` and
    `given_outside` count the run's answers to items without gold, if the track counts them.
    """

    classes: tuple[str, ...]
    hits: Cells
    says: Cells
    has: Cells
    others: Cells
    judged: Cells
    given: Cells
    outside: Cells
    other_outside: int
    given_outside: int

    def totals(self) -> ClassCounts:
        """Return the totals over all items. Answers to items without gold are included in the predictions."""
        return ClassCounts(total(self.hits), total(self.says) + self.outside, total(self.has))

    def per_item(self) -> ClassCounts:
        """Return each item's contribution to the totals.

        Answers to items without gold are spread evenly over the items.
        """
        return ClassCounts(self.hits, self.says + self.outside / max(1, len(self.says)), self.has)

    def only(self, chosen: NDArray[np.bool_]) -> "ClassMarks":
        """Return the marks for the selected classes."""
        return replace(
            self,
            classes=tuple(name for name, keep in zip(self.classes, chosen, strict=True) if keep),
            hits=self.hits[:, chosen],
            says=self.says[:, chosen],
            has=self.has[:, chosen],
            outside=self.outside[chosen],
        )

    def of(self, name: str | None) -> "ClassMarks":
        """Return the marks for one class. They are empty if the gold does not know the class."""
        return self.only(np.array([own == name for own in self.classes], bool))

    def pooled(self) -> "ClassMarks":
        """Combine all classes into one, including classes that only the run has."""
        return replace(
            self,
            classes=("",),
            hits=np.count_nonzero(self.hits, axis=1)[:, None],
            says=(np.count_nonzero(self.says, axis=1) + _across(self.others))[:, None],
            has=np.count_nonzero(self.has, axis=1)[:, None],
            outside=np.array([self.outside.sum() + self.other_outside]),
        )


def total(cells: Cells) -> Cells:
    """Sum over the items."""
    if cells.dtype == np.bool_:
        return np.array([np.count_nonzero(column) for column in cells.T], np.int64)  # much faster than with `axis`
    result: Cells = cells.sum(axis=0)
    return result


def marks(comparison: MatrixComparison, column: str | None) -> ClassMarks:
    """Return the marks for the label classes, or for the values in a table column (by default the only column)."""
    if comparison.run.dtype == np.bool_:
        return comparison.once(_label_marks)
    # They are not kept, because a table can have thousands of columns.
    return _value_marks(comparison, column or comparison.gold.matrix.columns[0])


def positive_marks(comparison: MatrixComparison, column: str | None) -> ClassMarks | None:
    """Return the marks for the value 1 in a column (None: in all columns together), for cells with a gold value.

    Return None if the run answers no item that has gold. This happens if it left out the optional items.
    """
    return _marks_of_values(comparison, [column] if column else comparison.gold.matrix.columns, [1])


def marks_of_all_columns(comparison: MatrixComparison) -> ClassMarks | None:
    """Return the marks for each value in the gold, in all columns together, for cells with a gold value.

    Return None if the run answers no item that has gold. This happens if it left out the optional items.
    """
    gold = comparison.gold
    at = [comparison.position(name) for name in gold.matrix.columns]
    values = distinct(gold.values[:, at][~gold.absent[:, at]])
    return _marks_of_values(comparison, gold.matrix.columns, values.tolist())


def _marks_of_values(comparison: MatrixComparison, columns: Sequence[str], values: Sequence[int]) -> ClassMarks | None:
    """Return how many of each item's cells are marked with each of the values, which are sorted."""
    at = [comparison.position(name) for name in columns]
    judged = ~comparison.gold.absent[:, at]
    if not comparison.answered[judged.any(axis=1)].any():
        return None
    given = judged & ~comparison.absent[:, at]
    known = np.array(values, np.int64)
    hits, says, has = (np.zeros((len(judged), len(known)), np.int16) for _ in range(3))  # no table has more columns
    step = max(1, CELLS_AT_ONCE // len(at))
    for start in range(0, len(judged), step):
        rows = slice(start, start + step)
        gold = np.where(judged[rows], _places(comparison.gold.values[rows, at], known), -1)
        run = np.where(given[rows], _places(comparison.run[rows, at], known), -1)
        hits[rows] = _tallied(np.where(gold == run, gold, -1), len(known))
        says[rows] = _tallied(run, len(known))
        has[rows] = _tallied(gold, len(known))
    outside = comparison.outside[:, at]
    return ClassMarks(
        classes=tuple(map(str, values)),
        hits=hits,
        says=says,
        has=has,
        others=np.zeros((len(judged), 0), bool),
        judged=_across(judged),
        given=_across(given),
        outside=np.array([np.count_nonzero(outside == value) for value in values]),
        other_outside=0,
        given_outside=outside.size,
    )


def _places(cells: Cells, values: Cells) -> NDArray[np.intp]:
    """Return the index of each cell in `values`, which are sorted, or −1 for other cells."""
    if not len(values):
        return np.full(cells.shape, -1, np.intp)
    places = np.minimum(np.searchsorted(values, cells), len(values) - 1)
    return np.where(values[places] == cells, places, -1)


def _tallied(places: NDArray[np.intp], count: int) -> Cells:
    """Return how often each of `count` places occurs in each row (rows, columns). Negative places do not count."""
    rows, columns = np.nonzero(places >= 0)
    tally: Cells = np.bincount(rows * count + places[rows, columns], minlength=len(places) * count)
    return tally.reshape(len(places), count)


def _marked(places: NDArray[np.intp], count: int) -> NDArray[np.bool_]:
    """Return a mark in the column of each item's place (items,), and none for negative places."""
    found = np.zeros((len(places), count), np.bool_, "F")  # each column is counted later
    rows = np.flatnonzero(places >= 0)
    found[rows, places[rows]] = True
    return found


def _label_marks(comparison: MatrixComparison) -> ClassMarks:
    known = len(comparison.gold.tree.classes)
    gold, run = comparison.gold.values, comparison.run[:, :known]
    return ClassMarks(
        classes=comparison.gold.tree.classes,
        hits=gold & run,
        says=run,
        has=gold,
        others=comparison.run[:, known:],
        judged=np.ones(len(gold), bool),
        given=comparison.answered,
        outside=np.count_nonzero(comparison.outside[:, :known], axis=0),
        other_outside=int(np.count_nonzero(comparison.outside[:, known:])),
        given_outside=len(comparison.outside),
    )


@dataclass(frozen=True, slots=True)
class _ValuesOfColumn:
    """The values of a column that the gold or its format knows, sorted, and where they are.

    `right` and `said` (items,) have the index of the gold's and the run's value in `values`, or −1. `judged` and
    `given` (items,) mark items with a gold value, and those that the run answers. `outside` (values,) counts the run's
    answers to items without gold.
    """

    values: NDArray[np.int64]
    right: NDArray[np.intp]
    said: NDArray[np.intp]
    judged: NDArray[np.bool_]
    given: NDArray[np.bool_]
    outside: Cells

    @property
    def hits(self) -> NDArray[np.intp]:
        """The index of each item's value (items,), or −1 where gold and run differ."""
        return np.where(self.right == self.said, self.right, -1)


def _values_of_column(comparison: MatrixComparison, at: int, column: str) -> _ValuesOfColumn:
    judged = ~comparison.gold.absent[:, at]
    gold, run = comparison.gold.values[:, at], comparison.run[:, at]
    given = judged & ~comparison.absent[:, at]
    declared = np.array(comparison.gold.declared.get(column, ()), np.int64)
    values = distinct(np.append(gold[judged], declared))
    right, said = np.where(judged, _places(gold, values), -1), np.where(given, _places(run, values), -1)
    outside = np.count_nonzero(comparison.outside[:, [at]] == values, axis=0)
    return _ValuesOfColumn(values, right, said, judged, given, outside)


def totals_of_column(comparison: MatrixComparison, column: str) -> ClassCounts:
    """Return the totals of the `marks` for the values in a column, without the marks, which take far more time."""
    own = _values_of_column(comparison, comparison.position(column), column)
    hits, predicted, actual = (
        np.bincount(places + 1, minlength=len(own.values) + 1)[1:] for places in (own.hits, own.said, own.right)
    )
    return ClassCounts(hits, predicted + own.outside, actual)


def _value_marks(comparison: MatrixComparison, column: str) -> ClassMarks:
    at = comparison.position(column)
    own, run = _values_of_column(comparison, at, column), comparison.run[:, at]
    unknown = own.given & (own.said < 0)
    further = distinct(run[unknown])
    return ClassMarks(
        classes=tuple(str(value) for value in own.values),
        hits=_marked(own.hits, len(own.values)),
        says=_marked(own.said, len(own.values)),
        has=_marked(own.right, len(own.values)),
        others=_marked(np.where(unknown, _places(run, further), -1), len(further)),
        judged=own.judged,
        given=own.given,
        outside=own.outside,
        other_outside=len(comparison.outside) - int(own.outside.sum()),
        given_outside=len(comparison.outside),
    )


def _across(cells: NDArray[np.bool_]) -> Cells:
    """Count the True cells of each item."""
    result: Cells = np.count_nonzero(cells, axis=1)
    return result
