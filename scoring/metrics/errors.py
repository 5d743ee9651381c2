"""Errors of numbers: mean absolute error and root mean squared error.

For soft labels, errors are averaged over items and over the classes that occur in the gold, and missing weights count
as 0. For a table column, errors are averaged over the items with a gold number, and an item without an answer counts as
0.
"""

from collections.abc import Callable
from functools import partial
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import SOFT, TABLE, Contributions, Example, Metric, Numbers, Part, Share

# Two arrays with one value per item: the sum of the errors in its cells, and the number of judged cells.
Errors = tuple[Numbers, NDArray[np.int64]]


def _differences(comparison: MatrixComparison, column: str | None) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return run − gold (0 where the gold does not judge) and which cells are judged, both (items, columns)."""
    gold = comparison.gold
    at = [place for place, name in enumerate(gold.tree.classes) if column in (None, name)]
    judged = ~gold.absent[:, at]
    if len(at) > 1:  # soft labels; a class is judged if it occurs anywhere in the gold
        judged = np.tile(judged.any(axis=0), (len(gold), 1))
    return np.where(judged, comparison.run[:, at].astype(np.float64) - gold.values[:, at], 0.0), judged


@Share
def _absolute(comparison: MatrixComparison, spec: MetricSpec) -> Errors:
    differences, judged = _differences(comparison, spec.part)
    return np.abs(differences).sum(axis=1), np.count_nonzero(judged, axis=1)


@Share
def _squared(comparison: MatrixComparison, spec: MetricSpec) -> Errors:
    differences, judged = _differences(comparison, spec.part)
    return (differences**2).sum(axis=1), np.count_nonzero(judged, axis=1)


def root_of(squared: Share) -> tuple[Callable[..., float | None], Callable[..., Contributions]]:
    """Return the square root of a mean as functions for a metric's `compute` and `contributions`."""

    def value(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
        square = squared(comparison, spec)
        return None if square is None else sqrt(square)

    def contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
        squares = squared.contributions(comparison, spec)
        return Contributions(squares.values, lambda sums: np.sqrt(squares.combine(sums)))

    return value, contributions


_rmse, _rmse_contributions = root_of(_squared)


_metric = partial(
    Metric,
    kinds=SOFT | TABLE,
    numbers=True,
    part=Part.COLUMN,
    higher_is_better=False,
    high=None,
    conventions=("Items", "Numbers"),
)
METRICS = (
    _metric(
        name="mae",
        title="Mean absolute error",
        short="MAE",
        formula="mean of |g − a| over the items of a column or, for soft labels, over items and gold classes",
        source="PyEvALL 0.2.11, MAE; scikit-learn, mean_absolute_error",
        compared_with="PyEvALL 0.2.11, scikit-learn",
        compute=_absolute,
        example=Example(
            kind="table",
            gold={"1": "score 2", "2": "score 5", "3": "score 4"},
            run={"1": "score 2", "2": "score 3", "3": "score 5"},
            value=1.0,
            why="(0 + 2 + 1) / 3",
        ),
    ),
    _metric(
        name="rmse",
        title="Root mean squared error",
        short="RMSE",
        formula="square root of the mean of (g − a)² over the items of a column or, for soft labels, over items "
        "and gold classes",
        source="scikit-learn, root_mean_squared_error",
        compared_with="scikit-learn",
        compute=_rmse,
        contributions=_rmse_contributions,
        example=Example(
            kind="table",
            gold={"1": "score 2", "2": "score 5", "3": "score 4", "4": "score 1"},
            run={"1": "score 2", "2": "score 3", "3": "score 4", "4": "score 1"},
            value=1.0,
            why="√((0 + 4 + 0 + 0) / 4)",
        ),
    ),
)
