"""Adapt a gold file to a track: turn numbers into labels, using a threshold, and rename or merge labels."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from scoring.answers import AnswerKind, Answers, Matrix
from scoring.definition.data import GoldView
from scoring.metrics.loaded_gold import spread


class ViewError(Exception):
    """The view does not match the gold file. The message explains why."""


def viewed(gold: Answers, view: GoldView, kind: AnswerKind, columns: Sequence[str]) -> Matrix:
    """Return the gold as answers of `kind`. `columns` are the track's classes or dimensions.

    Raises:
        ViewError: the gold has labels that the track lacks, or answers that cannot be converted.
    """
    if not isinstance(gold, Matrix):
        raise ViewError("a view can only be used with labels, weights and tables")
    if view.at_least is not None:
        gold = _from(gold, view.at_least)
    is_column_of_labels = kind == "labels" and gold.values.dtype != np.bool_ and view.map and len(gold.columns) == 1
    named = _labels_of_column(gold, view) if is_column_of_labels else _renamed(gold, view)
    unknown = [name for name in named.columns if name not in columns]
    if unknown:
        raise ViewError(f"{', '.join(unknown)} is not one of {', '.join(columns)}: add it to map")
    return _as_kind(_under(named, tuple(columns)), kind, view)


def _from(gold: Matrix, bound: float) -> Matrix:
    """Replace values that are at least `bound` with 1, and all others with 0."""
    if gold.values.dtype == np.bool_:
        raise ViewError("at_least requires numbers or weights, but the file contains labels")
    return replace(gold, values=(gold.values >= bound).astype(np.int64))


def _labels_of_column(gold: Matrix, view: GoldView) -> Matrix:
    """Return one label per item: the one that `map` assigns to the item's value in the only column."""
    if gold.absent is not None and gold.absent.any():
        raise ViewError(f"item {gold.ids[int(np.argmax(gold.absent[:, 0]))]} has no value")
    cells = [f"{cell:g}" for cell in gold.values[:, 0].tolist()]
    unmapped = sorted({*cells} - view.map.keys())
    if unmapped:
        raise ViewError(f"map has no label for {', '.join(unmapped[:5])}")
    names = tuple(dict.fromkeys(view.map.values()))
    places = {value: names.index(name) for value, name in view.map.items()}
    return Matrix(gold.ids, names, np.eye(len(names), dtype=bool)[[places[cell] for cell in cells]], None, gold.extra)


def _renamed(gold: Matrix, view: GoldView) -> Matrix:
    """Rename labels. An item has a merged label if it has any of the original labels. Their weights are added up."""
    unused = [name for name in view.map if name not in gold.columns]
    if unused:
        raise ViewError(f"map contains {', '.join(unused)}, but the gold has only {', '.join(gold.columns)}")
    new = [view.map.get(name, name) for name in gold.columns]
    names = tuple(dict.fromkeys(new))
    groups = [[place for place, name in enumerate(new) if name == merged] for merged in names]
    together = np.add if gold.values.dtype.kind == "f" else np.maximum
    values = np.stack([together.reduce(gold.values[:, own], axis=1) for own in groups], axis=1)
    absent = None
    if gold.absent is not None:
        absent = np.stack([gold.absent[:, own].all(axis=1) for own in groups], axis=1)
    return Matrix(gold.ids, names, values, absent, gold.extra)


def _under(gold: Matrix, columns: tuple[str, ...]) -> Matrix:
    """Reorder the columns to match the track. Classes missing from the gold get empty columns."""
    absent = ~spread(gold.present, gold.columns, columns)
    values = spread(gold.values, gold.columns, columns)
    return Matrix(gold.ids, columns, values, absent if absent.any() else None, gold.extra)


def _as_kind(gold: Matrix, kind: AnswerKind, view: GoldView) -> Matrix:
    dtype = gold.values.dtype
    if kind == "labels" and (dtype == np.bool_ or view.at_least is not None):
        return replace(gold, values=gold.values.astype(bool), absent=None)
    if (kind == "soft" and dtype.kind == "f") or (kind == "table" and dtype != np.bool_):
        return gold
    raise ViewError(
        f"the view does not produce {kind}. Use at_least to turn weights into labels, or map to turn a single "
        "column into labels"
    )
