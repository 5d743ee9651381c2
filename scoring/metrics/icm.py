"""ICM and ICM-Norm: the information contrast model for hierarchical, single- or multi-label classification.

ICM(A, G) = α1 I(A) + α2 I(G) − β I(A ∪ G), averaged over the items. The coefficients are 2, 2 and 3 by default. The
information content of a single class is I(c) = −log2 P(c), where P(c) is the share of gold items with c or a descendant
of c, and 1 / N for a class without gold items. For a set, I is the sum of w(c) = I(c) − I(parent of c) over the set
and all ancestors. In a tree, this equals the recursive definition by deepest common ancestors, in any order. For
sets that contain all ancestors, I(A ∪ G) = I(A) + I(G) − I(A ∩ G), so the mean follows from three counts per class.

The information content of a class is always computed from the whole gold, even if only some items or samples of items
are judged.
"""

from typing import NamedTuple

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.classes import ClassSets, class_sets, gold_classes, parents, weigh
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import total
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import (
    LABELS,
    TABLE,
    AnyNumber,
    Contributions,
    Example,
    Metric,
    Numbers,
    Options,
    mean_of,
    number,
    ratios,
)


class Contrast(NamedTuple):
    """The coefficients α1, α2 and β of the model."""

    run: float
    gold: float
    union: float

    @property
    def of_itself(self) -> float:
        """The factor that multiplies the information of an answer identical to the gold."""
        return self.run + self.gold - self.union


def _gains_from_additions(spec: MetricSpec) -> bool:
    """Return whether additional classes in the run's answer improve the value. The gold is then not the best answer."""
    contrast = contrast_of(spec)
    return contrast.run > contrast.union


CONTRAST_OPTIONS: Options = {name: AnyNumber(low=0.0) for name in ("alpha1", "alpha2", "beta")}


def contrast_of(spec: MetricSpec) -> Contrast:
    return Contrast(number(spec, "alpha1", 2.0), number(spec, "alpha2", 2.0), number(spec, "beta", 3.0))


def normalize(value: float | None, best: float) -> float | None:
    """Return (value + best) / (2 · best), at least 0, or None if the gold itself has no information."""
    return max(0.0, (value + best) / (2 * best)) if value is not None and best > 0 else None


def normalized(values: Numbers, best: Numbers) -> Contributions:
    """Return the contributions to a normalized metric. `best` has the values of a run identical to the gold."""
    return Contributions(np.column_stack([values, best]), _normalize_sums)


def _normalize_sums(sums: Numbers) -> Numbers:
    value, best = sums[..., 0], sums[..., 1]
    floored: Numbers = np.maximum(ratios(value + best, 2 * best), 0.0)
    return floored


def _gold_weights(gold: LoadedGold) -> Numbers:
    """Return how much information, in bits, each class adds to that of its parent."""
    items = len(gold)
    counts = total(gold.once(gold_classes))
    information: Numbers = np.log2(items) - np.log2(np.maximum(counts, 1))
    above = parents(gold)
    return information - np.where(above >= 0, information[above], 0.0)


def _weights(comparison: MatrixComparison) -> Numbers:
    """Return the weights of `_gold_weights`, followed by the weights of classes that only the run has."""
    unknown = np.full(comparison.extra, np.log2(len(comparison.gold)))
    return np.concatenate([comparison.gold.once(_gold_weights), unknown])


def _gold_information(gold: LoadedGold) -> Numbers:
    return weigh(gold.once(gold_classes), gold.once(_gold_weights))


def _gold_mean(gold: LoadedGold) -> float:
    """Return the mean information of the gold items."""
    counts = total(gold.once(gold_classes))
    return float((gold.once(_gold_weights) * counts).sum() / len(gold))


def _value(comparison: MatrixComparison, contrast: Contrast) -> float:
    sets: ClassSets = comparison.once(class_sets)
    gold, run, shared = (total(side) for side in (sets.gold, sets.run, sets.gold & sets.run))
    own, golds, union = contrast
    counts = union * shared + (golds - union) * gold + (own - union) * run
    return float((_weights(comparison) * counts).sum() / len(comparison.gold))


def _icm(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    return comparison.once(_value, contrast_of(spec)) if len(comparison.gold) else None


def _icm_norm(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    if not len(comparison.gold):
        return None
    return normalize(_icm(comparison, spec), contrast_of(spec).of_itself * comparison.gold.once(_gold_mean))


def _values(comparison: MatrixComparison, contrast: Contrast) -> Numbers:
    """Return the ICM of each item."""
    own, golds, union = contrast
    sets, weights = comparison.once(class_sets), _weights(comparison)
    shared, run = weigh(sets.gold & sets.run, weights), weigh(sets.run, weights)
    gold = comparison.gold.once(_gold_information)
    return union * shared + (golds - union) * gold + (own - union) * run


def _information_changes(comparison: MatrixComparison, contrast: Contrast) -> Numbers:
    """Return how much each item changes the value through the information content of its classes, to first order.

    The mean of the changes is 0. A class becomes less informative if one more item has it: dI(c) = −dP(c) / (P(c) ln
    2), for all items that have c.
    """
    own, golds, union = contrast
    sets: ClassSets = comparison.once(class_sets)
    above = parents(comparison.gold)
    classes, items = len(above), len(comparison.gold)
    gold, run, shared = (total(side[:, :classes]) for side in (sets.gold, sets.run, sets.gold & sets.run))
    counts = union * shared + (golds - union) * gold + (own - union) * run
    held = counts.copy()
    np.subtract.at(held, above[above >= 0], counts[above >= 0])  # a child's weight is relative to its parent
    slopes = -held / (np.maximum(gold, 1) * np.log(2))
    return weigh(sets.gold[:, :classes], slopes) - float((slopes * gold).sum() / items)


def _contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    contrast = contrast_of(spec)
    return mean_of(_values(comparison, contrast) + _information_changes(comparison, contrast))


def _norm_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    contrast = contrast_of(spec)
    best = contrast.of_itself * comparison.gold.once(_gold_information)
    return normalized(_values(comparison, contrast), best)


_GOLD = {"1": "a", "2": "a", "3": "b", "4": "b"}

METRICS = (
    Metric(
        name="icm",
        title="Information contrast model",
        short="ICM",
        formula="mean over items of α1 I(A) + α2 I(G) − β I(A ∪ G), by default with α1 = α2 = 2 and β = 3; I(c) = "
        "−log2 P(c), where P = 1/N for classes not in the gold",
        source="Amigó and Delgado (2022), Evaluating extreme hierarchical multi-label classification, ACL; PyEvALL "
        "0.2.11",
        compared_with="PyEvALL 0.2.11",
        conventions=("ICM",),
        compute=_icm,
        example=Example(
            kind="labels",
            gold=_GOLD,
            run={"1": "a", "2": "b", "3": "b", "4": "b"},
            value=0.25,
            why="a and b have P = 1/2, that is, 1 bit; items 1, 3 and 4 contribute 2 + 2 − 3 · 1 = 1 each, and "
            "item 2 contributes 2 + 2 − 3 · 2 = −2",
        ),
        contributions=_contributions,
        kinds=LABELS | TABLE,
        options=CONTRAST_OPTIONS,
        low=None,
        high=None,
    ),
    Metric(
        name="icm_norm",
        title="Normalized information contrast model",
        short="ICM-Norm",
        formula="max(0, (ICM(A, G) + ICM(G, G)) / (2 ICM(G, G))); undefined if all gold items have the same classes; "
        "can exceed 1 only if α1 > β, because additional classes then improve ICM",
        source="PyEvALL 0.2.11, ICMNorm",
        undefined="if all items have the same gold answer",
        compared_with="PyEvALL 0.2.11",
        conventions=("ICM",),
        compute=_icm_norm,
        example=Example(
            kind="labels",
            gold=_GOLD,
            run={"1": "a", "2": "b", "3": "b", "4": "b"},
            value=0.625,
            why="ICM is 1/4 for the run, and 1 for the gold compared with itself: (1/4 + 1) / 2",
        ),
        contributions=_norm_contributions,
        kinds=LABELS | TABLE,
        options=CONTRAST_OPTIONS,
        exceeds_high=_gains_from_additions,
    ),
)
