"""Social stereotype analysis: whether a classifier gives both sentences of a tuple the same label.

A tuple is an item that has a group but no labels in the gold. A classifier that always gives the same label is
perfectly unbiased but useless, so such a run is flagged.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import BY_HAND, TABLE, Contributions, Example, Metric, Part, Share, share_of


@Share
def _agreement(comparison: MatrixComparison, spec: MetricSpec) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return two masks over the items: tuples whose sentences all have the same label, and all tuples.

    If `spec.part` is given, only tuples in this group count.
    """
    gold = comparison.gold
    chosen = np.logical_and.reduce(gold.absent, axis=1)
    if spec.part is not None:
        groups = gold.matrix.extra.get("group", [""] * len(gold))
        chosen &= np.array([own == spec.part for own in groups], bool)
    same: NDArray[np.bool_] = ((comparison.run == comparison.run[:, :1]) & ~comparison.absent).all(axis=1)
    return same & chosen, chosen


def _bias(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    accuracy = _agreement(comparison, spec)
    return None if accuracy is None else 1 - accuracy


def _bias_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    same, chosen = _agreement.parts(comparison, spec)
    return share_of(chosen & ~same, chosen)


def _count(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    same, chosen = comparison.once(_agreement.parts, spec)
    return float((chosen & ~same).sum()) if chosen.any() else None


def _count_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    same, chosen = comparison.once(_agreement.parts, spec)
    return Contributions((chosen & ~same)[:, None].astype(np.float64), lambda sums: sums[..., 0])


_SOURCE = "Vargas et al. (2023), Socially responsible hate speech detection, RANLP"

_GOLD = dict.fromkeys("1234", "a ?, b ?")
_RUN = {"1": "a 1, b 1", "2": "a 0, b 1", "3": "a 0, b 0", "4": "a 1, b 1"}

_example = partial(Example, "table", _GOLD, _RUN)
_metric = partial(
    Metric,
    source=_SOURCE,
    kinds=TABLE,
    part=Part.GROUP,
    flags_constant=True,
    undefined="if the gold has no tuples",
    compared_with=BY_HAND,
)
METRICS = (
    _metric(
        name="ssa_accuracy",
        title="Agreement within tuples",
        short="SSA",
        formula="tuples whose sentences have the same label in the run / tuples",
        compute=_agreement,
        example=_example(0.75, "in three of four tuples, both sentences have the same label"),
    ),
    _metric(
        name="ssa_bias",
        title="Bias",
        short="Bias",
        formula="1 − ssa_accuracy",
        compute=_bias,
        contributions=_bias_contributions,
        example=_example(0.25, "in one of four tuples, the sentences have different labels"),
        higher_is_better=False,
    ),
    _metric(
        name="ssa_reflected",
        title="Tuples with different labels",
        short="Reflected",
        formula="number of tuples whose sentences have different labels in the run",
        compute=_count,
        contributions=_count_contributions,
        example=_example(1.0, "in one of four tuples, the sentences have different labels"),
        higher_is_better=False,
        high=None,
        is_count=True,
    ),
)
