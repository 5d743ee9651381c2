"""Tests of all pairs of runs together.

The best of many equal runs is ahead of the others by chance alone, so testing it against them as if it had been chosen
in advance claims too much. Here every pair is tested, and the chance that any of them is wrongly found to differ is
bounded, whichever pairs are looked at afterwards: step-down max-T (Westfall and Young 1993, algorithm 2.8; Romano and
Wolf 2005). A pair's statistic is its difference over its standard error; it is compared with the largest statistic in
the samples among the pairs that differ no more than this one. Since all pairs share the samples, very similar runs cost
little, unlike with Holm's correction of all pairs.

The samples are of one of two kinds:

- `bootstrap`: items are drawn with replacement. Differences are relative to the observed one;
- `randomisation`: each item's differences keep or change their sign, with equal chances and alike for all pairs. For
  two
  runs and a mean over the items this is the test by exchanged answers (Fisher 1935, Noreen 1989); other metrics use
  their jackknife pseudo-values (Tukey 1958), which needs more items: with 50 equal runs on 12 items one splits off in
  11 % of cases by F1.

The standard error of an observed difference is that under the hypothesis of no difference, in which few items cannot
make it too small.
"""

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.metric import Numbers

_CLOSE = 1e-9  # statistics that differ by a smaller share count as equal

Places = NDArray[np.intp]


def p_values(observed: Numbers, samples: Numbers, drawn: int | None) -> Numbers:
    """Corrected p-values of all pairs, shape (runs, runs), the diagonal 1.

    Args:
        observed: the runs' values, (runs,).
        samples: what the samples give them under the hypothesis of no difference, (runs, rounds); NaN where undefined,
            which counts as a difference of the pairs concerned.
        drawn: how many items each sample drew with replacement: the variance of their values is then (drawn − 1) /
            drawn of that of the observed ones, and leaves out the difference itself. None: as the samples have it.
    """
    runs, rounds = samples.shape
    first, second = np.triu_indices(runs, 1)
    errors = _standard_errors(samples, first, second)
    statistics = _statistics(np.abs(observed[first] - observed[second]), errors, drawn, rounds)
    order = np.argsort(statistics, kind="stable")
    cases = _cases(samples, first[order], second[order], errors[order], statistics[order])
    found = np.empty(len(order))
    found[order[::-1]] = np.maximum.accumulate(((cases + 1) / (rounds + 1))[::-1])
    result = np.ones((runs, runs))
    result[first, second] = result[second, first] = found
    return result


def _statistics(apart: Numbers, errors: Numbers, drawn: int | None, rounds: int) -> Numbers:
    """Differences over their standard errors.

    The errors come from `rounds` samples and are off by a share of 1 / √(2 · rounds). With many pairs, one whose error
    is too small would come out first, so statistics are lowered by what that adds to their chance, to first order.
    """
    variance = errors**2 + apart**2 / (2 * rounds)
    if drawn is not None:
        variance += errors**2 / (drawn - 1) + apart**2 / drawn
    return np.divide(apart, np.sqrt(variance), out=np.zeros_like(apart), where=variance > 0)


def _standard_errors(samples: Numbers, first: Places, second: Places) -> Numbers:
    """The root mean square of each pair's differences; 0 if there are none."""
    found = np.zeros(len(first))
    is_complete = not np.isnan(samples).any()
    # pair by pair is fastest: rows fit into the cache
    for at, (one, other) in enumerate(zip(first, second, strict=True)):
        differences = samples[one] - samples[other]
        if not is_complete:
            differences = differences[~np.isnan(differences)]
        found[at] = np.einsum("i,i->", differences, differences) / max(1, len(differences))
    return np.sqrt(found)


def _cases(samples: Numbers, first: Places, second: Places, errors: Numbers, statistics: Numbers) -> NDArray[np.int64]:
    """The number of samples in which a pair's statistic, or that of a pair before it, is at least the observed one."""
    is_complete = not np.isnan(samples).any()
    cases = np.zeros(len(first), np.int64)
    larger = np.maximum if is_complete else np.fmax
    greatest, own = np.zeros(samples.shape[1]), np.empty(samples.shape[1])
    for at, (one, other, error, bound) in enumerate(zip(first, second, errors, statistics, strict=True)):
        np.subtract(samples[one], samples[other], out=own)
        np.abs(own, out=own)
        own *= 1 / error if error > 0 else 0.0
        larger(greatest, own, out=greatest)
        reached = greatest >= bound * (1 - _CLOSE)
        cases[at] = np.count_nonzero(reached if is_complete else reached | np.isnan(own))
    return cases
