"""Precision, recall and F1 of typed entities, based on how much of each entity is covered (SemEval-2020, task 11)."""

from functools import partial

import numpy as np

from scoring.metrics.comparison import EntityComparison
from scoring.metrics.entities import UNDEFINED, Column, Measure, micro_and_macro, ones
from scoring.metrics.metric import ENTITIES, Example, Metric, Numbers, ratios
from scoring.metrics.spans import marked


def _columns(comparison: EntityComparison) -> tuple[Column, ...]:
    """Return the covered shares of the run's entities, their number, and the same for the gold."""
    gold, items, types = comparison.gold.entities, len(comparison.gold), len(comparison.types)
    owners = np.repeat(np.arange(items), np.diff(gold.starts))
    run_sides = (comparison.owners, comparison.begins, comparison.ends)
    both = marked(
        (owners * types + gold.kinds, gold.begins, gold.ends),
        (run_sides[0] * types + comparison.kinds_of_run, *run_sides[1:]),
    )
    columns = list[Column]()
    for side, other in ((both.run, both.gold_united), (both.gold, both.run_united)):
        shares, rows, kinds = side.covered_by(other) / side.lengths, side.owners // types, side.owners % types
        columns += [Column(rows, kinds, shares), ones(rows, kinds)]
    return tuple(columns)


def _precision(sums: Numbers) -> Numbers:
    return ratios(sums[..., 0], sums[..., 1], 0.0)


def _recall(sums: Numbers) -> Numbers:
    return ratios(sums[..., 2], sums[..., 3])


def _f1(sums: Numbers) -> Numbers:
    precision, recall = _precision(sums), _recall(sums)
    values = ratios(2 * precision * recall, precision + recall, 0.0)
    return np.where(sums[..., 3] > 0, values, np.nan)


_GOLD, _RUN = {"1": "PER 0-4, LOC 6-8", "2": "ORG 1-3"}, {"1": "PER 2-4, ORG 6-8", "2": ""}
_SOURCE = "Da San Martino et al. (2020), SemEval-2020 Task 11, section 4.1; Da San Martino et al. (2019)"


def _metrics(
    measure: str, short: str, values: tuple[float, float], combine: Measure, words: str, why: str
) -> tuple[Metric, Metric]:
    """Return the metric over all entities, and its mean over types. `values` are their values in the example."""
    value, macro_value = values
    why_macro = f"the value is {3 * macro_value:.4g} for PER and 0 for LOC and ORG: {3 * macro_value:.4g} / 3"
    return micro_and_macro(
        f"entity_{measure}_covered",
        (f"Entity {measure if measure != 'f1' else 'F1'}, by coverage", f"{short}, by coverage"),
        words,
        UNDEFINED[measure],
        lambda comparison, spec, apart: comparison.once(_columns),
        combine,
        (Example("entities", _GOLD, _RUN, value, why), Example("entities", _GOLD, _RUN, macro_value, why_macro)),
        partial(
            Metric,
            kinds=ENTITIES,
            source=_SOURCE,
            compared_with="an independent token-by-token count",
            conventions=("Entities", "Entities by coverage"),
        ),
    )


_P = "mean over the run's entities of the share covered by gold entities of the same type"
_R = "mean over the gold's entities of the share covered by run entities of the same type"
METRICS = (
    *_metrics(
        "precision",
        "P",
        (0.5, 1 / 3),
        _precision,
        f"{_P}; 0 if the run has none",
        "PER 2-4 is covered, but ORG 6-8 is not: 1 / 2",
    ),
    *_metrics(
        "recall",
        "R",
        (1 / 6, 1 / 6),
        _recall,
        f"{_R}; undefined if the gold has none",
        "half of PER 0-4 is covered, but no part of LOC or ORG: 0.5 / 3",
    ),
    *_metrics(
        "f1",
        "F1",
        (0.25, 2 / 9),
        _f1,
        f"2 P R / (P + R); P = {_P}, R = {_R}; undefined if the gold has none",
        "P = 1/2, R = 1/6: 2 · 1/12 / (2/3)",
    ),
)
