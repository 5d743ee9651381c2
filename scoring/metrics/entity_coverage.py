"""Precision, recall and F1 of typed entities by the share that the other side covers (SemEval-2020, task 11)."""

from collections.abc import Callable

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.metric import ENTITIES, Contributions, Example, Metric, Numbers, Part, computed, per_row, ratios
from scoring.metrics.spans import marked


def _counts(comparison: EntityComparison, name: str | None) -> Numbers:
    """Return, by item, the covered shares of the run's entities and their number, and the same for the gold."""
    gold, items, types = comparison.gold.entities, len(comparison.gold), len(comparison.types)
    owners = np.repeat(np.arange(items), np.diff(gold.starts))
    run_sides = (comparison.owners, comparison.begins, comparison.ends)
    both = marked(
        (owners * types + gold.kinds, gold.begins, gold.ends),
        (run_sides[0] * types + comparison.kinds_of_run, *run_sides[1:]),
    )
    columns = []
    for side, other in ((both.run, both.gold_united), (both.gold, both.run_united)):
        shares, rows, kinds = side.covered_by(other) / side.lengths, side.owners // types, side.owners % types
        if name is not None:
            kept = kinds == (comparison.types.index(name) if name in comparison.types else -1)
            shares, rows = shares[kept], rows[kept]
        columns += [per_row(rows, shares, items), np.bincount(rows, minlength=items).astype(np.float64)]
    return np.column_stack(columns)


def _precision(sums: Numbers) -> Numbers:
    return ratios(sums[..., 0], sums[..., 1], 0.0)


def _recall(sums: Numbers) -> Numbers:
    return ratios(sums[..., 2], sums[..., 3])


def _f1(sums: Numbers) -> Numbers:
    precision, recall = _precision(sums), _recall(sums)
    values = ratios(2 * precision * recall, precision + recall, 0.0)
    return np.where(sums[..., 3] > 0, values, np.nan)


def _metric(
    measure: str, short: str, value: float, combine: Callable[[Numbers], Numbers], words: str, why: str
) -> Metric:
    def contributions(comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        return Contributions(comparison.once(_counts, spec.part), combine)

    return Metric(
        name=f"entity_{measure}_covered",
        title=f"Entity {measure if measure != 'f1' else 'F1'}, by coverage",
        short=f"{short}, by coverage",
        formula=words,
        source="Da San Martino et al. (2020), SemEval-2020 Task 11, section 4.1; Da San Martino et al. (2019)",
        compute=computed(contributions),
        contributions=contributions,
        example=Example(
            "entities",
            {"1": "PER 0-4, LOC 6-8", "2": "ORG 1-3"},
            {"1": "PER 2-4, ORG 6-8", "2": ""},
            value,
            why,
        ),
        kinds=ENTITIES,
        part=Part.TYPE,
    )


_P = "mean over the run's entities of the share that the gold's entities of the same type cover"
_R = "mean over the gold's entities of the share that the run's entities of the same type cover"
METRICS = (
    _metric(
        "precision", "P", 0.5, _precision, f"{_P}; 0 if the run has none", "PER 2-4 is covered, ORG 6-8 is not: 1 / 2"
    ),
    _metric(
        "recall",
        "R",
        1 / 6,
        _recall,
        f"{_R}; undefined if the gold has none",
        "half of PER 0-4 is covered, and nothing of LOC and ORG: 0.5 / 3",
    ),
    _metric(
        "f1",
        "F1",
        0.25,
        _f1,
        f"2 P R / (P + R); P = {_P}, R = {_R}; undefined if the gold has none",
        "P = 1/2, R = 1/6: 2 · 1/12 / (2/3)",
    ),
)
