"""The Ladder: repeated feedback on one gold standard that does not allow overfitting by trial and error.

Avrim Blum and Moritz Hardt: The Ladder: A Reliable Leaderboard for Machine Learning Competitions. ICML 2015,
arXiv:1502.04585, Algorithm 1. This implementation uses a fixed step, which suits every metric. The parameter-free
variant in the paper needs a loss that is a mean over items, which F1, ICM and correlations are not.
"""

import math
from collections import defaultdict
from collections.abc import Collection, Hashable, Iterable, Iterator
from decimal import Decimal
from itertools import repeat


def ladder(
    losses: Iterable[float | None], step: float, owners: Iterable[Collection[Hashable]] = repeat(("",))
) -> Iterator[float | None]:
    """Yield the loss shown for each run, in the order of submission. Lower is better.

    A loss is shown if it is lower than the last loss shown to the run's owners by more than the step. It is rounded to
    the nearest multiple of the step. For all other runs the value is None, which means that nothing is shown.

    Args:
        losses: an undefined loss (None) is never shown.
        step: a positive number.
        owners: the owners of each run, such as its team and its submitter. Each owner has a separate ladder, and a run
    must
                be an improvement on all of them. By default, all runs have the same owner.
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
    """Return the multiple of the step with the step's decimals, so that 81 steps of 0.01 are exactly 0.81."""
    return float(round(loss / step) * Decimal(repr(step)))
