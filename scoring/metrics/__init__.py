"""Metrics: one file a metric or tight family, one table (`registry.METRICS`) that names them all."""

from scoring.metrics.comparison import Comparison, compare
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import Contributions, Metric, MetricInfo
from scoring.metrics.registry import METRICS, compute, contributions, describe, find, get, plain, validate

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
    "plain",
    "validate",
]
