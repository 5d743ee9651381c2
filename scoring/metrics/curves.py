"""ROC and precision–recall curves of a class or column, and the areas under them.

An item is positive if its gold weight for the class or column is more than one half. Items are ordered by the run's
weights. Items with equal weights form one step of the curve. In a table column with numbers from 0 to 1, an item
without an answer counts as 0.5, as in PAN's evaluator. For soft labels and other numbers, it comes last.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import SOFT, TABLE, Example, Metric, Numbers, Part, ratios

Steps = tuple[NDArray[np.int64], NDArray[np.int64], Numbers, int]


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of a curve, in order of decreasing threshold. At point i, weights ≥ `thresholds[i]` count as positive.

    `said[i]` is the number of judged items, or cells, that count as positive there. At the last point, all do.
    """

    x: Numbers
    y: Numbers
    thresholds: Numbers
    said: NDArray[np.int64]


def roc(comparison: MatrixComparison, name: str) -> Curve | None:
    """Return the curve with x = false positives / negatives and y = true positives / positives.

    Return None if the gold has no positives or no negatives.
    """
    return _roc(comparison.once(_steps_of, name))


def _roc(steps: Steps) -> Curve | None:
    hits, said, thresholds, judged = steps
    positives = hits[-1]
    if positives in (0, judged):
        return None
    return Curve((said - hits) / (judged - positives), hits / positives, thresholds, said)


def precision_recall(comparison: MatrixComparison, name: str) -> Curve | None:
    """Return the curve with x = recall and y = precision (1 where nothing counts as positive).

    Return None if the gold has no positives.
    """
    hits, said, thresholds, _ = comparison.once(_steps_of, name)
    if not hits[-1]:
        return None
    return Curve(hits / hits[-1], ratios(hits, said, 1.0), thresholds, said)


def roc_of_probabilities(comparison: MatrixComparison) -> Curve | None:
    """Return the ROC curve of the probabilities that a run gives in addition to its values.

    The judged cells of all columns with probabilities form one curve (micro-average). Cells of missing items come last.
    Return None if there are no probabilities for judged cells, or if the gold has no positives or no negatives.
    """
    if comparison.probabilities is None:
        return None
    known = len(comparison.gold.tree.classes)
    weights = comparison.probabilities[:, :known]
    judged = ~comparison.gold.absent & ~np.isnan(weights)
    if not np.isfinite(weights[judged]).any():
        return None
    return _roc(_steps(comparison.gold.values[judged] > 0.5, weights[judged]))


def _steps_of(comparison: MatrixComparison, name: str) -> Steps:
    return _steps_over(comparison, name, np.ones(len(comparison.gold), np.bool_))


def _steps_over(comparison: MatrixComparison, name: str, members: NDArray[np.bool_]) -> Steps:
    """Return the steps of the curve over the items in `members`, which has shape (items,)."""
    at = comparison.position(name)
    if at >= len(comparison.gold.tree.classes):  # the gold does not know the class
        return np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([np.inf]), 0
    absent, numbers = comparison.absent[members, at], comparison.run[members, at].astype(np.float64)
    weights = np.where(absent, _unanswered(comparison, name, numbers[~absent]), numbers)
    judged = ~comparison.gold.absent[members, at]
    return _steps(comparison.gold.values[members, at][judged] > 0.5, weights[judged])


def _unanswered(comparison: MatrixComparison, name: str, given: Numbers) -> float:
    """Return the number that an item without an answer counts as. `given` are the run's numbers in the column."""
    gold = comparison.gold
    is_column = comparison.run.dtype.kind == "i" or name in gold.declared or len(gold.matrix.columns) == 1
    return 0.5 if is_column and ((given >= 0) & (given <= 1)).all() else -np.inf


def _steps(truth: NDArray[np.bool_], weights: Numbers) -> Steps:
    """Return the true positives, predicted positives and threshold at each step, and the number of items.

    The first step predicts no positives.
    """
    order = np.argsort(-weights, kind="stable")
    weights = weights[order]
    lasts = np.flatnonzero(np.append(weights[1:] != weights[:-1], True)[: len(weights)])
    hits = np.append(0, np.cumsum(truth[order])[lasts])
    return hits, np.append(0, lasts + 1), np.append(np.inf, weights[lasts]), len(weights)


def area_under_roc(comparison: MatrixComparison, name: str) -> float | None:
    """Return the area for a class or column, or None if the gold lacks positives or negatives."""
    curve = roc(comparison, name)
    return None if curve is None else area_under(curve)


def area_under_roc_over(comparison: MatrixComparison, name: str, members: NDArray[np.bool_]) -> float | None:
    """Return the area over the items in `members` (items,), or None if they lack positives or negatives."""
    curve = _roc(_steps_over(comparison, name, members))
    return None if curve is None else area_under(curve)


def area_under(curve: Curve) -> float:
    return float(np.trapezoid(curve.y, curve.x))


def _average_precision(comparison: MatrixComparison, name: str) -> float | None:
    curve = precision_recall(comparison, name)
    return None if curve is None else float((np.diff(curve.x) * curve.y[1:]).sum())


def mean_over_classes(
    area: Callable[[MatrixComparison, MetricSpec, str], float | None],
) -> Callable[[MatrixComparison, MetricSpec], float | None]:
    """Return a function that computes the mean of the defined areas of all classes, or the area of the given class."""

    def compute(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
        names = [spec.part] if spec.part else comparison.gold.matrix.columns
        defined = [value for name in names if (value := area(comparison, spec, name)) is not None]
        return sum(defined) / len(defined) if defined else None

    return compute


_GOLD = {"1": "yes 1", "2": "yes 0", "3": "yes 1", "4": "yes 0"}
_RUN = {"1": "yes 0.9", "2": "yes 0.7", "3": "yes 0.6", "4": "yes 0.1"}
_example = partial(Example, "soft", _GOLD, _RUN)

_metric = partial(
    Metric,
    kinds=SOFT | TABLE,
    numbers=True,
    part=Part.SCORED,
    compared_with="scikit-learn",
    conventions=("Items", "Probabilities"),
)
METRICS = (
    _metric(
        name="roc_auc",
        title="Area under the ROC curve",
        short="AUC",
        formula="P(weight of a positive item > weight of a negative item) + P(equal) / 2; if no class is "
        "given, mean over the classes for which it is defined; undefined if the gold lacks positive or negative items",
        source="Fawcett (2006), An introduction to ROC analysis; scikit-learn, roc_auc_score",
        undefined="if the gold has no positive items, or no negative ones",
        compute=mean_over_classes(lambda comparison, _, name: area_under_roc(comparison, name)),
        example=_example(
            value=0.75,
            why="three of the four pairs of a positive and a negative item are in the correct order",
            part="yes",
        ),
    ),
    _metric(
        name="average_precision",
        title="Average precision",
        short="AP",
        formula="Σ_i (R_i − R_i−1) P_i over the steps of the precision–recall curve; if no class is given, mean "
        "over the classes for which it is defined; undefined if the gold has no positive items",
        source="scikit-learn, average_precision_score",
        undefined="if the gold has no positive items",
        compute=mean_over_classes(lambda comparison, _, name: _average_precision(comparison, name)),
        example=_example(
            value=(1 + 2 / 3) / 2, why="the positive items are the first and the third: (1/1 + 2/3) / 2", part="yes"
        ),
    ),
)
