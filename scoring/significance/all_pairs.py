"""Tests of all pairs of runs together.

The best of many equally good runs is ahead of the others by chance alone. Testing it as if it had been chosen in
advance would find false differences. Therefore, every pair is tested, and the probability of any false difference among
all pairs is bounded, no matter which pairs are examined afterward: step-down max-T (Westfall and Young 1993, algorithm
2.8; Romano and Wolf 2005). The statistic of a pair is its difference divided by its standard error. It is compared, in
each sample, with the largest statistic among the pairs whose observed statistic is not larger. All pairs share the
samples, so very similar runs weaken the test only a little, unlike with Holm's correction for all pairs.

There are two kinds of samples:

- `bootstrap`: items are drawn with replacement. The observed difference is subtracted from the differences on samples.
- `randomization`: each item's differences keep or change their sign with equal probability, in the same way for all
  pairs. For two runs and a mean over the items, this is the same as exchanging answers (Fisher 1935, Noreen 1989).
  Other metrics use their jackknife pseudo-values (Tukey 1958), which need more items: with 50 equal runs on 12 items
  and F1, one run is found to differ in 11% of cases.

The standard error of an observed difference is computed under the hypothesis of no difference, so that having few items
cannot make it too small.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.metric import Numbers

_CLOSE = 1e-9  # statistics count as equal if their relative difference is smaller

Places = NDArray[np.intp]


def p_values(observed: Numbers, samples: Numbers, drawn: float | None, averaged: float | None = None) -> Numbers:
    """Return the corrected p-values of all pairs, shape (runs, runs), with 1 on the diagonal.

    Args:
        observed: the runs' values, (runs,).
        samples: the runs' values on the samples under the hypothesis of no difference, (runs, rounds). They are NaN
            where undefined, which counts as reaching the observed difference in all pairs with that run.
        drawn: the number of items drawn with replacement for each sample. The variance of the sample values is then
            (drawn − 1) / drawn of the variance of the observed values, and does not include the difference itself. If
            None, the variance of the samples is used unchanged.
        averaged: the number of items whose mean has the variance of the observed values, if it is not `drawn`.
    """
    runs, rounds = samples.shape
    first, second = np.triu_indices(runs, 1)
    errors = _standard_errors(samples, first, second)
    apart = np.abs(observed[first] - observed[second])
    statistics = _statistics(apart, errors, drawn, drawn if averaged is None else averaged, rounds)
    order = np.argsort(statistics, kind="stable")
    cases = _cases(samples, first[order], second[order], errors[order], statistics[order])
    found = np.empty(len(order))
    # Step-down: no pair may have a smaller p-value than a pair with a larger statistic.
    found[order[::-1]] = np.maximum.accumulate(((cases + 1) / (rounds + 1))[::-1])
    result = np.ones((runs, runs))
    result[first, second] = result[second, first] = found
    return result


def _statistics(apart: Numbers, errors: Numbers, drawn: float | None, averaged: float | None, rounds: int) -> Numbers:
    """Divide differences by their standard errors.

    The errors come from `rounds` samples and have a relative error of 1 / √(2 · rounds). Among many pairs, one whose
    standard error happens to be underestimated would rank first. A first-order correction lowers the statistics to
    compensate. `drawn` and `averaged` are the same as for `p_values`.
    """
    variance = errors**2 + apart**2 / (2 * rounds)
    if drawn is not None and averaged is not None:
        variance += errors**2 / (drawn - 1) + apart**2 / averaged
    return np.divide(apart, np.sqrt(variance), out=np.zeros_like(apart), where=variance > 0)


def _standard_errors(samples: Numbers, first: Places, second: Places) -> Numbers:
    """Return the root mean square of each pair's differences."""
    found = np.zeros(len(first))
    is_complete = not np.isnan(samples).any()
    # A loop over pairs is fastest, because rows fit into the cache.
    for at, (run, other) in enumerate(zip(first, second, strict=True)):
        differences = samples[run] - samples[other]
        if not is_complete:
            differences = differences[~np.isnan(differences)]
        found[at] = np.einsum("i,i->", differences, differences) / max(1, len(differences))
    return np.sqrt(found)


def _cases(samples: Numbers, first: Places, second: Places, errors: Numbers, statistics: Numbers) -> NDArray[np.int64]:
    """Count, for each pair, the samples in which this pair or an earlier one reaches the pair's observed statistic."""
    is_complete = not np.isnan(samples).any()
    cases = np.zeros(len(first), np.int64)
    # `fmax` skips undefined values, which count only for their own pairs (at the end of the loop).
    larger = np.maximum if is_complete else np.fmax
    greatest, own = np.zeros(samples.shape[1]), np.empty(samples.shape[1])
    for at, (run, other, error, bound) in enumerate(zip(first, second, errors, statistics, strict=True)):
        np.subtract(samples[run], samples[other], out=own)
        np.abs(own, out=own)
        own *= 1 / error if error > 0 else 0.0
        larger(greatest, own, out=greatest)
        reached = greatest >= bound * (1 - _CLOSE)
        cases[at] = np.count_nonzero(reached if is_complete else reached | np.isnan(own))
    return cases
