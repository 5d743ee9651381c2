"""Test whether the difference between two runs could be due to chance, evaluating both on the same samples of items.

- `bootstrap`: counts samples whose difference is at least as far from the observed difference as the observed
  difference is from 0 (Efron and Tibshirani 1993, chapter 16). In contrast, Koehn (2004) counts, one-sided, the samples
  on which the better run wins, and Berg-Kirkpatrick et al. (2012) count samples whose difference is at least twice the
  observed difference.
- `randomization`: exchanges the two runs' answers to each item at random, and counts rounds whose difference is at
  least as large as the observed one (Noreen 1989).

Both tests are two-sided. With B rounds and c counted cases, p = (c + 1) / (B + 1), which is never 0 (Noreen 1989). A
sample on which a run's value is undefined is counted. Differences within 1e-9 of the observed difference count as equal
to it.
"""

from typing import Literal

import numpy as np

from scoring.metrics.metric import Numbers

Method = Literal["bootstrap", "randomization"]
Seed = int | np.random.Generator

_CLOSE = 1e-9


def paired_p_values(differences: Numbers, observed: Numbers, method: Method = "bootstrap") -> Numbers:
    """Compute p-values (pairs,) without correcting them for the number of pairs.

    Args:
        differences: the differences on the samples, (pairs, rounds).
        observed: the observed differences, (pairs,).
    """
    if method == "bootstrap":
        differences = differences - observed[:, None]
    less = np.abs(differences) < np.abs(observed)[:, None] * (1 - _CLOSE)  # False where undefined
    rounds = differences.shape[1]
    cases = rounds - np.count_nonzero(less, axis=1)
    p_values: Numbers = (cases + 1) / (rounds + 1)
    return p_values
