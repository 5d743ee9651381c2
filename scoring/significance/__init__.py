"""How far scores can be trusted: intervals, paired tests, and groups of runs that the items cannot tell apart."""

from scoring.significance.runs import (
    ROUNDS,
    GroupedRun,
    Interval,
    Lead,
    PairedTest,
    interval,
    intervals,
    leads,
    paired_test,
    rank_ranges,
    tie_groups,
)

__all__ = [
    "ROUNDS",
    "GroupedRun",
    "Interval",
    "Lead",
    "PairedTest",
    "interval",
    "intervals",
    "leads",
    "paired_test",
    "rank_ranges",
    "tie_groups",
]
