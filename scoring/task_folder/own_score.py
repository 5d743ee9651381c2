"""The gold standard scored against itself: metrics for which even the correct answers do not get the best value."""

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scoring.definition import Definition, MetricSpec
from scoring.metrics import METRICS, Comparison, LoadedGold, contributions, describe, get, value_range
from scoring.metrics.metric import Mean
from scoring.metrics.undefined import why_undefined
from scoring.reports.problems import Report
from scoring.score import accepted_gold, score_gold

CLOSE = 1e-9
# Metrics that measure something else than agreement with the gold, or whose range no answers exhaust.
OTHERWISE = frozenset(
    {"cross_entropy", "soft_cross_entropy", "err", "rbp", "precision_at", "recall_at", "f1_at", "meteor"}
    | {name for name in METRICS if name.startswith("ssa_")}
)


@dataclass(frozen=True, slots=True)
class Shortfall:
    """A metric that the gold standard does not get the best value for.

    `value` is None if the metric is undefined, for the given `reason`. `items` lists the ids whose own value is not the
    best one, if the metric is a mean over items.
    """

    key: str
    value: float | None
    best: float
    reason: str = ""
    items: tuple[str, ...] = ()

    def report_in(self, report: Report) -> None:
        """Add a warning, without the ids of items."""
        if self.value is None:
            report.warning("gold-undefined", found=self.key, expected=self.reason)
        else:
            report.warning("gold-below-best", found=f"{self.key} {self.value:.4f}", expected=f"{self.best:g}")


def own_score(definition: Definition, track: str, gold: bytes, split: str) -> Report:
    """Return a warning for each of the track's metrics that the gold does not get the best value for."""
    report = Report()
    for shortfall in shortfalls(definition, track, accepted_gold(definition, track, gold, split), split):
        shortfall.report_in(report)
    return report


def shortfalls(definition: Definition, track: str, standard: LoadedGold, split: str) -> Iterator[Shortfall]:
    """Yield the track's metrics whose best value the gold standard does not reach, or that are undefined for it."""
    try:
        result = score_gold(definition, track, standard, split)
    except ImportError:  # a metric needs an optional package, which may be missing on an organizer's computer
        return
    assert result.comparison is not None
    for spec in definition.track(track, split).metrics:
        if spec.scorer_column is not None:
            continue
        value, best = result.scores[spec.key], _best(spec)
        if value is None:
            yield Shortfall(spec.key, None, best or 0.0, why_undefined(result.comparison, spec))
        elif (
            best is not None
            and OTHERWISE.isdisjoint(leaf.name for leaf in spec.leaves())
            and not math.isclose(value, best, rel_tol=CLOSE, abs_tol=CLOSE)
        ):
            yield Shortfall(spec.key, value, best, items=_items_below(result.comparison, spec, best))


def _best(spec: MetricSpec) -> float | None:
    """Return the best possible value of a metric, or None if its values are unbounded."""
    low, high = value_range(spec)
    return high if describe(spec).higher_is_better else low


def _items_below(comparison: Comparison, spec: MetricSpec, best: float) -> tuple[str, ...]:
    if spec.of or spec.where is not None or not isinstance(get(spec.name).compute, Mean):
        return ()
    found = contributions(comparison, spec)
    if found is None:
        return ()
    rows = np.flatnonzero(~np.isclose(found.values[:, 0], best, rtol=CLOSE, atol=CLOSE))
    return tuple(comparison.gold.answers.ids[row] for row in rows.tolist())
