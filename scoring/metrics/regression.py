"""Root mean squared error over several columns, and the coefficient of determination R² of a column."""

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.correlation import judged_items, pairs
from scoring.metrics.errors import root_of
from scoring.metrics.metric import TABLE, Contributions, Example, Metric, Numbers, Part, Share, Sums
from scoring.metrics.tuples import column_places

_LEAST = 1e-13  # smaller spreads, relative to the sum of squares, are treated as rounding error


@Share
def _squared(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: the sum of each item's squared errors, and the number of its cells or 1 for the item."""
    gold = comparison.gold
    at = column_places(gold.matrix.columns, spec.part)
    judged = ~gold.absent[:, at]
    errors = comparison.run[:, at].astype(np.float64, copy=False)  # a copy, which can be changed
    errors -= gold.values[:, at]
    errors[~judged] = 0.0
    cells: Numbers = judged.sum(axis=1, dtype=np.float64)
    squares: Numbers = np.square(errors, out=errors).sum(axis=1)
    return squares, np.sign(cells) if spec.options.get("per") == "item" else cells


_rmse, _rmse_contributions = root_of(_squared)


def _squares(comparison: MatrixComparison, column: str | None) -> Numbers:
    """Return 1, g, g² and (g − a)² for each item, or zeros for items without a gold number.

    The gold's mean is subtracted from g to reduce rounding errors.
    """
    gold, run = pairs(comparison, column)
    values = np.zeros((len(comparison.gold), 4))
    if gold.size:
        left = gold - gold.mean()
        values[judged_items(comparison, column)] = np.column_stack(
            [np.ones(len(gold)), left, left**2, (gold - run) ** 2]
        )
    return values


def _determination(sums: Numbers) -> Numbers:
    items, gold, squares, errors = np.moveaxis(sums, -1, 0)
    spread = items * squares - gold**2
    varied = spread > _LEAST * items * squares
    return np.where(varied, 1.0 - items * errors / np.where(varied, spread, 1.0), np.nan)


METRICS = (
    Metric(
        name="rmse_columns",
        title="Root mean squared error over columns",
        short="RMSE",
        formula="square root of the mean of (g − a)² over all cells of the columns or, with `per: item`, of the mean "
        "over items of the squared distance Σ_c (g_c − a_c)²; an item without an answer counts as 0",
        source="Yu et al. (2026), SemEval-2026 Task 3 (DimABSA): RMSE of valence and arousal; scikit-learn, "
        "root_mean_squared_error",
        compared_with="scikit-learn",
        conventions=("Items", "Numbers"),
        compute=_rmse,
        contributions=_rmse_contributions,
        example=Example(
            kind="table",
            gold={"1": "valence 2, arousal 5", "2": "valence 4, arousal 1"},
            run={"1": "valence 5, arousal 9", "2": "valence 4, arousal 1"},
            value=2.5,
            why="the squared errors are 9, 16, 0 and 0: √(25 / 4)",
        ),
        kinds=TABLE,
        numbers=True,
        part=Part.COLUMNS,
        options={"per": ("cell", "item")},
        higher_is_better=False,
        high=None,
    ),
    Metric(
        name="r2",
        title="Coefficient of determination R²",
        short="R²",
        formula="1 − Σ (g − a)² / Σ (g − ḡ)², where ḡ is the mean of the gold numbers; undefined if all gold numbers "
        "are equal",
        source="Wright (1921), Correlation and causation; scikit-learn, r2_score",
        undefined="if all gold values are equal",
        compared_with="scikit-learn",
        conventions=("Items", "Numbers"),
        compute=Sums(lambda comparison, spec: Contributions(comparison.once(_squares, spec.part), _determination)),
        example=Example(
            kind="table",
            gold={"1": "score 1", "2": "score 2", "3": "score 3"},
            run={"1": "score 1", "2": "score 3", "3": "score 3"},
            value=0.5,
            why="the squared errors add up to 1, and the squared distances from the mean, 2, add up to 2: 1 − 1/2",
        ),
        kinds=TABLE,
        numbers=True,
        part=Part.COLUMN,
        low=None,
    ),
)
