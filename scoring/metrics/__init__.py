"""Metrics: one module per metric or closely related family. `registry.METRICS` lists them all."""

from scoring.metrics.comparison import Comparison, compare
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Contributions, Metric, MetricInfo
from scoring.metrics.registry import (
    METRICS,
    compute,
    contributions,
    decimals,
    describe,
    find,
    get,
    is_count,
    needs_texts,
    plain,
    slices_used,
    value_range,
)
from scoring.metrics.validation import validate

__all__ = [
    "METRICS",
    "Comparison",
    "Contributions",
    "LoadedGold",
    "Metric",
    "MetricInfo",
    "compare",
    "compute",
    "contributions",
    "decimals",
    "describe",
    "find",
    "get",
    "is_count",
    "needs_texts",
    "plain",
    "slices_used",
    "validate",
    "value_range",
]
