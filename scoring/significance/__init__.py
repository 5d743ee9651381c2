"""Statistical confidence in scores: intervals, paired tests, and ranks with their confidence intervals.

The items are treated as a sample of all possible items. `interval` draws samples of the same size with replacement
(Efron and Tibshirani 1993) and uses the standard error of the values on them; see `score_intervals`. `paired_test`
tests whether the difference between two runs could be due to chance, evaluating both runs on the same samples; see
`paired_tests`. `pair_tests` tests all pairs of runs; see `all_pairs`. Ranks with their intervals and groups of runs
with no significant difference come from these tests; see `ranking`. `slice_gaps` compares a run's scores on slices of
the items, testing all pairs of slices together.

Values that a metric derives from the whole gold standard are the same in every sample. The exception is the information
content of classes in ICM, whose changes are included to first order (`scoring.metrics.metric.Contributions`). A metric
without contributions is recomputed on every sample.

The same arguments give bit-identical results for any number of threads.
"""

from scoring.significance.confidence_intervals import Interval, interval, intervals
from scoring.significance.inputs import ROUNDS
from scoring.significance.paired_leads import Lead, PairedTest, leads, paired_test
from scoring.significance.several_tracks import MeanScore, TrackRuns, mean_tests, sampled_means
from scoring.significance.slice_gaps import Gap, SliceGaps, SliceScore, slice_gaps
from scoring.significance.tie_grouping import GroupedRun, PairTests, RankedRun, pair_tests, tie_groups

__all__ = [
    "ROUNDS",
    "Gap",
    "GroupedRun",
    "Interval",
    "Lead",
    "MeanScore",
    "PairTests",
    "PairedTest",
    "RankedRun",
    "SliceGaps",
    "SliceScore",
    "TrackRuns",
    "interval",
    "intervals",
    "leads",
    "mean_tests",
    "pair_tests",
    "paired_test",
    "sampled_means",
    "slice_gaps",
    "tie_groups",
]
