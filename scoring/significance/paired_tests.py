"""Whether the difference of two runs could be chance, both judged on the same samples of the items.

- `bootstrap`: how often the difference on a sample is at least as far from the observed one as that is from 0 (Efron
  and Tibshirani 1993, chapter 16; Koehn 2004 counts, one-sided, the samples on which the better run wins, and
  Berg-Kirkpatrick et al. 2012 those whose difference is twice the observed one);
- `randomisation`: how often it is at least as great as observed when each item's answers of the two are exchanged at
  random (Noreen 1989).

Both are two-sided. Of B rounds with c such cases, p = (c + 1) / (B + 1), never 0 (Noreen 1989). A sample on which a
run's value is undefined counts as such a case. Differences closer than 1e-9 of the observed one count as equal to it.
"""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np

from scoring.metrics.metric import Numbers
from scoring.significance.resampling import Differences, RunField

Method = Literal["bootstrap", "randomisation"]
Seed = int | np.random.Generator

_CLOSE = 1e-9


class PairedTests:
    """One run against others: draws once for all of them, so that every pair is judged on the same samples."""

    def __init__(self, differences: Differences, observed: Numbers, rounds: int, centred: bool) -> None:
        self._differences = differences
        self._observed = observed
        self._rounds = rounds
        self._centred = centred

    @classmethod
    def of(cls, field: RunField, method: Method, rounds: int, seed: Seed) -> Self:
        rng = np.random.default_rng(seed)
        if method == "bootstrap":
            return cls.on(field.resampled(rng, rounds), field.observed)
        return cls(field.exchanged(rng, rounds), field.observed, rounds, centred=False)

    @classmethod
    def on(cls, samples: Numbers, observed: Numbers) -> Self:
        """By bootstrap, on values (runs, rounds) that were drawn already."""
        return cls(_between(samples), observed, samples.shape[1], centred=True)

    def p_values(self, run: int, others: Sequence[int]) -> Numbers:
        """Shape (others,), not corrected."""
        observed = (self._observed[run] - self._observed[list(others)])[:, None]
        differences = self._differences(run, others)
        if self._centred:
            differences = differences - observed
        less = np.abs(differences) < np.abs(observed) * (1 - _CLOSE)  # false where undefined
        cases: Numbers = self._rounds - np.count_nonzero(less, axis=1)
        return (cases + 1) / (self._rounds + 1)


def _between(samples: Numbers) -> Differences:
    """Differences (others, rounds) of runs' values (runs, rounds) on the same samples."""
    return lambda run, others: samples[run] - samples[list(others)]
