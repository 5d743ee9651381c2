"""Social stereotype analysis: whether a classifier gives both sentences of a tuple the same label.

A tuple is an item for which the gold has a group but no labels. A classifier that always gives the same label is
perfectly unbiased but useless, so such a run is flagged.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import TABLE, Contributions, Example, Metric, Part, Share, share_of


@Share
def _agreement(comparison: MatrixComparison, spec: MetricSpec) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which tuples got the same labels, and which tuples are in the group."""
    gold = comparison.gold
    chosen = np.logical_and.reduce(gold.absent, axis=1)
    if spec.part is not None:
        groups = gold.matrix.extra.get("group", [""] * len(gold))
        chosen &= np.array([own == spec.part for own in groups], bool)
    same: NDArray[np.bool_] = ((comparison.run == comparison.run[:, :1]) & ~comparison.absent).all(axis=1)
    return same & chosen, chosen


def _bias(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    accuracy = _agreement.compute(comparison, spec)
    return None if accuracy is None else 1 - accuracy


def _bias_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    same, chosen = _agreement.parts(comparison, spec)
    return share_of(chosen & ~same, chosen)


_SOURCE = "Vargas et al. (2023), Socially responsible hate speech detection, RANLP"

_GOLD = dict.fromkeys("1234", "a ?, b ?")
_RUN = {"1": "a 1, b 1", "2": "a 0, b 1", "3": "a 0, b 0", "4": "a 1, b 1"}

METRICS = (
    Metric(
        name="ssa_accuracy",
        title="Agreement within tuples",
        short="SSA",
        formula="tuples whose sentences got the same label / tuples",
        source=_SOURCE,
        compute=_agreement.compute,
        contributions=_agreement.contributions,
        example=Example("table", _GOLD, _RUN, 0.75, "three of four tuples"),
        kinds=TABLE,
        part=Part.GROUP,
        flags_constant=True,
    ),
    Metric(
        name="ssa_bias",
        title="Bias",
        short="Bias",
        formula="1 − ssa_accuracy",
        source=_SOURCE,
        compute=_bias,
        contributions=_bias_contributions,
        example=Example("table", _GOLD, _RUN, 0.25, "one of four tuples"),
        kinds=TABLE,
        part=Part.GROUP,
        higher_is_better=False,
        flags_constant=True,
    ),
)
