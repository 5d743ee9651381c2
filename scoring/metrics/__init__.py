"""Metrics: one module per metric or closely related family. `registry.METRICS` lists them all."""

from scoring.metrics.comparison import Comparison, compare
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Metric, MetricInfo
from scoring.metrics.registry import (
    METRICS,
    compute,
    contributions,
    describe,
    get,
    is_count,
    needs_texts,
    plain,
    slices_used,
)

__all__ = [
    "METRICS",
    "Comparison",
    "LoadedGold",
    "Metric",
    "MetricInfo",
    "compare",
    "compute",
    "contributions",
    "describe",
    "get",
    "is_count",
    "needs_texts",
    "plain",
    "slices_used",
]
