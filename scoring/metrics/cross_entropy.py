"""Cross entropy between gold and run for soft labels, as in PyEvALL or with a configurable epsilon."""

from functools import partial
from math import log2

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.divergence import EPSILON, LOG_BASES, log_unit
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import SOFT, AnyNumber, Example, Mean, Metric, Numbers, number

_SMOOTHED = 0.001  # replaces weights of 0 before each item's weights are normalized


def _distribution(weights: Numbers, present: NDArray[np.bool_]) -> Numbers:
    """Smooth each row and normalize it over the cells that are present. All other cells are 0."""
    smoothed = np.where(present, np.where(weights <= 0, _SMOOTHED, weights), 0.0)
    sums = smoothed.sum(axis=1, keepdims=True)
    np.divide(smoothed, sums, out=smoothed, where=sums > 0)
    return smoothed


def _gold_distribution(gold: LoadedGold) -> Numbers:
    return _distribution(gold.values.astype(np.float64), ~gold.absent)


@Mean
def _entropies(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """Return the cross entropy of each item in bits."""
    gold = comparison.gold.once(_gold_distribution)
    run = _distribution(comparison.run.astype(np.float64), ~comparison.absent)[:, : gold.shape[1]]
    logarithms = np.log2(run, out=np.zeros_like(run), where=run > 0)
    entropies: Numbers = -(gold * logarithms).sum(axis=1)
    return entropies


@Mean
def _soft_entropies(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """Return the cross entropy of each item, without normalizing the weights."""
    gold, epsilon = comparison.gold.values, number(spec, "epsilon", EPSILON)
    run = np.clip(comparison.run[:, : gold.shape[1]], epsilon, 1 - epsilon) + number(spec, "added", 0.0)
    entropies: Numbers = -(gold * np.log(run)).sum(axis=1) / log_unit(spec, "e")
    return np.maximum(0.0, entropies)


_metric = partial(Metric, kinds=SOFT, higher_is_better=False, high=None)
METRICS = (
    _metric(
        name="cross_entropy",
        title="Cross entropy",
        short="CE",
        formula="mean over items of −Σ_c g_c log2 a_c; weights of 0 count as 0.001, and each item is then "
        "normalized; labels that are missing from a run add nothing, so runs must contain all labels",
        source="PyEvALL 0.2.11, CrossEntropy",
        compared_with="PyEvALL 0.2.11",
        conventions=("Cross entropy",),
        compute=_entropies,
        example=Example(
            kind="soft",
            gold={"1": "a 0.5, b 0.5", "2": "a 0.25, b 0.75"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=1.0,
            why="all run weights are 1/2, and log2 of 1/2 is −1: (0.5 + 0.5 + 0.25 + 0.75) / 2",
        ),
    ),
    _metric(
        name="soft_cross_entropy",
        title="Soft cross entropy",
        short="Soft CE",
        formula="mean over items of max(0, −Σ_c g_c log(min(max(a_c, ε), 1 − ε) + d)), where d is the `added` "
        "option; by default, logarithms have base e, ε = 1e-12 and d = 0; weights are not normalized, and "
        "weights that are missing from a run count as 0",
        source="Uma et al. (2021), Learning with disagreements (LeWiDi), whose scorer adds d = 1e-9; scipy, "
        "stats.entropy(g) + stats.entropy(g, a)",
        compared_with="SciPy, the scorer of LeWiDi 2023",
        conventions=("Soft labels",),
        options={"base": LOG_BASES, "epsilon": AnyNumber(1e-30), "added": AnyNumber(0.0)},
        compute=_soft_entropies,
        example=Example(
            kind="soft",
            gold={"1": "a 0.5, b 0.5", "2": "a 1, b 0"},
            run={"1": "a 0.25, b 0.75", "2": "a 0.5, b 0.5"},
            value=(0.5 * 2 + 0.5 * log2(4 / 3) + 1) / 2,
            why="with base 2, item 1 contributes 0.5 · 2 + 0.5 · 0.415 = 1.208, and item 2 contributes 1: (1.208 + "
            "1) / 2",
            options={"base": "2"},
        ),
    ),
)
