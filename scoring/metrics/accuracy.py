"""Shares of correct answers: accuracy, system precision, exact match ratio."""

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import marks
from scoring.metrics.metric import BY_HAND, LABELS, TABLE, Contributions, Example, Metric, Part, Share, share_of


def _accuracy(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    own = marks(comparison, spec.part)
    judged = own.judged.sum()
    return float(own.hits.sum() / judged) if judged else None


def _accuracy_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    own = marks(comparison, spec.part)
    return share_of(own.hits.sum(axis=1), own.judged)


def _system_precision(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    own = marks(comparison, spec.part)
    given = own.given.sum() + own.given_outside
    return float(own.hits.sum() / given) if given else None


def _system_precision_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    own = marks(comparison, spec.part)
    return share_of(own.hits.sum(axis=1), own.given + own.given_outside / max(1, len(own.given)))


@Share
def _exact_match_ratio(comparison: MatrixComparison, spec: MetricSpec) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which items the run gets right in every class or column, and which items have a gold answer."""
    own = len(comparison.gold.matrix.columns)
    judged = np.logical_not(comparison.gold.absent[:, :own].any(axis=1))
    right: NDArray[np.bool_] = (comparison.gold.values[:, :own] == comparison.run[:, :own]).all(axis=1)
    return right & judged & comparison.answered & ~comparison.run[:, own:].any(axis=1), judged


@Share
def _admissible(comparison: MatrixComparison, spec: MetricSpec) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which items have only labels that the gold admits, and True for all items."""
    own = len(comparison.gold.tree.classes)
    wrong = np.hstack([comparison.run[:, :own] & ~comparison.gold.values, comparison.run[:, own:]])
    right = np.logical_and(comparison.run.any(axis=1), np.logical_not(wrong.any(axis=1)))
    return right, np.ones(len(right), np.bool_)


_GOLD = {"1": "yes", "2": "yes", "3": "no", "4": "no"}
_RUN = {"1": "yes", "2": "no", "3": "no"}

METRICS = (
    Metric(
        name="accuracy",
        title="Accuracy",
        short="Acc",
        formula="correct items / gold items; unanswered items count as incorrect",
        source="PyEvALL 0.2.11, Accuracy; scikit-learn, accuracy_score",
        compared_with="PyEvALL 0.2.11, scikit-learn",
        compute=_accuracy,
        contributions=_accuracy_contributions,
        example=Example("labels", _GOLD, _RUN, 0.5, "two of the four items are correct, and item 4 has no answer"),
        kinds=LABELS | TABLE,
        part=Part.COLUMN,
        single_label=True,
    ),
    Metric(
        name="system_precision",
        title="System precision",
        short="SP",
        formula="correct items / answered items; undefined if no item is answered",
        source="PyEvALL 0.2.11, SystemPrecision",
        undefined="if the run answers no items",
        compared_with="PyEvALL 0.2.11",
        compute=_system_precision,
        contributions=_system_precision_contributions,
        example=Example("labels", _GOLD, _RUN, 2 / 3, "two of the three answered items are correct"),
        kinds=LABELS | TABLE,
        part=Part.COLUMN,
        single_label=True,
        counts_outside=True,
    ),
    Metric(
        name="exact_match_ratio",
        title="Exact match ratio",
        short="EMR",
        formula="items that are correct in every class or column / gold items",
        source="Basile et al. (2019), SemEval-2019 Task 5 (HatEval), section 4.2; Kazawa et al. (2005)",
        compared_with="scikit-learn, the scorer of HatEval 2019",
        compute=_exact_match_ratio,
        example=Example(
            kind="table",
            gold={"1": "HS 1, TR 1", "2": "HS 1, TR 0", "3": "HS 0, TR 0"},
            run={"1": "HS 1, TR 0", "2": "HS 1, TR 0", "3": "HS 0, TR 0"},
            value=2 / 3,
            why="items 2 and 3 are correct in both columns, but item 1 is correct in only one",
        ),
        kinds=LABELS | TABLE,
    ),
    Metric(
        name="accuracy_admissible",
        title="Accuracy with several admissible labels",
        short="Acc",
        formula="items whose labels are all among the gold's labels / gold items; unanswered items count as incorrect; "
        "if the gold has several admissible labels for an item, set `format: {…, multi: true}` for the gold file",
        source="Raganato et al. (2017), Word sense disambiguation: a unified evaluation framework, EACL",
        compared_with=BY_HAND,
        compute=_admissible,
        example=Example(
            kind="labels",
            gold={"1": "a b", "2": "c", "3": "a c", "4": "b"},
            run={"1": "a", "2": "b", "3": "c"},
            value=0.5,
            why="the labels of items 1 and 3 are admissible, the label of item 2 is not, and item 4 has no answer",
        ),
        kinds=LABELS,
    ),
)
