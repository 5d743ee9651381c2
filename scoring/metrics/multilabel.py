"""Distances between label sets: Hamming loss and Jaccard similarity.

In a table, the columns are the labels: an item has the labels of the columns with the value 1. Items that lack a gold
value in any column are left out. If an item has no answer, every label counts as incorrect, and none as shared.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import LABELS, TABLE, Example, Metric, Share, ratios

Shares = tuple[NDArray[np.float64], NDArray[np.bool_]]  # each item's value, and whether the item is judged


def _judged(gold: LoadedGold) -> NDArray[np.bool_]:
    own = len(gold.matrix.columns)
    return np.logical_not(gold.absent[:, :own].any(axis=1))


@Share
def _wrong(comparison: MatrixComparison, spec: MetricSpec) -> Shares:
    """Return each item's share of incorrect labels. Labels unknown to the gold count as incorrect."""
    own = len(comparison.gold.matrix.columns)
    wrong = comparison.gold.values[:, :own] != comparison.run[:, :own]
    wrong |= ~comparison.answered[:, None]
    unknown = np.count_nonzero(comparison.run[:, own:], axis=1)
    judged = comparison.gold.once(_judged)
    return (np.count_nonzero(wrong, axis=1) + unknown) / np.maximum(1, own + unknown) * judged, judged


@Share
def _shared(comparison: MatrixComparison, spec: MetricSpec) -> Shares:
    """Return the number of shared labels divided by the number of labels on either side (1 if both sides have none)."""
    own = len(comparison.gold.matrix.columns)
    gold, run = comparison.gold.values[:, :own] == 1, comparison.run[:, :own] == 1
    either = np.count_nonzero(gold | run, axis=1) + np.count_nonzero(comparison.run[:, own:], axis=1)
    share = ratios(np.count_nonzero(gold & run, axis=1), either, 1.0)
    judged = comparison.gold.once(_judged)
    return share * (judged & comparison.answered), judged


METRICS = (
    Metric(
        name="hamming_loss",
        title="Hamming loss",
        short="Hamming",
        formula="mean over items of the share of labels that are incorrect",
        source="Tsoumakas and Katakis (2007), Multi-label classification: an overview; scikit-learn, hamming_loss",
        compared_with="scikit-learn",
        compute=_wrong,
        example=Example(
            kind="labels",
            gold={"1": "a b", "2": "c", "3": "a", "4": "b"},
            run={"1": "a", "2": "c", "3": "a", "4": "c"},
            value=0.25,
            why="of the three labels, one is incorrect in item 1 and two are incorrect in item 4: (1/3 + 2/3) / 4",
        ),
        kinds=LABELS | TABLE,
        higher_is_better=False,
    ),
    Metric(
        name="jaccard",
        title="Jaccard similarity",
        short="Jaccard",
        formula="mean over items of |A ∩ G| / |A ∪ G|; 1 if both are empty",
        source="Jaccard (1912); scikit-learn, jaccard_score with average='samples'",
        compared_with="scikit-learn",
        compute=_shared,
        example=Example(
            kind="labels",
            gold={"1": "a b", "2": "c"},
            run={"1": "a", "2": "c"},
            value=0.75,
            why="in item 1, one of two labels is shared: (1/2 + 1) / 2",
        ),
        kinds=LABELS | TABLE,
    ),
)
