"""How far soft labels are from the gold's: Jensen–Shannon divergence and Brier score."""

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import SOFT, Example, Mean, Metric, Numbers, Share


def _shares(weights: Numbers) -> Numbers:
    """Each row made to sum to 1; rows of zeros stay."""
    sums = weights.sum(axis=1, keepdims=True)
    shares: Numbers = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return shares


def _gold_shares(gold: LoadedGold) -> Numbers:
    return _shares(gold.values.astype(np.float64))


def _gains(part: Numbers, other: Numbers) -> Numbers:
    """Σ_c p log2(2 p / (p + q)) of each row."""
    both = part + other
    ratio = np.divide(2 * part, both, out=np.ones_like(part), where=part > 0)
    gains: Numbers = (part * np.log2(ratio)).sum(axis=1)
    return gains


@Share
def _divergences(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """The divergence of each item, and 1 where the gold has any weight for it."""
    known = comparison.gold.once(_gold_shares)
    gold = np.hstack([known, np.zeros((len(known), comparison.extra))])
    run = _shares(comparison.run.astype(np.float64))
    judged = np.logical_or.reduce(gold > 0, axis=1)
    values = np.where((run > 0).any(axis=1), np.clip((_gains(gold, run) + _gains(run, gold)) / 2, 0.0, 1.0), 1.0)
    return values * judged, judged.astype(np.float64)


@Mean
def _squares(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    """Σ_c (g_c − a_c)² of each item."""
    known = len(comparison.gold.tree.classes)
    own = ((comparison.gold.values - comparison.run[:, :known]) ** 2).sum(axis=1)
    unknown: Numbers = own + (comparison.run[:, known:] ** 2).sum(axis=1)
    return unknown


METRICS = (
    Metric(
        name="jensen_shannon",
        title="Jensen–Shannon divergence",
        short="JSD",
        formula="mean over items of (KL(g ∥ m) + KL(a ∥ m)) / 2 in bits, m = (g + a) / 2, an item's weights made to "
        "sum to 1; 1 for an item without weights in the run, items without weights in the gold left out",
        source="Lin (1991), Divergence measures based on the Shannon entropy; scipy, jensenshannon (its square)",
        compute=_divergences.compute,
        contributions=_divergences.contributions,
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0, b 1", "2": "a 0.5, b 0.5"},
            value=0.5,
            why="item 1 is as far off as can be, 1 bit; item 2 is right: (1 + 0) / 2",
        ),
        kinds=SOFT,
        higher_is_better=False,
    ),
    Metric(
        name="brier",
        title="Brier score",
        short="Brier",
        formula="mean over items of Σ_c (g_c − a_c)²; weights that a run lacks count 0",
        source="Brier (1950), Verification of forecasts expressed in terms of probability",
        compute=_squares.compute,
        contributions=_squares.contributions,
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=0.25,
            why="item 1 is off by 1/2 twice: (1/4 + 1/4 + 0) / 2",
        ),
        kinds=SOFT,
        higher_is_better=False,
        high=None,
    ),
)
