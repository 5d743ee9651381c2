"""Distances between soft labels: Jensen–Shannon, Kullback–Leibler, Wasserstein, Manhattan, and Brier score."""

from functools import partial
from math import log, sqrt

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import SOFT, AnyNumber, Example, Mean, Metric, Numbers, Share, number

LOG_BASES = ("2", "e", "10")
EPSILON = 1e-12


def log_unit(spec: MetricSpec, otherwise: str) -> float:
    """Return the natural logarithm of the `base` option."""
    base = spec.options.get("base", otherwise)
    return 1.0 if base == "e" else log(float(base))


def _shares(weights: Numbers) -> Numbers:
    """Normalize each row. Rows of zeros stay unchanged."""
    sums = weights.sum(axis=1, keepdims=True)
    shares: Numbers = np.divide(weights, sums, out=np.zeros_like(weights), where=sums > 0)
    return shares


def _gold_shares(gold: LoadedGold) -> Numbers:
    return _shares(gold.values.astype(np.float64))


def _gains(part: Numbers, other: Numbers) -> Numbers:
    """Return Σ_c p log2(2 p / (p + q)) for each row."""
    both = part + other
    ratio = np.divide(2 * part, both, out=np.ones_like(part), where=part > 0)
    gains: Numbers = (part * np.log2(ratio)).sum(axis=1)
    return gains


def _run_shares(comparison: MatrixComparison) -> Numbers:
    return _shares(comparison.run.astype(np.float64))


def _judged(comparison: MatrixComparison) -> Numbers:
    """Return 1 for items with any gold weight, otherwise 0."""
    return np.asarray((comparison.gold.once(_gold_shares) > 0).any(axis=1), np.float64)


def _divergence_by_item(comparison: MatrixComparison) -> Numbers:
    """Return each item's Jensen–Shannon divergence in bits, which is 1 for items without weights in the run."""
    known = comparison.gold.once(_gold_shares)
    gold = np.hstack([known, np.zeros((len(known), comparison.extra))])
    run = comparison.once(_run_shares)
    values = np.clip((_gains(gold, run) + _gains(run, gold)) / 2, 0.0, 1.0)
    divergences: Numbers = np.where((run > 0).any(axis=1), values, 1.0) * comparison.once(_judged)
    return divergences


@Share
def _divergences(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: each item's divergence, and 1 for items with any gold weight, otherwise 0."""
    scale = log(2) / log_unit(spec, "2")
    return scale * comparison.once(_divergence_by_item), comparison.once(_judged)


@Share
def _distances(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: the square root of each item's divergence, and 1 for items with gold weight, otherwise 0."""
    divergences, judged = _divergences.parts(comparison, spec)
    return np.sqrt(divergences), judged


@Share
def _relative_entropies(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: each item's KL(g ∥ a), and 1 for items with any gold weight, otherwise 0."""
    gold = comparison.gold.once(_gold_shares)
    run = np.maximum(comparison.once(_run_shares)[:, : gold.shape[1]], number(spec, "epsilon", EPSILON))
    logarithms = np.log(np.divide(gold, run, out=np.ones_like(gold), where=gold > 0))
    values = np.maximum(0.0, (gold * logarithms).sum(axis=1)) / log_unit(spec, "e")
    return values, comparison.once(_judged)


def _places(classes: tuple[str, ...]) -> Numbers:
    """Return each class's position on the scale: the number in its name, or its index if not all names are numbers."""
    try:
        places = np.array([float(name) for name in classes])
    except ValueError:
        return np.arange(len(classes), dtype=np.float64)
    return places if np.isfinite(places).all() else np.arange(len(classes), dtype=np.float64)


@Share
def _transports(comparison: MatrixComparison, spec: MetricSpec) -> tuple[Numbers, Numbers]:
    """Return two arrays: each item's Wasserstein distance, and 1 for items with any gold weight, otherwise 0."""
    gold = comparison.gold.once(_gold_shares)
    run = _shares(comparison.run[:, : gold.shape[1]].astype(np.float64))
    places = _places(comparison.gold.tree.classes)
    order = np.argsort(places, kind="stable")
    surplus = np.cumsum((gold - run)[:, order], axis=1)[:, :-1]
    values = (np.abs(surplus) * np.diff(places[order])).sum(axis=1)
    judged = comparison.once(_judged)
    return np.where((run > 0).any(axis=1), values, np.ptp(places) if len(places) else 0.0) * judged, judged


def _off(comparison: MatrixComparison) -> Numbers:
    """Return the differences g − a, with shape (items, classes), including classes that only the run has."""
    known = len(comparison.gold.tree.classes)
    return np.hstack([comparison.gold.values - comparison.run[:, :known], -comparison.run[:, known:]])


_metric = partial(Metric, kinds=SOFT, higher_is_better=False, conventions=("Soft labels",))
METRICS = (
    _metric(
        name="jensen_shannon",
        title="Jensen–Shannon divergence",
        short="JSD",
        formula="mean over items of (KL(g ∥ m) + KL(a ∥ m)) / 2, where m = (g + a) / 2 and each item's weights are "
        "normalized; by default, logarithms have base 2; an item without weights in the run gets the "
        "maximum divergence, log 2; items without weights in the gold are ignored",
        source="Lin (1991), Divergence measures based on the Shannon entropy; scipy, jensenshannon (its square)",
        undefined="if the gold has no weights",
        compared_with="SciPy",
        options={"base": LOG_BASES},
        compute=_divergences,
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0, b 1", "2": "a 0.5, b 0.5"},
            value=0.5,
            why="item 1 has the maximum divergence of 1 bit, and item 2 is correct: (1 + 0) / 2",
        ),
    ),
    _metric(
        name="jensen_shannon_distance",
        title="Jensen–Shannon distance",
        short="JS dist",
        formula="mean over items of the square root of the Jensen–Shannon divergence; the `base` option and "
        "items without weights are handled as in the divergence",
        source="Endres and Schindelin (2003), A new metric for probability distributions; scipy, jensenshannon, whose "
        "base is e by default",
        undefined="if the gold has no weights",
        compared_with="SciPy",
        options={"base": LOG_BASES},
        compute=_distances,
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0, b 1", "2": "a 0.5, b 0.5"},
            value=sqrt(log(2)) / 2,
            why="with base e, item 1 has a divergence of log 2 = 0.693, and item 2 has none: (√0.693 + 0) / 2",
            options={"base": "e"},
        ),
    ),
    _metric(
        name="kullback_leibler",
        title="Kullback–Leibler divergence",
        short="KL",
        formula="mean over items of max(0, Σ_c g_c log(g_c / max(a_c, ε))), with each item's weights normalized; "
        "by default, logarithms have base e, and ε = 1e-12; items without weights in the gold are ignored",
        source="Kullback and Leibler (1951), On information and sufficiency; scipy, stats.entropy of two distributions",
        undefined="if the gold has no weights",
        compared_with="SciPy",
        options={"base": LOG_BASES, "epsilon": AnyNumber(1e-30)},
        compute=_relative_entropies,
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=0.5,
            why="with base 2, item 1 contributes 1 · log2(1 / 0.5) = 1, and item 2 contributes 0: (1 + 0) / 2",
            options={"base": "2"},
        ),
        high=None,
    ),
    _metric(
        name="wasserstein",
        title="Wasserstein distance",
        short="WS",
        formula="mean over items of ∫ |G − A|, where G and A are the cumulative weights, with each item's weights "
        "normalized; a class's position is its name if all class names are numbers, otherwise its index in "
        "`classes`; an item without weights in the run gets the maximum distance "
        "between two classes; items without weights in the gold are ignored",
        source="Vallender (1974), Calculation of the Wasserstein distance on the line; scipy, "
        "stats.wasserstein_distance(places, places, g, a)",
        undefined="if the gold has no weights",
        compared_with="SciPy",
        compute=_transports,
        example=Example(
            kind="soft",
            gold={"1": "1 1, 2 0, 4 0", "2": "1 0, 2 1, 4 0"},
            run={"1": "1 0.5, 2 0, 4 0.5", "2": "1 0.5, 2 0.5, 4 0"},
            value=1.0,
            why="half of item 1's weight moves from 4 to 1, and half of item 2's weight from 1 to 2: "
            "(0.5 · 3 + 0.5 · 1) / 2",
        ),
        high=None,
    ),
    _metric(
        name="manhattan",
        title="Manhattan distance",
        short="Manhattan",
        formula="mean over items of Σ_c |g_c − a_c|; weights that are missing from a run count as 0",
        source="Leonardelli et al. (2025), LeWiDi 2025; scipy, distance.cityblock",
        compared_with="SciPy",
        compute=Mean(lambda comparison, _: np.abs(comparison.once(_off)).sum(axis=1)),
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=0.5,
            why="item 1 differs by 1/2 in each of two classes: (1/2 + 1/2 + 0) / 2",
        ),
        high=None,
    ),
    _metric(
        name="brier",
        title="Brier score",
        short="Brier",
        formula="mean over items of Σ_c (g_c − a_c)²; weights that are missing from a run count as 0",
        source="Brier (1950), Verification of forecasts expressed in terms of probability; scikit-learn, "
        "brier_score_loss with scale_by_half=False",
        compared_with="scikit-learn",
        compute=Mean(lambda comparison, _: (comparison.once(_off) ** 2).sum(axis=1)),
        example=Example(
            kind="soft",
            gold={"1": "a 1, b 0", "2": "a 0.5, b 0.5"},
            run={"1": "a 0.5, b 0.5", "2": "a 0.5, b 0.5"},
            value=0.25,
            why="item 1 differs by 1/2 in each of two classes: (1/4 + 1/4 + 0) / 2",
        ),
        high=None,
    ),
)
