"""ICM-Soft and ICM-Soft-Norm: the information contrast model with class weights.

I(c, w) = −log2 P(weight of c ≥ w), where P is the upper tail of a normal distribution with the gold's mean. The
standard deviation is the gold's mean absolute deviation. An ancestor has the largest weight among its descendants. The
union of two assignments has the larger weights, and its information is Σ_c I(c, w_c) − I(parent of c, w_c). In a tree,
this equals the recursive definition by deepest common ancestors, in any order.

With `tail: observed`, P is the share of gold items whose weight is at least w, as in the guidelines of EXIST 2024. In
this case, too, a weight above all gold weights counts as log2 N.

Conventions (PyEvALL's, where it defines any): I(c, 0) = 0. A tail that underflows, and any weight for a class that the
gold does not know, counts as log2 N. Values are not capped, and the gold standard is not the best possible answer. A
class with the same weight in the whole gold (where PyEvALL fails) counts as 0 up to that weight and as log2 N beyond.
"""

from math import log2, sqrt

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.distinct import distinct
from scoring.metrics.icm import CONTRAST_OPTIONS, Contrast, contrast_of, normalize, normalized
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import SOFT, Contributions, Example, Mean, Metric, Numbers, Options
from scoring.metrics.normal import upper_tail

_FEW = 8  # a lookup table is used if there are at least this many items per distinct weight


def _gold_weights(gold: LoadedGold) -> Numbers:
    """Return the gold's weights for its classes and their ancestors, with shape (items, classes of the tree)."""
    return gold.tree.close(gold.values.astype(np.float64))


def _normals(gold: LoadedGold) -> tuple[Numbers, Numbers]:
    """Return the mean and mean absolute deviation of each class.

    They are computed from the number of times each weight occurs, so that the result does not depend on the order of
    rows, not even in the last bit.
    """
    means, deviations = [], []
    for column in gold.once(_gold_weights).T:
        weights, counts = np.unique(column, return_counts=True)
        means.append((weights * counts).sum() / len(column))
        deviations.append((np.abs(weights - means[-1]) * counts).sum() / len(column))
    return np.array(means), np.array(deviations)


def _normal_tails(gold: LoadedGold, weights: Numbers, classes: NDArray[np.intp]) -> Numbers:
    means, deviations = (of_all[classes] for of_all in gold.once(_normals))
    constant = deviations == 0.0
    tails = upper_tail((weights - means) / (np.where(constant, 1.0, deviations) * sqrt(2.0)))
    tails[:, constant] = weights[:, constant] <= means[constant]
    return tails


def _observed_tails(gold: LoadedGold, weights: Numbers, classes: NDArray[np.intp]) -> Numbers:
    columns = gold.once(_sorted_weights)[:, classes]
    below = np.empty(weights.shape)
    for place in range(len(classes)):
        below[:, place] = np.searchsorted(columns[:, place], weights[:, place])
    tails: Numbers = 1 - below / len(gold)
    return tails


def _sorted_weights(gold: LoadedGold) -> Numbers:
    weights: Numbers = np.sort(gold.once(_gold_weights), axis=0)
    return weights


_TAILS = {"normal": _normal_tails, "observed": _observed_tails}
_OPTIONS: Options = {**CONTRAST_OPTIONS, "tail": tuple(_TAILS)}


def _bits(gold: LoadedGold, weights: Numbers, classes: NDArray[np.intp], tail: str) -> Numbers:
    """Return I(c, w) in bits for `weights` (items, classes). `classes` gives the class of each column."""
    tails = _TAILS[tail](gold, weights, classes)
    tails[tails == 0.0] = 1 / len(gold)
    bits: Numbers = -np.log2(tails)
    bits[weights == 0.0] = 0.0
    return bits


def _information(gold: LoadedGold, weights: Numbers, tail: str) -> Numbers:
    """Return I(c, w) − I(parent of c, w) for each cell of `weights` (items, classes of the tree), with ancestors."""
    given = distinct(weights)
    if len(given) > len(weights) / _FEW:
        return _information_of_cells(gold, weights, tail)
    classes = weights.shape[1]
    table = _information_of_cells(gold, np.tile(given[:, None], classes), tail)
    return table[np.searchsorted(given, weights), np.arange(classes)]


def _information_of_cells(gold: LoadedGold, weights: Numbers, tail: str) -> Numbers:
    parents = gold.tree.parents
    children = np.flatnonzero(parents >= 0)
    bits = _bits(gold, weights, np.arange(len(parents)), tail)
    bits[:, children] -= _bits(gold, weights[:, children], parents[children], tail)
    return bits


def _gold_information(gold: LoadedGold, tail: str) -> Numbers:
    return _information(gold, gold.once(_gold_weights), tail)


def _gold_sums(gold: LoadedGold, tail: str) -> Numbers:
    """Return the information of each gold item."""
    sums: Numbers = gold.once(_gold_information, tail).sum(axis=1)
    return sums


def _values(comparison: MatrixComparison, contrast: Contrast, tail: str) -> Numbers:
    """Return the ICM-Soft of each item."""
    gold, known = comparison.gold, len(comparison.gold.tree.classes)
    run = gold.tree.close(comparison.run[:, :known].astype(np.float64))
    ours, theirs = _information(gold, run, tail), gold.once(_gold_information, tail)
    both = np.where(run > gold.once(_gold_weights), ours, theirs)
    shares = (contrast.run * ours + contrast.gold * theirs - contrast.union * both).sum(axis=1)
    # Each class that only the run has counts as log2 N bits, both in the run and in the union.
    unknown = np.count_nonzero(~comparison.absent[:, known:], axis=1) * log2(len(gold))
    values: Numbers = shares + (contrast.run - contrast.union) * unknown
    return values


def _tail(spec: MetricSpec) -> str:
    return str(spec.options.get("tail", "normal"))


@Mean
def _icm_soft(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    return comparison.once(_values, contrast_of(spec), _tail(spec))


def _icm_soft_norm(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    if not len(comparison.gold):
        return None
    best = contrast_of(spec).of_itself * float(comparison.gold.once(_gold_sums, _tail(spec)).mean())
    return normalize(_icm_soft(comparison, spec), best)


def _norm_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    contrast = contrast_of(spec)
    best = contrast.of_itself * comparison.gold.once(_gold_sums, _tail(spec))
    return normalized(comparison.once(_values, contrast, _tail(spec)), best)


_GOLD = {"1": "a 1, b 0", "2": "a 0.5, b 0.5", "3": "a 0.5, b 0.5", "4": "a 0, b 1"}

METRICS = (
    Metric(
        name="icm_soft",
        title="Information contrast model, soft",
        short="ICM-Soft",
        formula="mean over items of α1 I(A) + α2 I(G) − β I(A ∪ G), by default with α1 = α2 = 2 and β = 3; I(c, w) "
        "= −log2 P(weight ≥ w), where P is the tail of a normal distribution or, with `tail: observed`, the "
        "share of gold items with at least this weight",
        source="Plaza et al. (2023), Overview of EXIST 2023; PyEvALL 0.2.11, ICMSoft",
        compared_with="PyEvALL 0.2.11",
        conventions=("ICM-Soft",),
        compute=_icm_soft,
        example=Example(
            kind="soft",
            gold={"1": "a 0.5", "2": "a 0.5", "3": "a 0.5", "4": "a 0.5"},
            run={"1": "a 0.5", "2": "a 0.5", "3": "a 0.75", "4": "a 0.75"},
            value=-1.0,
            why="0.5 is the only gold weight and has 0 bits; 0.75 is larger and has log2 4 = 2 bits: 2 · (2 · 2 + "
            "0 − 3 · 2) / 4",
        ),
        options=_OPTIONS,
        kinds=SOFT,
        low=None,
        high=None,
    ),
    Metric(
        name="icm_soft_norm",
        title="Normalized information contrast model, soft",
        short="ICM-Soft-Norm",
        formula="max(0, (ICM-Soft(A, G) + ICM-Soft(G, G)) / (2 ICM-Soft(G, G))); can exceed 1",
        source="PyEvALL 0.2.11, ICMSoftNorm",
        undefined="if all items have the same gold answer",
        compared_with="PyEvALL 0.2.11",
        conventions=("ICM-Soft",),
        compute=_icm_soft_norm,
        contributions=_norm_contributions,
        example=Example(
            "soft", _GOLD, _GOLD, 1.0, "the run equals the gold, so both have the same ICM-Soft b: (b + b) / (2 b)"
        ),
        options=_OPTIONS,
        kinds=SOFT,
        high=None,
    ),
)
