"""Which runs of a field differ, all pairs tested together.

The best of many equal runs is ahead of the others by chance alone, so testing it against them as if it had been chosen
beforehand claims too much. Here every pair is tested, and the chance that any of them is wrongly found to differ is
bounded, whichever pairs are looked at afterwards: step-down max-T (Westfall and Young 1993, algorithm 2.8; Romano and
Wolf 2005). A pair's statistic is its difference over its standard error; it is compared with the largest statistic that
the samples give among the pairs that differ no more than this one. Since all pairs share the samples, runs that are
much alike cost little, unlike with Holm's correction of all pairs.

The samples are of one of two kinds:

- `bootstrap`: items are drawn with replacement. Differences are taken around the observed one;
- `randomisation`: each item's differences keep or change their sign, with equal chances and alike for all pairs. Of two
  runs and a mean over the items this is the test by exchanged answers (Fisher 1935, Noreen 1989); other metrics enter
  with their jackknife pseudo-values (Tukey 1958), which needs more items: with 50 equal runs on 12 items one splits off
  in 11 % of cases by F1.

The standard error of an observed difference is that under the hypothesis of no difference, in which few items cannot
make it too small.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.metric import Numbers

_CELLS = 1 << 19  # of the pieces in which pairs are compared: 4 MB as float64
_CLOSE = 1e-9

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
    errors = _standard_errors(samples)
    apart = np.abs(observed[first] - observed[second])
    spread = errors if drawn is None else np.sqrt(errors**2 * (drawn / (drawn - 1)) + apart**2 / drawn)
    statistics = np.divide(apart, spread, out=np.zeros_like(apart), where=spread > 0)
    order = np.argsort(statistics, kind="stable")
    scales = np.divide(1.0, errors, out=np.zeros_like(errors), where=errors > 0)
    cases = np.zeros(len(order), np.int64)
    for piece in _pieces(samples, len(order)):
        cases += _cases(piece, first[order], second[order], scales[order], statistics[order])
    found = np.empty(len(order))
    found[order[::-1]] = np.maximum.accumulate(((cases + 1) / (rounds + 1))[::-1])
    result = np.ones((runs, runs))
    result[first, second] = result[second, first] = found
    return result


def _standard_errors(samples: Numbers) -> Numbers:
    """The root mean square of each pair's differences, pairs in the order of `triu_indices`; 0 where there are none."""
    squares = []
    for run in range(len(samples) - 1):
        differences = samples[run] - samples[run + 1 :]
        undefined = np.isnan(differences)
        differences[undefined] = 0.0
        defined = differences.shape[1] - np.count_nonzero(undefined, axis=1)
        squares.append(np.einsum("ij,ij->i", differences, differences) / np.maximum(1, defined))
    return np.sqrt(np.concatenate(squares)) if squares else np.empty(0)


def _pieces(samples: Numbers, pairs: int) -> Iterator[Numbers]:
    size = max(1, _CELLS // max(1, pairs))
    for start in range(0, samples.shape[1], size):
        yield np.ascontiguousarray(samples[:, start : start + size])


def _cases(samples: Numbers, first: Places, second: Places, scales: Numbers, statistics: Numbers) -> NDArray[np.int64]:
    """In how many samples a pair's statistic, or that of a pair before it, is at least the one observed."""
    found = samples[first]
    found -= samples[second]
    np.abs(found, out=found)
    found *= scales[:, None]
    undefined = np.isnan(found) if np.isnan(samples).any() else None
    if undefined is not None:
        found[undefined] = 0.0
    np.maximum.accumulate(found, axis=0, out=found)
    reached = found >= statistics[:, None] * (1 - _CLOSE)
    if undefined is not None:
        reached |= undefined
    cases: NDArray[np.int64] = np.count_nonzero(reached, axis=1)
    return cases
