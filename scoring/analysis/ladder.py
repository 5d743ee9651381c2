"""The Ladder: feedback on one gold standard, again and again, to which runs cannot be fitted by trying.

Avrim Blum and Moritz Hardt: The Ladder: A Reliable Leaderboard for Machine Learning Competitions. ICML 2015,
arXiv:1502.04585, Algorithm 1. A fixed step suits every metric. The paper's variant without a parameter needs a loss
that is a mean over items, which F1, ICM or a correlation is not.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from decimal import Decimal
from itertools import repeat


def ladder(
    losses: Iterable[float | None], step: float, owners: Iterable[Collection[Hashable]] = repeat(("",))
) -> Iterator[float | None]:
    """The losses shown for runs, in the order of submission; less is better.

    A loss below the last one shown to its owners by more than the step is shown, rounded to the nearest multiple of the
    step. For all other runs, nothing is shown (None). `step` is positive; an undefined loss (None) is never shown.
    `owners` has those of each run, e.g. its team and its sender, each with their own ladder: a run must be a step on
    all of them. By default all runs have the same owner.
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
    """The multiple with the decimals of the step: 81 steps of 0.01 are exactly 0.81."""
    return float(round(loss / step) * Decimal(repr(step)))
