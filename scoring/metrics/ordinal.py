"""Metrics for columns with ordered values: quadratic kappa, macro-averaged MAE, accuracy within a tolerance, CEM-ORD.

Only items with a gold value are used. An item without an answer counts as 0, as in `errors`. However, in accuracy
within a tolerance it counts as incorrect, and in CEM-ORD it adds nothing to the score.
"""

from functools import partial
from math import log2

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.correlation import judged_items, pairs
from scoring.metrics.metric import (
    TABLE,
    AnyNumber,
    Contributions,
    Example,
    Metric,
    Numbers,
    Part,
    Share,
    Sums,
    number,
    per_row,
    ratios,
)

_LEAST = 1e-13  # smaller differences, relative to the sum of squares, are treated as rounding error
_ROUNDING = 1e-12  # added to a tolerance, so that 0.4 and 0.3 are within 0.1 of each other


def _spread_by_item(comparison: MatrixComparison, column: str | None, values: Numbers) -> Numbers:
    """Expand `values` (judged items, k) to all items, with zeros for the others."""
    result = np.zeros((len(comparison.gold), values.shape[1]))
    result[judged_items(comparison, column)] = values
    return result


def _squares(comparison: MatrixComparison, column: str | None) -> Numbers:
    """Return 1, g, a, g², a² and (g − a)² for each item.

    The gold's minimum is subtracted from both sides, which does not change the result.
    """
    gold, run = pairs(comparison, column)
    least = gold.min(initial=np.inf) if len(gold) else 0.0
    left, right = gold - least, run - least
    own = np.column_stack([np.ones(len(gold)), left, right, left**2, right**2, (left - right) ** 2])
    return _spread_by_item(comparison, column, own)


def _quadratic_kappa_of(sums: Numbers) -> Numbers:
    items, gold, run, gold2, run2, observed = np.moveaxis(sums, -1, 0)
    terms = items * (gold2 + run2)
    by_chance = terms - 2 * gold * run
    # Compare n Σ (g − a)² with the sum of squared distances over all pairs of a gold value and a run value.
    return 1.0 - ratios(items * observed, np.where(by_chance > _LEAST * terms, by_chance, 0.0))


def _errors_by_value(comparison: MatrixComparison, column: str | None) -> Numbers:
    """Return |g − a| in the column of each item's gold value, followed by 1 in the same layout.

    The shape is (items, 2 · gold values).
    """
    gold, run = pairs(comparison, column)
    levels = np.unique(gold)
    has = gold[:, None] == levels
    own = np.hstack([has * np.abs(gold - run)[:, None], has])
    return _spread_by_item(comparison, column, own)


def _macro_of(sums: Numbers) -> Numbers:
    """Return the mean error over the gold values, ignoring values that do not occur in a sample."""
    levels = sums.shape[-1] // 2
    errors, items = sums[..., :levels], sums[..., levels:]
    return ratios(ratios(errors, items, 0.0).sum(axis=-1), np.count_nonzero(items, axis=-1))


def _macro_error(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    """Return the mean over the gold values of their mean errors, without a table of items and values."""
    gold, run = pairs(comparison, spec.part)
    if not len(gold):
        return None
    levels, places = np.unique(gold, return_inverse=True)
    sums = [per_row(places, each, len(levels)) for each in (np.abs(gold - run), np.ones(len(gold)))]
    return float(_macro_of(np.concatenate(sums)))


@Share
def _within(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: 1 for each item within the tolerance, and 1 for each judged item."""
    gold, run = pairs(comparison, spec.part)
    judged = judged_items(comparison, spec.part)
    close = np.abs(gold - run) <= number(spec, "tolerance", 1.0) + _ROUNDING * np.maximum(1.0, np.abs(gold))
    parts = np.zeros(len(judged))
    parts[judged] = close & _answered(comparison, spec.part)
    return parts, judged.astype(np.float64)


def _answered(comparison: MatrixComparison, column: str | None) -> NDArray[np.bool_]:
    """Return which of the judged items the run answers."""
    at = comparison.position(column or comparison.gold.matrix.columns[0])
    answered: NDArray[np.bool_] = ~comparison.absent[judged_items(comparison, column), at]
    return answered


@Share
def _closeness(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return prox(a, g) and prox(g, g) for each item, in bits."""
    gold, run = pairs(comparison, spec.part)
    judged = judged_items(comparison, spec.part)
    parts, wholes = np.zeros(len(judged)), np.zeros(len(judged))
    if len(gold):
        known = np.sort(gold)
        parts[judged] = _proximity(run, gold, known) * _answered(comparison, spec.part)
        wholes[judged] = _proximity(gold, gold, known)
    return parts, wholes


def _proximity(values: Numbers, gold: Numbers, known: Numbers) -> Numbers:
    """Return −log2 of the share of gold items between each value and the gold value.

    This includes half of the items with the value itself. `known` are all gold values, sorted.
    """
    below, up_to = (np.searchsorted(known, values, side) for side in ("left", "right"))
    gold_below, gold_up_to = (np.searchsorted(known, gold, side) for side in ("left", "right"))
    between = np.select([values < gold, values > gold], [gold_up_to - up_to, below - gold_below], 0)
    proximity: Numbers = -np.log2(((up_to - below) / 2 + between) / len(known))
    return proximity


_GOLD = {"1": "score 1", "2": "score 1", "3": "score 2", "4": "score 3"}
_RUN = {"1": "score 1", "2": "score 2", "3": "score 2", "4": "score 2"}

_metric = partial(Metric, kinds=TABLE, numbers=True, part=Part.COLUMN)
METRICS = (
    _metric(
        name="kappa_quadratic",
        title="Quadratic weighted kappa",
        short="QWK",
        formula="1 − n Σ_i (g_i − a_i)² / Σ_i Σ_j (g_i − a_j)²; distances are differences between values, so 2 "
        "and 5 are 3 apart even if 3 and 4 do not occur; undefined if both sides contain only the same single value",
        source="Cohen (1968), Weighted kappa; scikit-learn, cohen_kappa_score with weights='quadratic', which "
        "measures distances between positions in the list of values",
        undefined="if the gold and the run both have the same number for all items",
        compared_with="scikit-learn",
        conventions=("Items", "Numbers"),
        compute=Sums(lambda comparison, spec: Contributions(comparison.once(_squares, spec.part), _quadratic_kappa_of)),
        example=Example(
            kind="table",
            gold=_GOLD,
            run=_RUN,
            value=3 / 7,
            why="the squared distances add up to 0 + 1 + 0 + 1 = 2 for the items, and to 3 + 3 + 1 + 7 = 14 for "
            "all pairs of a gold value and a run value: 1 − 4 · 2 / 14",
        ),
        low=-1.0,
    ),
    _metric(
        name="mae_macro",
        title="Macro-averaged mean absolute error",
        short="Macro MAE",
        formula="for each of the values in the gold, the mean of |g − a| over the items with that value; then the mean "
        "of these means",
        source="Baccianella et al. (2009), Evaluation measures for ordinal regression; scikit-learn, "
        "mean_absolute_error computed separately for each value",
        compared_with="scikit-learn",
        compute=_macro_error,
        contributions=lambda comparison, spec: Contributions(comparison.once(_errors_by_value, spec.part), _macro_of),
        example=Example(
            kind="table",
            gold=_GOLD,
            run=_RUN,
            value=0.5,
            why="the mean is (0 + 1) / 2 for value 1, 0 for value 2 and 1 for value 3: (1/2 + 0 + 1) / 3",
        ),
        ordinal=True,
        higher_is_better=False,
        high=None,
    ),
    _metric(
        name="accuracy_within",
        title="Accuracy within a tolerance",
        short="Acc ±",
        formula="items with |g − a| ≤ tolerance / gold items; the `tolerance` option defaults to 1; unanswered "
        "items count as incorrect",
        source="Gaudette and Japkowicz (2009), Evaluation methods for ordinal classification; scikit-learn, "
        "accuracy_score of |g − a| ≤ tolerance",
        compared_with="scikit-learn",
        compute=_within,
        example=Example(
            kind="table",
            gold={"1": "score 1", "2": "score 4", "3": "score 2", "4": "score 5"},
            run={"1": "score 2", "2": "score 4", "3": "score 5", "4": "score 5"},
            value=0.75,
            why="items 1, 2 and 4 differ by at most 1, but item 3 differs by 3",
        ),
        options={"tolerance": AnyNumber(0.0)},
    ),
    _metric(
        name="cem_ord",
        title="Closeness evaluation measure, ordinal",
        short="CEM",
        formula="Σ prox(a, g) / Σ prox(g, g); prox(a, g) = −log2((n_a / 2 + gold items with values between a and "
        "g, including g but not a) / n), where n_a is the number of gold items with the value a",
        source="Amigó et al. (2020), An effectiveness metric for ordinal classification, ACL",
        compared_with="an independent implementation of the authors' formula",
        compute=_closeness,
        example=Example(
            kind="table",
            gold=_GOLD,
            run={"1": "score 1", "2": "score 2", "3": "score 2", "4": "score 3"},
            value=(8 + log2(8 / 5)) / 10,
            why="prox(1, 1) = −log2(1/4) = 2, prox(2, 2) = prox(3, 3) = −log2(1/8) = 3, prox(2, 1) = −log2((1/2 + 2) / "
            "4) = 0.678: (2 + 0.678 + 3 + 3) / (2 + 2 + 3 + 3)",
        ),
    ),
)
