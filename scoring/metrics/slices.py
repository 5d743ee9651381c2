"""Metrics on the items of a slice, or on the items that a run answers correctly in a column (`f1:TR@right=HS`).

A slice is scored as if its items were the whole gold standard. Answers to items without gold belong to no slice.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.definition.slices import RIGHT
from scoring.metrics.comparison import Comparison, MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Contributions, Numbers, ratios

Where = tuple[str, str]


def in_slice(gold: LoadedGold, where: Where) -> Rows:
    """Return the rows of the slice's items, which may be empty.

    Raises:
        ValueError: the track has no such slices.
    """
    return named_slices(gold, where[0]).get(where[1], np.zeros(0, np.intp))


def named_slices(gold: LoadedGold, name: str) -> dict[str, Rows]:
    """Return the rows of the items in each slice, as `LoadedGold.slices` does.

    Raises:
        ValueError: the track has no such slices.
    """
    if name not in gold.slice_columns:
        raise ValueError(
            f"there are no slices named {name}; existing slices: {', '.join(gold.slice_columns) or 'none'}"
        )
    return gold.slices(name)


def restricted(comparison: Comparison, where: Where) -> Comparison | None:
    """Restrict the comparison to a slice's items.

    Return None if it has none or if their file is missing from the run.
    """
    return None if where in comparison.lacks else part_of(comparison, where)


def part_of(comparison: Comparison, where: Where) -> Comparison | None:
    """Restrict the comparison to a slice's items, even if their file is missing. Return None if it has none."""
    found: Comparison | None = comparison.once(_restricted, where)
    return found


def _restricted(comparison: Comparison, where: Where) -> Comparison | None:
    if where[0] == RIGHT:
        rows = np.flatnonzero(is_right(comparison, where[1]))
        gold = comparison.gold.select(rows)
    else:
        rows, gold = comparison.gold.once(_part_of_gold, where)
    if not len(rows):
        return None
    part = comparison.select(rows, gold)
    return replace(part, outside=part.outside[:0]) if isinstance(part, MatrixComparison) else part


def _part_of_gold(gold: LoadedGold, where: Where) -> tuple[Rows, LoadedGold]:
    rows = in_slice(gold, where)
    return rows, gold.select(rows)


def is_right(comparison: Comparison, column: str) -> NDArray[np.bool_]:
    """Return which items (items,) the run answers correctly in a column or class.

    Raises:
        ValueError: there is no such column.
    """
    if not isinstance(comparison, MatrixComparison):
        raise ValueError(f"{RIGHT} needs labels or a table")
    at = comparison.position(column)
    same = comparison.run[:, at] == comparison.gold.values[:, at]
    unknown = comparison.gold.absent[:, at] | comparison.absent[:, at]
    right: NDArray[np.bool_] = same & ~unknown & comparison.answered
    return right


def placed(part: Contributions, rows: Rows, items: int, *, lacks: bool = False) -> Contributions:
    """Extend the contributions of the slice's items, `rows`, with zeros for all other items.

    Args:
        lacks: whether the slice's file is missing from the run, which makes the metric undefined.
    """
    values = np.zeros((items, part.values.shape[1]))
    member = np.zeros(items)
    if not lacks:
        values[rows] = part.values
        member[rows] = 1
    return _scaled(Contributions(values, part.combine), member, len(rows))


def kept(whole: Contributions, right: NDArray[np.bool_]) -> Contributions:
    """Return the contributions of the items that a run answers correctly, combined in the same way as for all items.

    The items differ between runs, but `combine` must be the same.
    """
    return _scaled(Contributions(whole.values * right[:, None], whole.combine), right.astype(np.float64), len(right))


def _scaled(part: Contributions, member: Numbers, size: int) -> Contributions:
    """Scale a sample's sums over the items in `member` as if there were `size` of these items.

    The value is undefined if the sample contains no item in `member`.
    """

    def combine(sums: Numbers) -> Numbers:
        drawn = sums[..., -1:]
        found = part.combine(sums[..., :-1] * ratios(np.full_like(drawn, size), drawn, 0.0))
        return np.where(drawn[..., 0] > 0, found, np.nan)

    return Contributions(np.column_stack([part.values, member]), combine)
