"""Metrics: one file per metric or tight family, and one table (`registry.METRICS`) with all of them."""

from scoring.metrics.comparison import Comparison, compare
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Contributions, Metric, MetricInfo
from scoring.metrics.registry import METRICS, compute, contributions, describe, find, get, needs_texts, plain, validate

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
    "describe",
    "find",
    "get",
    "needs_texts",
    "plain",
    "validate",
]
