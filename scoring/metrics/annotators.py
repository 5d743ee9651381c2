"""Predictions for each annotator: a table with a column per annotator. Gold cells are empty for missing annotations.

The error of an item is the mean over its annotators, and the metric is the mean over the items. An answer missing from
the run counts as the largest possible error.
"""

from functools import partial

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.metric import BY_HAND, TABLE, AnyNumber, Example, Metric, Numbers, Share, number, ratios

Shares = tuple[Numbers, Numbers]  # each item's value, and 1 if any annotator has judged the item


def _mean_over_annotators(comparison: MatrixComparison, wrong: Numbers) -> Shares:
    """Return the mean of `wrong` (items, annotators) over the cells of each item that have a gold value."""
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
_example = partial(Example, "table", _GOLD, _RUN)

_metric = partial(
    Metric, kinds=TABLE, numbers=True, higher_is_better=False, compared_with=BY_HAND, conventions=("Annotators",)
)
METRICS = (
    _metric(
        name="annotator_error",
        title="Error rate on annotators' labels",
        short="Ann. error",
        formula="mean over items of the share of annotators whose label is predicted incorrectly",
        source="Leonardelli et al. (2025), LeWiDi 2025, task B, whose scorer has error_rate for labels 0 and 1",
        compute=_errors,
        example=_example(
            0.5, "one of two labels is incorrect in item 1, none in item 2, and both in item 3: (1/2 + 0 + 1) / 3"
        ),
    ),
    _metric(
        name="annotator_distance",
        title="Distance from annotators' labels",
        short="Ann. distance",
        formula="mean over items of the mean over annotators of |g − a| / range; the `range` option is the "
        "greatest distance between two values and defaults to 1",
        source="Leonardelli et al. (2025), LeWiDi 2025, task B, whose scorer has mean_absolute_distance",
        compute=_distances,
        example=_example(
            1 / 6,
            "the differences are 0 and 2 in item 1, 0 in item 2, and 1 and 1 in item 3, and the range is 4: ((0 + "
            "1/2) / 2 + 0 + (1/4 + 1/4) / 2) / 3",
            options={"range": "4"},
        ),
        options={"range": AnyNumber(1e-9)},
        high=None,
    ),
)
