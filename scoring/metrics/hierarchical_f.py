"""Hierarchical and propensity F-measures: the overlap of two class sets, including ancestors and the root.

An item's value is 2 w(A ∩ G) / (w(A) + w(G)). In the hierarchical measure, every class has the weight 1. In the
propensity measure, the weight is the inverse of the propensity, 1 + C · exp(−a · log2(N_c + b)) with C = (log2 N − 1)(b
+ 1)^a, a = 0.55 and b = 1.5, where N_c is the number of gold items that have the class. Rare classes therefore count
more. Every item has the root class, even without an answer.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.classes import class_sets, gold_classes, weigh
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import total
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import LABELS, TABLE, Example, Mean, Metric, Numbers

_A, _B = 0.55, 1.5  # Jain et al. (2016), section 3


def _inverse_propensity(counts: NDArray[np.int64], items: int) -> NDArray[np.float64]:
    """Return the weight of each class. `counts` of the `items` gold items have the class.

    A weight is at least 1, even if there is only one item.
    """
    scale = max(0.0, float(np.log2(items)) - 1) * (_B + 1) ** _A
    weights: NDArray[np.float64] = 1 + scale * np.exp(-_A * np.log2(counts + _B))
    return weights


def _propensity_weights(gold: LoadedGold) -> NDArray[np.float64]:
    return _inverse_propensity(total(gold.once(gold_classes)), len(gold))


def _values(comparison: MatrixComparison, known: Numbers, unknown: float, root: float) -> Numbers:
    """Return the value of each item.

    Args:
        known: the weights of the classes that the gold knows.
        unknown: the weight of each class that only the run has.
        root: the weight of the root.
    """
    sets = comparison.once(class_sets)
    weights = np.pad(known, (0, comparison.extra), constant_values=unknown)
    shared = weigh(sets.gold & sets.run, weights) + root
    values: Numbers = 2 * shared / (weigh(sets.gold, weights) + weigh(sets.run, weights) + 2 * root)
    return values


@Mean
def _hierarchical(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    return _values(comparison, np.ones(comparison.gold.once(gold_classes).shape[1]), unknown=1.0, root=1.0)


@Mean
def _propensity(comparison: MatrixComparison, spec: MetricSpec) -> Numbers:
    items = len(comparison.gold)
    unknown, root = _inverse_propensity(np.array([0, items]), items).tolist()
    return _values(comparison, comparison.gold.once(_propensity_weights), unknown, root)


METRICS = (
    Metric(
        name="hierarchical_f",
        title="Hierarchical F-measure",
        short="HF",
        formula="mean over items of 2 |A ∩ G| / (|A| + |G|), where both sets include all ancestors and the root",
        source="Ariza-Casabona et al. (2022), DETESTS, section 4; a variant of Kiritchenko et al. (2004), who "
        "compute one F-measure over all items together and leave out the root",
        compared_with="the scorer of DETESTS 2022",
        compute=_hierarchical,
        example=Example(
            kind="labels",
            gold={"1": "dog", "2": "tree"},
            run={"1": "cat", "2": "tree"},
            value=5 / 6,
            why="in item 1, each side has three classes, and both have animal and the root: (2 · 2 / (3 + 3) + 1) / 2",
            hierarchy={"animal": ("dog", "cat"), "tree": ()},
        ),
        kinds=LABELS | TABLE,
    ),
    Metric(
        name="propensity_f",
        title="Propensity F-measure",
        short="Prop-F",
        formula="hierarchical F-measure with classes weighted by 1 + (log2 N − 1) 2.5^0.55 exp(−0.55 log2(N_c + 1.5))",
        source="Jain et al. (2016), KDD; Ariza-Casabona et al. (2022), DETESTS, section 4",
        compared_with="the scorer of DETESTS 2022",
        compute=_propensity,
        example=Example(
            kind="labels",
            gold={"1": "a", "2": "b"},
            run={"1": "b", "2": "b"},
            value=0.75,
            why="with two gold items, each class and the root have a weight of 1 because log2 2 = 1: (2 · 1 / (2 + "
            "2) + 1) / 2",
        ),
        kinds=LABELS | TABLE,
    ),
)
