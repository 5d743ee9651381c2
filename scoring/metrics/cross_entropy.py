"""How surprised soft labels are at the gold's: cross entropy."""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import SOFT, Example, Mean, Metric, Numbers

_SMOOTHED = 0.001  # stands for a weight of 0, before an item's weights are made to sum to 1


def _distribution(weights: Numbers, present: NDArray[np.bool_]) -> Numbers:
    """Each row smoothed and made to sum to 1 over its present cells; 0 elsewhere."""
    smoothed = np.where(present, np.where(weights <= 0, _SMOOTHED, weights), 0.0)
    sums = smoothed.sum(axis=1, keepdims=True)
    np.divide(smoothed, sums, out=smoothed, where=sums > 0)
    return smoothed


def _gold_distribution(gold: LoadedGold) -> Numbers:
    return _distribution(gold.values.astype(np.float64), ~gold.absent)


@Mean
def _entropies(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """The cross entropy of each item, in bits."""
    gold = comparison.gold.once(_gold_distribution)
    run = _distribution(comparison.run.astype(np.float64), ~comparison.absent)[:, : gold.shape[1]]
    logarithms = np.log2(run, out=np.zeros_like(run), where=run > 0)
    entropies: Numbers = -(gold * logarithms).sum(axis=1)
    return entropies


METRICS = (
    Metric(
        name="cross_entropy",
        title="Cross entropy",
        short="CE",
        formula="mean over items of −Σ_c g_c log2 a_c; weights of 0 count 0.001, then an item's sum to 1; labels that "
        "a run lacks count 0, so that it must hold them all",
        source="PyEvALL 0.2.11, CrossEntropy",
        compute=_entropies.compute,
        contributions=_entropies.contributions,
        example=Example(
            kind="soft",
            gold={"1": "a 0.5, b 0.5", "2": "a 0.25, b 0.75"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=1.0,
            why="log2 of 1/2 is −1 throughout: (0.5 + 0.5 + 0.25 + 0.75) / 2",
        ),
        kinds=SOFT,
        higher_is_better=False,
        high=None,
    ),
)
