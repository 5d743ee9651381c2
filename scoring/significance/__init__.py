"""Statistical confidence in scores: intervals, paired tests, and groups of runs that the items cannot tell apart.

The items are a sample of all possible ones. `interval` draws samples of them, as many items as there are, with
replacement (Efron and Tibshirani 1993), and uses the standard error of the values on them; see `score_intervals`.
`paired_test` tests whether the difference of two runs could be chance, both judged on the same samples; see
`paired_tests`. `tie_groups` tests all pairs of runs; see `all_pairs`. `slice_gaps` compares a run's scores on
slices of the items, all pairs together.

What a metric derives from the whole gold is the same in every sample, except the information of a class in ICM, which
changes to first order (`scoring.metrics.metric.Contributions`). A metric without contributions is computed on every
sample.

The same arguments give the same bits, whatever the number of threads.
"""

from scoring.significance.confidence_intervals import Interval, interval, intervals, rank_ranges
from scoring.significance.inputs import ROUNDS
from scoring.significance.paired_leads import Lead, PairedTest, leads, paired_test
from scoring.significance.slice_gaps import Gap, SliceGaps, SliceScore, slice_gaps
from scoring.significance.tie_grouping import GroupedRun, tie_groups

__all__ = [
    "ROUNDS",
    "Gap",
    "GroupedRun",
    "Interval",
    "Lead",
    "PairedTest",
    "SliceGaps",
    "SliceScore",
    "interval",
    "intervals",
    "leads",
    "paired_test",
    "rank_ranges",
    "slice_gaps",
    "tie_groups",
]
