"""The Ladder: feedback on the same gold standard again and again, to which nobody can fit runs by trying.

Avrim Blum and Moritz Hardt: The Ladder: A Reliable Leaderboard for Machine Learning Competitions. ICML 2015,
arXiv:1502.04585, Algorithm 1. A step of a fixed size suits every metric; the paper's variant without a parameter needs
a loss that is a mean over items, which F1, ICM or a correlation is not.
"""

import math
from collections.abc import Iterable, Iterator
from decimal import Decimal


def ladder(losses: Iterable[float | None], step: float) -> Iterator[float | None]:
    """What is told of each run of one team, in the order in which they came; in losses less is better.

    Where a loss is below the last one told by more than the step, it is told, rounded to the nearest multiple of the
    step; of all other runs nothing is told (None). `step` is positive; an undefined loss (None) is never told.
    """
    best = math.inf
    for loss in losses:
        if loss is None or loss >= best - step:
            yield None
        else:
            best = _rounded(loss, step)
            yield best


def _rounded(loss: float, step: float) -> float:
    """As the step is written in decimals: 81 steps of 0.01 are 0.81 and no bit more."""
    return float(round(loss / step) * Decimal(repr(step)))
