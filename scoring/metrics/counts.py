"""Counts per class, for precision, recall, F1, accuracy, kappa and Matthews correlation."""

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.distinct import distinct

Cells = NDArray[Any]  # Boolean or integer


class ClassCounts(NamedTuple):
    """Counts per class, each with shape (…, classes).

    They count agreements of gold and run on the class, its occurrences in the run, and its occurrences in the gold.
    """

    hits: Cells
    predicted: Cells
    actual: Cells


@dataclass(frozen=True, slots=True)
class ClassMarks:
    """Counts by item and class: cells in which gold and run agree, the run has the class, the gold has the class.

    `hits`, `says` and `has` have shape (items, classes), for classes or values that the gold or its format knows.
    `others` (items, further classes) marks classes that only the run has. `judged` (items,) counts the answers judged
    by the gold, and `given` (items,) counts those that the run contains. `outside` (classes,), `other_outside` and
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
        """The totals over all items. Answers to items without gold are included in the predictions."""
        return ClassCounts(total(self.hits), total(self.says) + self.outside, total(self.has))

    def per_item(self) -> ClassCounts:
        """Each item's contribution to the totals.

        Answers to items without gold are distributed evenly over the items.
        """
        return ClassCounts(self.hits, self.says + self.outside / max(1, len(self.says)), self.has)

    def only(self, chosen: NDArray[np.bool_]) -> "ClassMarks":
        """Return the marks of the selected classes."""
        return replace(
            self,
            classes=tuple(name for name, keep in zip(self.classes, chosen, strict=True) if keep),
            hits=self.hits[:, chosen],
            says=self.says[:, chosen],
            has=self.has[:, chosen],
            outside=self.outside[chosen],
        )

    def of(self, name: str | None) -> "ClassMarks":
        """Return the marks of one class, which are empty if the gold does not know the class."""
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
    """Return the marks of the label classes, or of the values in a table column (by default the only column)."""
    if comparison.run.dtype == np.bool_:
        return comparison.once(_label_marks)
    return comparison.once(_value_marks, column or comparison.gold.matrix.columns[0])


def positive_marks(comparison: MatrixComparison, column: str | None) -> ClassMarks | None:
    """Return the marks of the value 1 in a column (None: in all columns together), over the cells judged by the gold.

    Return None if the run answers no judged item, which means that it lacks an optional part.
    """
    chosen = [column] if column else comparison.gold.matrix.columns
    at = [comparison.position(name) for name in chosen]
    judged = ~comparison.gold.absent[:, at]
    if not comparison.answered[judged.any(axis=1)].any():
        return None
    gold = (comparison.gold.values[:, at] == 1) & judged
    run = (comparison.run[:, at] == 1) & judged
    return ClassMarks(
        classes=("1",),
        hits=_across(gold & run)[:, None],
        says=_across(run)[:, None],
        has=_across(gold)[:, None],
        others=np.zeros((len(gold), 0), bool),
        judged=_across(judged),
        given=_across(judged & ~comparison.absent[:, at]),
        outside=np.array([np.count_nonzero(comparison.outside[:, at] == 1)]),
        other_outside=0,
        given_outside=comparison.outside[:, at].size,
    )


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


def _value_marks(comparison: MatrixComparison, column: str) -> ClassMarks:
    at = comparison.position(column)
    judged = ~comparison.gold.absent[:, at]
    gold, run = comparison.gold.values[:, at], comparison.run[:, at]
    given = judged & ~comparison.absent[:, at]
    declared = np.array(comparison.gold.declared.get(column, ()), np.int64)
    values = distinct(np.append(gold[judged], declared))
    has, says = (gold[:, None] == values) & judged[:, None], (run[:, None] == values) & given[:, None]
    unknown = given & ~says.any(axis=1)
    further = distinct(run[unknown])
    outside = np.count_nonzero(comparison.outside[:, [at]] == values, axis=0)
    return ClassMarks(
        classes=tuple(str(value) for value in values),
        hits=has & says,
        says=says,
        has=has,
        others=(run[:, None] == further) & unknown[:, None],
        judged=judged,
        given=given,
        outside=outside,
        other_outside=len(comparison.outside) - int(outside.sum()),
        given_outside=len(comparison.outside),
    )


def _across(cells: NDArray[np.bool_]) -> Cells:
    """Count the cells of each item that are True."""
    result: Cells = np.count_nonzero(cells, axis=1)
    return result
