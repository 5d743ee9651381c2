"""A short notation for the small sets of answers in tests of metrics."""

from collections.abc import Mapping, Sequence

import numpy as np

from scoring.answers import Answers, Matrix, Spans
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute

Hierarchy = Mapping[str, Sequence[str]]


def labels(given: Mapping[str, str | Sequence[str]], classes: Sequence[str] = ()) -> Matrix:
    """Return labels. `given` maps items to a label, or to several labels separated by spaces."""
    lists = [value.split() if isinstance(value, str) else list(value) for value in given.values()]
    columns = tuple(dict.fromkeys([*classes, *(name for names in lists for name in names)]))
    values = np.array([[name in names for name in columns] for names in lists], bool).reshape(len(lists), len(columns))
    return Matrix(list(given), columns, values)


def soft(given: Mapping[str, Mapping[str, float]]) -> Matrix:
    """Return weights. `given` maps items to the weight of each class. Classes that an item lacks are absent."""
    columns = tuple(dict.fromkeys(name for weights in given.values() for name in weights))
    values = np.array([[weights.get(name, 0.0) for name in columns] for weights in given.values()], float)
    absent = np.array([[name not in weights for name in columns] for weights in given.values()], bool)
    return Matrix(list(given), columns, values.reshape(absent.shape), absent)


def table(columns: str, given: Mapping[str, str], groups: Sequence[str] | None = None) -> Matrix:
    """Return a table.

    `columns` are separated by spaces, and `given` maps items to a digit per column, or `-` for none.
    """
    names = tuple(columns.split())
    cells = [list(digits.replace(" ", "")) for digits in given.values()]
    values = np.array([[int(cell) if cell != "-" else 0 for cell in row] for row in cells], np.int64)
    absent = np.array([[cell == "-" for cell in row] for row in cells], bool)
    extra = {} if groups is None else {"group": list(groups)}
    return Matrix(list(given), names, values.reshape(len(cells), len(names)), absent, extra)


def spans(given: Mapping[str, Sequence[int]]) -> Spans:
    """Return spans. `given` maps items to their character offsets."""
    offsets = [offset for own in given.values() for offset in own]
    starts = np.cumsum([0, *(len(own) for own in given.values())])
    return Spans.of_offsets(list(given), np.array(offsets, np.int64), starts)


def value(
    key: str,
    gold: Answers,
    run: Answers,
    hierarchy: Hierarchy | None = None,
    count_outside: bool = False,
    **options: str,
) -> float | None:
    """Return the score of `run` for a metric key such as `f1:YES`."""
    name, _, part = key.partition(":")
    return compute(compare(LoadedGold(gold, hierarchy), run, count_outside), MetricSpec(name, part or None, options))
