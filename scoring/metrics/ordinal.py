"""Columns with ordered values: quadratic kappa, macro-averaged MAE, accuracy within a tolerance, CEM-ORD.

Over the items for which the gold has a value. An item without an answer counts as 0, as in `errors`; for accuracy
within a tolerance it is wrong, and for CEM-ORD it is as far from the gold as possible.
"""

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
    number,
    ratios,
)

_LEAST = 1e-13  # sum of squares below which a difference is only rounding
_ROUNDING = 1e-12  # added to a tolerance: 0.4 and 0.3 are 0.1 apart


def _spread_by_item(comparison: MatrixComparison, column: str | None, values: Numbers) -> Numbers:
    """`values` (judged items, k) at their rows among all items, 0 elsewhere."""
    result = np.zeros((len(comparison.gold), values.shape[1]))
    result[judged_items(comparison, column)] = values
    return result


def _squares(comparison: MatrixComparison, column: str | None) -> Numbers:
    """Per item 1, g, a, g², a², (g − a)²; both sides minus the gold's least value, which changes nothing."""
    gold, run = pairs(comparison, column)
    least = gold.min(initial=np.inf) if len(gold) else 0.0
    left, right = gold - least, run - least
    own = np.column_stack([np.ones(len(gold)), left, right, left**2, right**2, (left - right) ** 2])
    return _spread_by_item(comparison, column, own)


def _quadratic_kappa_of(sums: Numbers) -> Numbers:
    items, gold, run, gold2, run2, observed = np.moveaxis(sums, -1, 0)
    terms = items * (gold2 + run2)
    by_chance = terms - 2 * gold * run
    # n Σ (g − a)² is compared with the sum of squared distances over all pairs of a gold and a run value.
    return 1.0 - ratios(items * observed, np.where(by_chance > _LEAST * terms, by_chance, 0.0))


def _quadratic_kappa(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    value = _quadratic_kappa_of(comparison.once(_squares, spec.part).sum(axis=0))
    return None if np.isnan(value) else float(value)


def _quadratic_kappa_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    return Contributions(comparison.once(_squares, spec.part), _quadratic_kappa_of)


def _errors_by_value(comparison: MatrixComparison, column: str | None) -> Numbers:
    """Per item |g − a| in the column of its gold value, then 1 in that column: (items, 2 · values of the gold)."""
    gold, run = pairs(comparison, column)
    levels = np.unique(gold)
    has = gold[:, None] == levels
    own = np.hstack([has * np.abs(gold - run)[:, None], has])
    return _spread_by_item(comparison, column, own)


def _macro_of(sums: Numbers) -> Numbers:
    """The mean over gold values of their errors, without values that a sample lacks."""
    levels = sums.shape[-1] // 2
    errors, items = sums[..., :levels], sums[..., levels:]
    return ratios(ratios(errors, items, 0.0).sum(axis=-1), np.count_nonzero(items, axis=-1))


def _mae_macro(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    value = _macro_of(comparison.once(_errors_by_value, spec.part).sum(axis=0))
    return None if np.isnan(value) else float(value)


def _mae_macro_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    return Contributions(comparison.once(_errors_by_value, spec.part), _macro_of)


@Share
def _within(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """1 for each item that is close enough, and 1 for each judged item."""
    gold, run = pairs(comparison, spec.part)
    judged = judged_items(comparison, spec.part)
    close = np.abs(gold - run) <= number(spec, "tolerance", 1.0) + _ROUNDING * np.maximum(1.0, np.abs(gold))
    parts = np.zeros(len(judged))
    parts[judged] = close & _answered(comparison, spec.part)
    return parts, judged.astype(np.float64)


def _answered(comparison: MatrixComparison, column: str | None) -> NDArray[np.bool_]:
    """Which of the judged items the run answers."""
    at = comparison.position(column or comparison.gold.matrix.columns[0])
    answered: NDArray[np.bool_] = ~comparison.absent[judged_items(comparison, column), at]
    return answered


@Share
def _closeness(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Per item prox(a, g) and prox(g, g), in bits."""
    gold, run = pairs(comparison, spec.part)
    judged = judged_items(comparison, spec.part)
    parts, wholes = np.zeros(len(judged)), np.zeros(len(judged))
    if len(gold):
        known = np.sort(gold)
        parts[judged] = _proximity(run, gold, known) * _answered(comparison, spec.part)
        wholes[judged] = _proximity(gold, gold, known)
    return parts, wholes


def _proximity(values: Numbers, gold: Numbers, known: Numbers) -> Numbers:
    """−log2 of the share of the gold between each value and the gold's, with half of those at that value.

    `known` are all gold values, sorted.
    """
    below, up_to = (np.searchsorted(known, values, side) for side in ("left", "right"))
    gold_below, gold_up_to = (np.searchsorted(known, gold, side) for side in ("left", "right"))
    between = np.select([values < gold, values > gold], [gold_up_to - up_to, below - gold_below], 0)
    proximity: Numbers = -np.log2(((up_to - below) / 2 + between) / len(known))
    return proximity


_GOLD = {"1": "score 1", "2": "score 1", "3": "score 2", "4": "score 3"}
_RUN = {"1": "score 1", "2": "score 2", "3": "score 2", "4": "score 2"}

METRICS = (
    Metric(
        name="kappa_quadratic",
        title="Quadratic weighted kappa",
        short="QWK",
        formula="1 − n Σ_i (g_i − a_i)² / Σ_i Σ_j (g_i − a_j)²; distances are those of the values: with values 1, 2 "
        "and 5 the last two are 3 apart; undefined where both sides have one and the same value throughout",
        source="Cohen (1968), Weighted kappa; scikit-learn, cohen_kappa_score with weights='quadratic', which takes "
        "distances between places in the list of values",
        compute=_quadratic_kappa,
        contributions=_quadratic_kappa_contributions,
        example=Example(
            kind="table",
            gold=_GOLD,
            run=_RUN,
            value=3 / 7,
            why="squared distances of the items 0 + 1 + 0 + 1 = 2, of all pairs of a gold and a run value 3 + 3 + 1 + "
            "7 = 14: 1 − 4 · 2 / 14",
        ),
        kinds=TABLE,
        numbers=True,
        part=Part.COLUMN,
        low=-1.0,
    ),
    Metric(
        name="mae_macro",
        title="Macro-averaged mean absolute error",
        short="Macro MAE",
        formula="mean over the values in the gold of the mean of |g − a| over the items with that value",
        source="Baccianella et al. (2009), Evaluation measures for ordinal regression; scikit-learn, "
        "mean_absolute_error value by value",
        compute=_mae_macro,
        contributions=_mae_macro_contributions,
        example=Example(
            kind="table",
            gold=_GOLD,
            run=_RUN,
            value=0.5,
            why="of value 1 the mean is (0 + 1) / 2, of 2 it is 0, of 3 it is 1: (1/2 + 0 + 1) / 3",
        ),
        kinds=TABLE,
        numbers=True,
        ordinal=True,
        part=Part.COLUMN,
        higher_is_better=False,
        high=None,
    ),
    Metric(
        name="accuracy_within",
        title="Accuracy within a tolerance",
        short="Acc ±",
        formula="items with |g − a| ≤ tolerance, by default 1 / gold items; an item without an answer is wrong",
        source="Gaudette and Japkowicz (2009), Evaluation methods for ordinal classification; scikit-learn, "
        "accuracy_score of |g − a| ≤ tolerance",
        compute=_within.compute,
        contributions=_within.contributions,
        example=Example(
            kind="table",
            gold={"1": "score 1", "2": "score 4", "3": "score 2", "4": "score 5"},
            run={"1": "score 2", "2": "score 4", "3": "score 5", "4": "score 5"},
            value=0.75,
            why="items 1, 2 and 4 are at most 1 off, item 3 is 3 off",
        ),
        kinds=TABLE,
        numbers=True,
        part=Part.COLUMN,
        options={"tolerance": AnyNumber(0.0)},
    ),
    Metric(
        name="cem_ord",
        title="Closeness evaluation measure, ordinal",
        short="CEM",
        formula="Σ prox(a, g) / Σ prox(g, g); prox(a, g) = −log2((n_a / 2 + items of the gold with a value after a up "
        "to g, or from g to before a) / n), n_a = items of the gold with the value a",
        source="Amigó et al. (2020), An effectiveness metric for ordinal classification, ACL",
        compute=_closeness.compute,
        contributions=_closeness.contributions,
        example=Example(
            kind="table",
            gold=_GOLD,
            run={"1": "score 1", "2": "score 2", "3": "score 2", "4": "score 3"},
            value=(8 + log2(8 / 5)) / 10,
            why="prox(1, 1) = −log2(1/4) = 2, prox(2, 2) = prox(3, 3) = −log2(1/8) = 3, "
            "prox(2, 1) = −log2((1/2 + 2) / 4) = 0.678: (2 + 0.678 + 3 + 3) / (2 + 2 + 3 + 3)",
        ),
        kinds=TABLE,
        numbers=True,
        part=Part.COLUMN,
    ),
)
