"""Counts per class, for precision, recall, F1, accuracy, kappa and Matthews correlation."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.distinct import distinct

Cells = NDArray[Any]  # Boolean or integer


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
    return comparison.once(_value_marks, column or comparison.gold.matrix.columns[0])


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
    at = [comparison.position(name) for name in columns]
    judged = ~comparison.gold.absent[:, at]
    if not comparison.answered[judged.any(axis=1)].any():
        return None
    gold = [(comparison.gold.values[:, at] == value) & judged for value in values]
    run = [(comparison.run[:, at] == value) & judged & ~comparison.absent[:, at] for value in values]
    outside = comparison.outside[:, at]
    return ClassMarks(
        classes=tuple(map(str, values)),
        hits=np.stack([_across(one & other) for one, other in zip(gold, run, strict=True)], axis=1),
        says=np.stack([_across(one) for one in run], axis=1),
        has=np.stack([_across(one) for one in gold], axis=1),
        others=np.zeros((len(judged), 0), bool),
        judged=_across(judged),
        given=_across(judged & ~comparison.absent[:, at]),
        outside=np.array([np.count_nonzero(outside == value) for value in values]),
        other_outside=0,
        given_outside=outside.size,
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
    """Count the True cells of each item."""
    result: Cells = np.count_nonzero(cells, axis=1)
    return result
