"""A run's correct and incorrect answers by class, as a confusion matrix and a table, and label co-occurrence."""

from collections.abc import Sequence
from dataclasses import astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix
from scoring.metrics.comparison import EntityComparison, MatrixComparison
from scoring.metrics.entity_matching import matches_strictly, sides
from scoring.reports.tables import TextTable, square

NO_ANSWER = "(none)"

Counts = NDArray[np.intp]


@dataclass(frozen=True, slots=True)
class Confusion:
    """A confusion matrix, with gold classes as rows and the run's classes as columns.

    `counts` has shape (classes, classes). If any item has no class, in the gold or in the run, the last class is
    NO_ANSWER.
    """

    classes: tuple[str, ...]
    counts: Counts

    def table(self) -> TextTable:
        """Return the matrix as a table, with gold classes as rows and the run's classes as columns."""
        return square("Confusion matrix: gold standard in rows, run in columns", self.classes, self.counts.tolist())


@dataclass(frozen=True, slots=True)
class ClassLine:
    """The results for one class.

    The counts are the numbers of items or entities that have the class in the gold standard, in the run, and in both.
    Precision, recall and F1 are None where they would be 0 / 0.
    """

    name: str
    gold: int
    run: int
    both: int
    precision: float | None
    recall: float | None
    f1: float | None


@dataclass(frozen=True, slots=True)
class LabelFrequencies:
    """How often each class occurs in `items` items, and how often each pair of classes occurs together.

    `counts` has shape (classes,). `together` has shape (classes, classes), with `counts` on its diagonal. For soft
    labels, `counts` has sums of weights, and `together` has sums of the smaller of two weights.

    `answers`, with shape (classes,), counts the items with an answer for the class. `answers_where`, with shape
    (classes, classes), counts among the items of the row's class those with an answer for the column's class. Both
    are less than the numbers of items only for tables with empty cells.
    """

    classes: tuple[str, ...]
    items: int
    counts: NDArray[Any]
    together: NDArray[Any]
    answers: NDArray[np.int64]
    answers_where: NDArray[Any]

    @property
    def is_complete(self) -> bool:
        """Whether each item has an answer for each class."""
        return bool((self.answers == self.items).all())

    def table(self) -> TextTable:
        """Return counts by class and their shares of the answers, with the numbers of answers if some are missing."""
        counts = zip(self.classes, self.counts.tolist(), self.answers.tolist(), strict=True)
        rows = [(name, count, answers, _share(count, answers)) for name, count, answers in counts]
        title = f"Labels of {self.items} items"
        if self.is_complete:
            return TextTable(title, ("class", "items", "share"), tuple((row[0], row[1], row[3]) for row in rows))
        return TextTable(title, ("class", "items", "answers", "share"), tuple(rows))

    def cooccurrence(self) -> TextTable:
        """Return the number of items that have both classes, for each pair of classes."""
        return square("Class co-occurrence", self.classes, self.together.tolist())


def confusion(comparison: MatrixComparison, column: str | None = None) -> Confusion:
    """Compute the confusion matrix for items with one class each, or for a table's column (by default the first).

    Raises:
        ValueError: items have several labels or weights, so they do not belong in a single cell.
    """
    gold, run, answered = _judged(comparison, column)
    if comparison.gold.values.dtype == np.bool_ and (gold.sum(axis=1) > 1).any() | (run.sum(axis=1) > 1).any():
        raise ValueError("confusion matrices are not available for items with several labels")
    names = class_names(comparison, column)
    has = np.where(gold.any(axis=1), gold.argmax(axis=1), len(names))
    says = np.where(run.any(axis=1) & answered, run.argmax(axis=1), len(names))
    classes = (*names, NO_ANSWER) if len(names) in {*has.tolist(), *says.tolist()} else names
    counts = np.zeros((len(names) + 1, len(names) + 1), np.intp)
    np.add.at(counts, (has, says), 1)
    return Confusion(classes, counts[: len(classes), : len(classes)])


def by_class(comparison: MatrixComparison, column: str | None = None) -> list[ClassLine]:
    """Return one line per class, or per value of a table's column (by default the first)."""
    gold, run, answered = _judged(comparison, column)
    run = run & answered[:, None]
    has, says, both = (side.sum(axis=0).tolist() for side in (gold, run, gold & run))
    return _lines(class_names(comparison, column), has, says, both)


def by_type(comparison: EntityComparison) -> list[ClassLine]:
    """Return one line per entity type. `both` counts entities with the same boundaries and type on both sides."""
    gold, run = comparison.once(sides)
    right, count = matches_strictly(gold, run), len(comparison.types)
    has, says = (np.bincount(side.kinds, minlength=count).tolist() for side in (gold, run))
    both = np.bincount(run.kinds, right, count).astype(np.intp).tolist()
    return _lines(comparison.types, has, says, both)


def _lines(names: Sequence[str], gold: Sequence[int], run: Sequence[int], both: Sequence[int]) -> list[ClassLine]:
    return [
        ClassLine(name, has, says, hits, _share(hits, says), _share(hits, has), _share(2 * hits, has + says))
        for name, has, says, hits in zip(names, gold, run, both, strict=True)
    ]


def class_table(lines: list[ClassLine]) -> TextTable:
    """Return the lines as a table, one row per class."""
    head = ("class", "gold", "run", "both", "precision", "recall", "F1")
    return TextTable("Scores by class", head, tuple(map(astuple, lines)))


def labels(answers: Matrix) -> LabelFrequencies:
    """Count how often each class and each pair of classes occurs. In a table, count the ones in each column."""
    values, given = answers.values, answers.present.astype(np.int64)
    if values.dtype.kind == "f":
        held: NDArray[Any] = values
        together = np.stack([np.minimum(values, values[:, [place]]).sum(axis=0) for place in range(values.shape[1])])
    else:
        held = ((values == 1) & answers.present).astype(np.int64)
        together = held.T @ held
    return LabelFrequencies(
        classes=answers.columns,
        items=len(answers.ids),
        counts=held.sum(axis=0),
        together=together,
        answers=given.sum(axis=0),
        answers_where=held.T @ given,
    )


def _judged(comparison: MatrixComparison, column: str | None) -> tuple[NDArray[np.bool_], ...]:
    """Return the gold classes, the run's classes, and which items the run answers, for the items with gold.

    Returns:
        Two arrays with shape (items, classes) and one with shape (items,).
    """
    gold = comparison.gold
    if gold.values.dtype.kind == "f":
        raise ValueError("confusion matrices are not available for weights")
    if gold.values.dtype == np.bool_:
        places = [comparison.position(name) for name in class_names(comparison, column)]
        # The gold standard has none of the run's additional classes.
        known = np.pad(gold.values, ((0, 0), (0, comparison.extra)))
        return known[:, places], comparison.run[:, places], comparison.answered
    at = comparison.position(column or gold.matrix.columns[0])
    judged = ~gold.absent[:, at]
    values = np.array([int(name) for name in class_names(comparison, column)])
    here = gold.values[judged, at][:, None] == values
    there = comparison.run[judged, at][:, None] == values
    return here, there, ~comparison.absent[judged, at]


def class_names(comparison: MatrixComparison, column: str | None) -> tuple[str, ...]:
    """Return the classes in the format and the run, or the values in the column."""
    gold = comparison.gold
    if gold.values.dtype == np.bool_:
        extra = comparison.columns[len(gold.tree.classes) :]
        return (*gold.matrix.columns, *(name for name in extra if name not in gold.matrix.columns))
    at = comparison.position(column or gold.matrix.columns[0])
    judged = ~gold.absent[:, at]
    given = comparison.run[judged & ~comparison.absent[:, at], at]
    return tuple(str(value) for value in np.union1d(gold.values[judged, at], given).tolist())


def _share(part: float, whole: int) -> float | None:
    return part / whole if whole else None
