"""Predictions for each annotator: a table with a column per annotator, empty in the gold where one did not annotate.

The mean over items of what the mean over an item's annotators is. An answer that a run lacks is as wrong as can be.
"""

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import TABLE, AnyNumber, Example, Metric, Numbers, Share, number, ratios

Shares = tuple[Numbers, Numbers]  # of each item, and 1 if an annotator has judged it


def _mean_over_annotators(comparison: MatrixComparison, wrong: Numbers) -> Shares:
    """The mean of `wrong` (items, annotators) over the cells that the gold has."""
    judged = ~comparison.gold.absent
    counts = np.count_nonzero(judged, axis=1)
    return ratios((wrong * judged).sum(axis=1), counts, 0.0), (counts > 0).astype(np.float64)


@Share
def _errors(comparison: MatrixComparison, spec: MetricSpec) -> Shares:
    own = len(comparison.gold.tree.classes)
    wrong = (comparison.run[:, :own] != comparison.gold.values) | comparison.absent[:, :own]
    return _mean_over_annotators(comparison, wrong.astype(np.float64))


@Share
def _distances(comparison: MatrixComparison, spec: MetricSpec) -> Shares:
    own, scale = len(comparison.gold.tree.classes), number(spec, "range", 1.0)
    off = np.abs(comparison.run[:, :own].astype(np.float64) - comparison.gold.values) / scale
    return _mean_over_annotators(comparison, np.where(comparison.absent[:, :own], 1.0, off))


_GOLD = {"1": "ann 1, bob 1", "2": "ann 4, bob ?", "3": "ann 2, bob 3"}
_RUN = {"1": "ann 1, bob 3", "2": "ann 4, bob 1", "3": "ann 3, bob 4"}

METRICS = (
    Metric(
        name="annotator_error",
        title="Error rate of annotators",
        short="Ann. error",
        formula="mean over items of the share of annotators whose label is predicted wrong",
        source="Leonardelli et al. (2025), LeWiDi 2025, task B",
        compute=_errors.compute,
        contributions=_errors.contributions,
        example=Example(
            "table",
            _GOLD,
            _RUN,
            0.5,
            "of item 1 one of two is wrong, of item 2 none of one, of item 3 both: (1/2 + 0 + 1) / 3",
        ),
        kinds=TABLE,
        numbers=True,
        higher_is_better=False,
    ),
    Metric(
        name="annotator_distance",
        title="Distance from annotators",
        short="Ann. distance",
        formula="mean over items of the mean over annotators of |g − a| / range; the option `range` is the greatest "
        "distance of two values, by default 1",
        source="Leonardelli et al. (2025), LeWiDi 2025, task B, normalized absolute distance",
        compute=_distances.compute,
        contributions=_distances.contributions,
        example=Example(
            "table",
            _GOLD,
            _RUN,
            1 / 6,
            "differences 0 and 2, 0, 1 and 1, range 4: ((0 + 1/2) / 2 + 0 + (1/4 + 1/4) / 2) / 3",
            options={"range": "4"},
        ),
        kinds=TABLE,
        numbers=True,
        options={"range": AnyNumber(1e-9)},
        higher_is_better=False,
        high=None,
    ),
)
