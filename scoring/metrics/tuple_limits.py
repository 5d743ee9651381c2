"""A limit on tuples with partial credit. Pairing an item's tuples takes min(n, m)² · max(n, m) steps."""

from collections.abc import Sequence

import numpy as np

from scoring.answers import Answers, Tuples
from scoring.definition import FormatSpec, MetricSpec
from scoring.metrics.registry import plain
from scoring.reports.problems import Report

MOST_STEPS = 60_000_000  # taken in about two seconds
PARTIAL = "_partial"


def report_long_pairing(gold: Answers, spec: FormatSpec, metrics: Sequence[MetricSpec], report: Report) -> None:
    """Report gold whose tuples would take too long to pair with those of a run that has as many as are allowed."""
    most = spec.options.get("most")
    is_paired = any(metric.name.startswith("tuple_") and metric.name.endswith(PARTIAL) for metric in plain(metrics))
    if not isinstance(gold, Tuples) or most is None or not is_paired:
        return
    counts = np.diff(gold.starts)
    smaller, larger = np.minimum(counts, int(most)), np.maximum(counts, int(most))
    steps = int((smaller**2 * larger).sum())
    if steps > MOST_STEPS:
        report.error("tuples-too-many-pairs", found=f"{steps:,}", expected=f"{MOST_STEPS:,}")
