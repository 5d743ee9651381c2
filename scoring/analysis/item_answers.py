"""The run's answer and the gold answer to each item as text, and how similar they are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import (
    Comparison,
    EntityComparison,
    MatrixComparison,
    SpanComparison,
    TextComparison,
    TupleComparison,
)
from scoring.metrics.entity_matching import matches_strictly, sides
from scoring.metrics.metric import per_row, ratios
from scoring.metrics.span_f1 import item_f1
from scoring.metrics.text_match import item_token_f1
from scoring.metrics.tuples import item_tuple_f1

Answer = tuple[str, ...]  # parts of the answer to an item: labels, cells, weights, or character ranges
Measure = Literal["right", "overlap", "f1"]

_WIDE = 4  # tables with at least this many columns list only nonzero cells


@dataclass(frozen=True, slots=True)
class ItemAnswers:
    """Answers to the items of the gold standard, in its order.

    `measure` says what `values` mean: `right` is 1 for a correct and 0 for an incorrect answer, `overlap` compares
    weights by Σ min / Σ max (Ruzicka, 1958), and `f1` compares the characters that spans mark, entities or tuples as a
    whole, or the words in texts. A value is None if there is nothing to compare.
    """

    ids: list[str]
    gold: list[Answer]
    run: list[Answer]
    values: list[float | None]
    measure: Measure


def item_answers(comparison: Comparison) -> ItemAnswers:
    """Return the answers of the run and the gold standard as text.

    NUL characters and halves of surrogate pairs, which JSON can contain but databases and pages cannot, become U+FFFD.

    Raises:
        ValueError: the answers are rankings, which are neither correct nor incorrect.
    """
    if isinstance(comparison, SpanComparison):
        return _of_spans(comparison)
    if isinstance(comparison, EntityComparison):
        return _of_entities(comparison)
    if isinstance(comparison, TextComparison):
        return _of_texts(comparison)
    if isinstance(comparison, TupleComparison):
        return _of_tuples(comparison)
    if not isinstance(comparison, MatrixComparison):
        raise ValueError("answers in rankings cannot be counted as correct or incorrect")
    kind = comparison.gold.values.dtype.kind
    return {"b": _of_labels, "f": _of_weights}.get(kind, _of_cells)(comparison)


def _of_labels(comparison: MatrixComparison) -> ItemAnswers:
    gold, run = _held(comparison.gold.values, comparison.gold.tree.classes), _held(comparison.run, comparison.columns)
    return _right_or_wrong(comparison, gold, run, np.zeros(len(gold), bool))


def _of_cells(comparison: MatrixComparison) -> ItemAnswers:
    """Compare tables of whole numbers, ignoring cells without a gold value."""
    columns, unjudged = comparison.gold.tree.classes, comparison.gold.absent
    width = len(columns)
    gold = _cells(comparison.gold.values, unjudged, np.zeros_like(unjudged), columns)
    run = _cells(comparison.run[:, :width], unjudged, comparison.absent[:, :width], columns)
    return _right_or_wrong(comparison, gold, run, np.logical_and.reduce(unjudged, axis=1))


def _right_or_wrong(
    comparison: MatrixComparison, gold: list[Answer], run: list[Answer], unjudged: NDArray[np.bool_]
) -> ItemAnswers:
    rows = zip(gold, run, unjudged.tolist(), strict=True)
    values = [None if skip else float(one == other) for one, other, skip in rows]
    return ItemAnswers(comparison.gold.answers.ids, gold, run, values, "right")


def _of_weights(comparison: MatrixComparison) -> ItemAnswers:
    known = np.pad(comparison.gold.values, ((0, 0), (0, comparison.extra)))
    least, most = np.minimum(known, comparison.run).sum(axis=1), np.maximum(known, comparison.run).sum(axis=1)
    shares = ratios(least, most, 1.0)
    negative = np.logical_or.reduce((known < 0) | (comparison.run < 0), axis=1)  # negative numbers are not weights
    return ItemAnswers(
        ids=comparison.gold.answers.ids,
        gold=_weights(known, comparison.columns),
        run=_weights(comparison.run, comparison.columns),
        values=[None if skip else share for share, skip in zip(shares.tolist(), negative.tolist(), strict=True)],
        measure="overlap",
    )


def _of_spans(comparison: SpanComparison) -> ItemAnswers:
    spans = comparison.gold.spans
    owners = np.repeat(np.arange(len(spans.ids)), np.diff(spans.starts))
    return ItemAnswers(
        ids=spans.ids,
        gold=_stretches(spans.begins, spans.ends, owners, len(spans.ids)),
        run=_stretches(comparison.begins, comparison.ends, comparison.owners, len(spans.ids)),
        values=comparison.once(item_f1).tolist(),
        measure="f1",
    )


def _of_entities(comparison: EntityComparison) -> ItemAnswers:
    entities, items = comparison.gold.entities, len(comparison.gold)
    gold, run = comparison.once(sides)
    shared = per_row(run.owners, matches_strictly(gold, run), items)
    listed = np.bincount(gold.owners, minlength=items) + np.bincount(run.owners, minlength=items)
    types = [entities.types[kind] for kind in entities.kinds]
    types_of_run = [comparison.types[kind] for kind in comparison.kinds_of_run]
    return ItemAnswers(
        ids=entities.ids,
        gold=_stretches(entities.begins, entities.ends, gold.owners, items, types),
        run=_stretches(comparison.begins, comparison.ends, comparison.owners, items, types_of_run),
        values=ratios(2 * shared, listed, 1.0).tolist(),
        measure="f1",
    )


def _of_texts(comparison: TextComparison) -> ItemAnswers:
    texts = comparison.gold.texts
    run = [(_storable(output),) for output in comparison.outputs]
    gold = [tuple(map(_storable, one)) for one in texts.texts]
    return ItemAnswers(texts.ids, gold, list(run), item_token_f1(comparison).tolist(), "f1")


def _storable(text: str) -> str:
    if text.isprintable():
        return text
    return text.replace("\0", "\ufffd").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _of_tuples(comparison: TupleComparison) -> ItemAnswers:
    tuples = comparison.gold.tuples
    run: list[list[str]] = [[] for _ in tuples.ids]
    for owner, cells in zip(comparison.owners.tolist(), comparison.rows, strict=True):
        run[owner].append(_tuple(cells))
    gold = [tuple(map(_tuple, tuples.of_item(row))) for row in range(len(tuples.ids))]
    return ItemAnswers(tuples.ids, gold, list(map(tuple, run)), item_tuple_f1(comparison).tolist(), "f1")


def _tuple(cells: tuple[str, ...]) -> str:
    """Format a tuple such as `(food; positive)`, with a dash for an empty cell."""
    return _storable(f"({'; '.join(cell or '–' for cell in cells)})")


def _held(held: NDArray[Any], columns: Sequence[str]) -> list[Answer]:
    names = np.array(columns, object)
    return [tuple(names[row]) for row in held]


def _cells(
    values: NDArray[Any], unjudged: NDArray[np.bool_], missing: NDArray[np.bool_], columns: Sequence[str]
) -> list[Answer]:
    """Format cells such as `HS 1` or `TR 0`, with `?` for cells missing from the run."""
    is_wide = len(columns) >= _WIDE
    rows = zip(values.tolist(), unjudged.tolist(), missing.tolist(), strict=True)
    return [
        tuple(
            _cell(name, "?" if lacks else value, is_wide)
            for name, value, skip, lacks in zip(columns, cells, skips, gaps, strict=True)
            if not skip and not (is_wide and value == 0 and not lacks)
        )
        for cells, skips, gaps in rows
    ]


def _cell(name: str, value: int | str, is_wide: bool) -> str:
    return name if is_wide and value == 1 else f"{name} {value}"


def _weights(values: NDArray[Any], columns: Sequence[str]) -> list[Answer]:
    """Format nonzero weights with three significant digits, such as `YES 0.83`."""
    return [
        tuple(f"{name} {weight:.3g}" for name, weight in zip(columns, row, strict=True) if weight)
        for row in values.tolist()
    ]


def _stretches(
    begins: NDArray[np.int64],
    ends: NDArray[np.int64],
    owners: NDArray[np.intp],
    items: int,
    types: Sequence[str] | None = None,
) -> list[Answer]:
    """Format ranges: `3–7` for characters 3 to 7 (counted from 0), `9` for a single one, and `PER 9` with a type."""
    order = np.lexsort((ends, begins, owners))
    rows = zip(owners[order].tolist(), begins[order].tolist(), (ends[order] - 1).tolist(), order.tolist(), strict=True)
    found: list[list[str]] = [[] for _ in range(items)]
    for owner, first, last, place in rows:
        stretch = str(first) if first == last else f"{first}–{last}"
        found[owner].append(stretch if types is None else f"{types[place]} {stretch}")
    return [tuple(parts) for parts in found]
