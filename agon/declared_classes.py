"""The classes that answers in memory may have, as the format in task.yaml declares them for answers in files."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TypeAlias

import numpy as np

from scoring.answers import Answers, Entities, Matrix
from scoring.metrics.loaded_gold import spread

Classes: TypeAlias = Sequence[str | int] | Mapping[str, Sequence[int]] | None
"""Classes or entity types, the values of all columns of a table, or the values of each column."""


def with_classes(gold: Answers, run: Answers, classes: Classes) -> tuple[Answers, dict[str, Sequence[int]]]:
    """Return the gold with all classes or entity types, and the values that each column of a table may have.

    By default, these are the ones that occur in the gold or the run.

    Raises:
        ValueError: an answer has none of `classes`, or answers of this kind have no classes.
    """
    if isinstance(gold, Matrix) and isinstance(run, Matrix):
        if gold.values.dtype.kind == "i":
            return gold, _values(gold, run, classes)
        columns = _names(classes, gold.columns, run.columns)
        return _with_columns(gold, columns), {}
    if isinstance(gold, Entities) and isinstance(run, Entities):
        types = _names(classes, gold.types, run.types)
        places = np.array([types.index(name) for name in gold.types], np.intp)
        return replace(gold, types=types, kinds=places[gold.kinds]), {}
    if classes is not None:
        raise ValueError("classes applies only to labels, weights, tables and entities. Remove it.")
    return gold, {}


def _names(classes: Classes, gold: Iterable[str], run: Iterable[str]) -> tuple[str, ...]:
    occurring = tuple(dict.fromkeys([*gold, *run]))
    if classes is None:
        return occurring
    if isinstance(classes, str | Mapping):
        raise ValueError(f"classes must be a list of classes, such as ['YES', 'NO'], not {classes!r}.")
    names = tuple(dict.fromkeys(map(str, classes)))
    if unknown := [name for name in occurring if name not in names]:
        raise ValueError(f"{unknown[0]} is not one of the classes {', '.join(names)}.")
    return names


def _with_columns(gold: Matrix, columns: tuple[str, ...]) -> Matrix:
    """Return labels or weights with these columns. Labels lack the added classes, and their weights are absent."""
    if columns == gold.columns:
        return gold
    values = spread(gold.values, gold.columns, columns)
    absent = None if values.dtype == np.bool_ else ~spread(gold.present, gold.columns, columns)
    return replace(gold, columns=columns, values=values, absent=absent)


def _values(gold: Matrix, run: Matrix, classes: Classes) -> dict[str, Sequence[int]]:
    """Return the values that each column may have."""
    found: dict[str, Sequence[int]] = {}
    for column in gold.columns:
        occurring = sorted({value for side in (gold, run) for value in _cells(side, column)})
        given = classes.get(column) if isinstance(classes, Mapping) else classes
        found[column] = occurring if given is None else [int(value) for value in given]
        if unknown := [value for value in occurring if value not in found[column]]:
            raise ValueError(
                f"{unknown[0]} is not one of the classes of {column}: {', '.join(map(str, found[column]))}."
            )
    return found


def _cells(side: Matrix, column: str) -> list[int]:
    """Return the values in a column that are not absent. A column that does not exist has none."""
    if column not in side.columns:
        return []
    at = side.columns.index(column)
    values: list[int] = side.values[side.present[:, at], at].tolist()
    return values
