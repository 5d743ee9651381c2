"""Correlation of a column's numbers in run and gold: Pearson, Spearman and Kendall.

Only items with a gold number are used. An item without an answer counts as 0.
"""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import TABLE, Contributions, Example, Metric, Numbers, Part

_LEAST_SPREAD = 1e-13  # smaller sums of squares are treated as rounding error


def judged_items(comparison: MatrixComparison, column: str | None) -> NDArray[np.bool_]:
    """Return which items have a gold number in the column (by default the only column), with shape (items,)."""
    at = comparison.position(column or comparison.gold.matrix.columns[0])
    if at >= len(comparison.gold.tree.classes):
        return np.zeros(len(comparison.gold), bool)
    return np.logical_not(comparison.gold.absent[:, at])


def pairs(comparison: MatrixComparison, column: str | None) -> tuple[Numbers, Numbers]:
    """Return the gold values and the run's values of the items that have a gold value."""
    judged = judged_items(comparison, column)
    at = comparison.position(column or comparison.gold.matrix.columns[0])
    if not judged.any():
        return np.zeros(0), np.zeros(0)
    return comparison.gold.values[judged, at].astype(np.float64), comparison.run[judged, at].astype(np.float64)


def _correlation(gold: Numbers, run: Numbers) -> float | None:
    """Return Pearson's correlation, or None if there are fewer than two items or if either side is constant."""
    if len(gold) < 2 or np.ptp(gold) == 0 or np.ptp(run) == 0:
        return None
    left, right = gold - gold.mean(), run - run.mean()
    left, right = left / np.abs(left).max(), right / np.abs(right).max()  # prevents overflow and underflow of squares
    value = (left * right).sum() / np.sqrt((left**2).sum() * (right**2).sum())
    return float(np.clip(value, -1.0, 1.0))


def _pearson(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    return _correlation(*pairs(comparison, spec.part))


def _spearman(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    gold, run = pairs(comparison, spec.part)
    return _correlation(midranks(gold), midranks(run))


def midranks(values: Numbers) -> Numbers:
    """Return the ranks, starting at 1. Equal values share their mean rank."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: Numbers = (last - (counts - 1) / 2)[places]
    return ranks


def _kendall(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    """Return τ-b, or None if there are fewer than two items or if either side is constant."""
    gold, run = (np.unique(side, return_inverse=True)[1] for side in pairs(comparison, spec.part))
    width = int(run.max(initial=0)) + 1
    every = len(gold) * (len(gold) - 1) // 2
    gold_varied, run_varied = every - _ties(gold), every - _ties(run)
    if not gold_varied or not run_varied:
        return None
    discordant = _inversions(run[np.lexsort((run, gold))])
    surplus = gold_varied + run_varied - every + _ties(gold * width + run) - 2 * discordant
    return float(np.clip(surplus / np.sqrt(gold_varied) / np.sqrt(run_varied), -1.0, 1.0))


def _ties(ranks: NDArray[np.intp]) -> int:
    """Count the pairs of items with the same rank."""
    counts = np.unique(ranks, return_counts=True)[1].astype(np.int64)
    return int((counts * (counts - 1) // 2).sum())


def _inversions(ranks: NDArray[np.intp]) -> int:
    """Count the pairs in which the larger rank comes first, in n log n steps: bit by bit, from the highest bit."""
    found = 0
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        ones = (ranks >> bit) & 1
        alike = ranks >> (bit + 1)  # already sorted, because higher bits are processed first
        before = np.cumsum(ones) - ones
        found += int((before - before[np.searchsorted(alike, alike)])[ones == 0].sum())
        ranks = ranks[np.argsort(ranks >> bit, kind="stable")]
    return found


def _pearson_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions | None:
    """Return each item's contribution to n, Σ g, Σ a, Σ g², Σ a² and Σ g a.

    The gold's mean is subtracted from both sides to reduce rounding errors.
    """
    gold, run = pairs(comparison, spec.part)
    if not gold.size:
        return None
    left, right = gold - gold.mean(), run - gold.mean()
    values = np.zeros((len(comparison.gold), 6))
    own = np.column_stack([np.ones(len(gold)), left, right, left**2, right**2, left * right])
    values[judged_items(comparison, spec.part)] = own
    return Contributions(values, _pearson_of_sums)


def _pearson_of_sums(sums: Numbers) -> Numbers:
    items, gold, run, gold2, run2, both = np.moveaxis(sums, -1, 0)
    gold_spread, run_spread = items * gold2 - gold**2, items * run2 - run**2
    varied = (gold_spread > _LEAST_SPREAD * items * gold2) & (run_spread > _LEAST_SPREAD * items * run2)
    scale = np.sqrt(np.where(varied, gold_spread, 1.0)) * np.sqrt(np.where(varied, run_spread, 1.0))
    return np.where(varied, np.clip((items * both - gold * run) / scale, -1.0, 1.0), np.nan)


def _why_undefined(comparison: MatrixComparison, spec: MetricSpec) -> str:
    gold, run = pairs(comparison, spec.part)
    if len(gold) < 2:
        return "fewer than two items have a gold number"
    if np.ptp(run) == 0:
        return "all predictions are equal"
    return "all gold values are equal" if np.ptp(gold) == 0 else "the values are too large or too small"


_metric = partial(
    Metric,
    kinds=TABLE,
    numbers=True,
    part=Part.COLUMN,
    low=-1.0,
    needs_varied_run=True,
    why_undefined=_why_undefined,
    undefined="if the gold or the run has the same number for all items",
    compared_with="SciPy",
    conventions=("Items", "Numbers"),
)
METRICS = (
    _metric(
        name="pearson",
        title="Pearson's correlation",
        short="Pearson",
        formula="cov(g, a) / (σ_g σ_a); undefined if either side is constant",
        source="Pearson (1895); scipy.stats.pearsonr",
        compute=_pearson,
        contributions=_pearson_contributions,
        example=Example(
            kind="table",
            gold={"1": "score 1", "2": "score 2", "3": "score 3"},
            run={"1": "score 1", "2": "score 3", "3": "score 2"},
            value=0.5,
            why="the deviations from the mean are −1, 0, 1 and −1, 1, 0: (1 + 0 + 0) / √(2 · 2)",
        ),
    ),
    _metric(
        name="spearman",
        title="Spearman's rank correlation",
        short="Spearman",
        formula="Pearson's correlation of the ranks, where equal values get their mean rank; undefined if either "
        "side is constant",
        source="Spearman (1904); scipy.stats.spearmanr",
        compute=_spearman,
        example=Example(
            kind="table",
            gold={"1": "score 10", "2": "score 20", "3": "score 70"},
            run={"1": "score 1", "2": "score 9", "3": "score 8"},
            value=0.5,
            why="the ranks are 1, 2, 3 and 1, 3, 2, so their deviations from the mean are −1, 0, 1 and −1, 1, 0: 1 "
            "/ √(2 · 2)",
        ),
    ),
    _metric(
        name="kendall",
        title="Kendall's rank correlation",
        short="Kendall",
        formula="τ-b = (C − D) / √((P − G) (P − A)), where P is the number of all item pairs, C the number of "
        "pairs in the same order on both sides, D in opposite order, G with equal gold values and A with "
        "equal run values; undefined if either side is constant",
        source="Kendall (1945), The treatment of ties in ranking problems; scipy.stats.kendalltau",
        compute=_kendall,
        example=Example(
            kind="table",
            gold={"1": "score 10", "2": "score 20", "3": "score 70", "4": "score 70"},
            run={"1": "score 1", "2": "score 9", "3": "score 8", "4": "score 9"},
            value=2 / 5,
            why="of the six item pairs, 1–2, 1–3 and 1–4 are in the same order, 2–3 is in opposite order, 3–4 is "
            "tied in the gold, and 2–4 is tied in the run: (3 − 1) / √(5 · 5)",
        ),
    ),
)
