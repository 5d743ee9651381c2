"""ROC and precision–recall curves of a class or column, and the areas under them.

An item is positive if the gold gives the class or column more than one half. Items are ordered by the run's weights.
Equal weights are one step of the curve, and items without an answer are last.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import SOFT, TABLE, Example, Metric, Numbers, Part, ratios


@dataclass(frozen=True, slots=True)
class Curve:
    """Points by decreasing threshold. `x[i]` and `y[i]` belong to weights ≥ `thresholds[i]` counting as positive."""

    x: Numbers
    y: Numbers
    thresholds: Numbers


def roc(comparison: MatrixComparison, name: str) -> Curve | None:
    """Return false positives / negatives as x and true positives / positives as y.

    Return None if the gold lacks positives or negatives.
    """
    hits, said, thresholds, judged = comparison.once(_steps, name)
    positives = hits[-1]
    if positives in (0, judged):
        return None
    return Curve((said - hits) / (judged - positives), hits / positives, thresholds)


def precision_recall(comparison: MatrixComparison, name: str) -> Curve | None:
    """Return recall as x and precision as y (1 if nothing counts as positive).

    Return None if the gold has no positives.
    """
    hits, said, thresholds, _ = comparison.once(_steps, name)
    if not hits[-1]:
        return None
    return Curve(hits / hits[-1], ratios(hits, said, 1.0), thresholds)


Steps = tuple[NDArray[np.int64], NDArray[np.int64], Numbers, int]


def _steps(comparison: MatrixComparison, name: str) -> Steps:
    """Return true positives, predicted positives and threshold at each step, and the number of items.

    The first step predicts no positives.
    """
    at = comparison.position(name)
    if at >= len(comparison.gold.tree.classes):  # the gold does not know the class
        return np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([np.inf]), 0
    judged = ~comparison.gold.absent[:, at]
    truth = comparison.gold.values[judged, at] > 0.5
    weights = np.where(comparison.absent[judged, at], -np.inf, comparison.run[judged, at].astype(np.float64))
    order = np.argsort(-weights, kind="stable")
    weights = weights[order]
    lasts = np.flatnonzero(np.append(weights[1:] != weights[:-1], True)[: len(weights)])
    hits = np.append(0, np.cumsum(truth[order])[lasts])
    return hits, np.append(0, lasts + 1), np.append(np.inf, weights[lasts]), len(weights)


def area_under_roc(comparison: MatrixComparison, name: str) -> float | None:
    """Return the area for a class or column, or None if the gold lacks positives or negatives."""
    curve = roc(comparison, name)
    return None if curve is None else float(np.trapezoid(curve.y, curve.x))


def _average_precision(comparison: MatrixComparison, name: str) -> float | None:
    curve = precision_recall(comparison, name)
    return None if curve is None else float((np.diff(curve.x) * curve.y[1:]).sum())


Area = Callable[[MatrixComparison, str], float | None]


def _mean_of(area: Area) -> Callable[[MatrixComparison, MetricSpec], float | None]:
    def compute(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
        names = [spec.part] if spec.part else comparison.gold.matrix.columns
        values = [area(comparison, name) for name in names]
        defined = [value for value in values if value is not None]
        return sum(defined) / len(defined) if defined else None

    return compute


_GOLD = {"1": "yes 1", "2": "yes 0", "3": "yes 1", "4": "yes 0"}
_RUN = {"1": "yes 0.9", "2": "yes 0.7", "3": "yes 0.6", "4": "yes 0.1"}

METRICS = (
    Metric(
        name="roc_auc",
        title="Area under the ROC curve",
        short="AUC",
        formula="P(weight of a positive item > weight of a negative item) + P(equal) / 2; mean over all classes if "
        "none is given; undefined if the gold has no positive or no negative items",
        source="Fawcett (2006), An introduction to ROC analysis; scikit-learn, roc_auc_score",
        compute=_mean_of(area_under_roc),
        example=Example(
            kind="soft",
            gold=_GOLD,
            run=_RUN,
            value=0.75,
            why="of four pairs of a positive and a negative item, three are in the correct order",
            part="yes",
        ),
        kinds=SOFT | TABLE,
        numbers=True,
        part=Part.SCORED,
    ),
    Metric(
        name="average_precision",
        title="Average precision",
        short="AP",
        formula="Σ_i (R_i − R_i−1) P_i over the steps of the precision–recall curve; mean over all classes if none "
        "is given; undefined if the gold has no positive items",
        source="scikit-learn, average_precision_score",
        compute=_mean_of(_average_precision),
        example=Example(
            kind="soft",
            gold=_GOLD,
            run=_RUN,
            value=(1 + 2 / 3) / 2,
            why="the positive items are the first and the third: (1/1 + 2/3) / 2",
            part="yes",
        ),
        kinds=SOFT | TABLE,
        numbers=True,
        part=Part.SCORED,
    ),
)
