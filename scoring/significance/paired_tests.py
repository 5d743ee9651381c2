"""Tests of whether the difference of two runs could be chance, both judged on the same samples of items.

- `bootstrap`: how often the difference on a sample is at least as far from the observed one as that is from 0 (Efron
  and
  Tibshirani 1993, chapter 16; Koehn 2004 counts, one-sided, the samples on which the better run wins, and
  Berg-Kirkpatrick et al. 2012 those whose difference is twice the observed one);
- `randomisation`: how often it is at least as great as observed if each item's answers of the two are exchanged at
  random (Noreen 1989).

Both are two-sided. Of B rounds with c such cases, p = (c + 1) / (B + 1), never 0 (Noreen 1989). A sample on which a
run's value is undefined counts as such a case. Differences closer than 1e-9 of the observed one count as equal to it.
"""

from typing import Literal

import numpy as np

from scoring.metrics.metric import Numbers

Method = Literal["bootstrap", "randomisation"]
Seed = int | np.random.Generator

_CLOSE = 1e-9


def paired_p_values(differences: Numbers, observed: Numbers, method: Method = "bootstrap") -> Numbers:
    """P-values (pairs,), not corrected, of differences on the samples (pairs, rounds) and as observed (pairs,)."""
    if method == "bootstrap":
        differences = differences - observed[:, None]
    less = np.abs(differences) < np.abs(observed)[:, None] * (1 - _CLOSE)  # false where undefined
    rounds = differences.shape[1]
    cases = rounds - np.count_nonzero(less, axis=1)
    p_values: Numbers = (cases + 1) / (rounds + 1)
    return p_values
