"""The Ladder: feedback on the same gold standard again and again, to which no one can fit runs by trying.

Avrim Blum and Moritz Hardt: The Ladder: A Reliable Leaderboard for Machine Learning Competitions. ICML 2015,
arXiv:1502.04585, Algorithm 1. A step of a fixed size suits every metric; the paper's variant without a parameter needs
a loss that is a mean over items, which F1, ICM or a correlation is not.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from decimal import Decimal
from itertools import repeat


def ladder(
    losses: Iterable[float | None], step: float, owners: Iterable[Collection[Hashable]] = repeat(("",))
) -> Iterator[float | None]:
    """What is shown of each run, in the order in which they came; in losses less is better.

    Where a loss is below the last one shown to its owners by more than the step, it is shown, rounded to the nearest
    multiple of the step; of all other runs nothing is shown (None). `step` is positive; an undefined loss (None) is
    never shown. `owners` has those of each run, such as its team and its sender, each with a ladder of their own: a run
    must be a step on all of them. By default all runs have the same owner.
    """
    best: dict[Hashable, float] = defaultdict(lambda: math.inf)
    for loss, own in zip(losses, owners, strict=False):
        if loss is None or loss >= min(best[owner] for owner in own) - step:
            yield None
        else:
            shown = _rounded(loss, step)
            best.update(dict.fromkeys(own, shown))
            yield shown


def _rounded(loss: float, step: float) -> float:
    """As the step is written in decimals: 81 steps of 0.01 are 0.81 and no bit more."""
    return float(round(loss / step) * Decimal(repr(step)))
