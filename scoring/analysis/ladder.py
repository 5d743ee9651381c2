"""The Ladder: repeated feedback on one gold standard without overfitting by trial and error.

Avrim Blum and Moritz Hardt: The Ladder: A Reliable Leaderboard for Machine Learning Competitions. ICML 2015,
arXiv:1502.04585, Algorithm 1. This implementation uses a fixed step, which works for every metric. The paper's
parameter-free variant needs a loss that is a mean over items, so it does not work for F1, ICM or correlations.
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

    A loss is shown if it is more than a step below the last loss shown to each of the run's owners. It is rounded to
    the nearest multiple of the step. For all other runs, the value is None, which means that nothing is shown.

    Args:
        losses: an undefined loss (None) is never shown.
        step: a positive number.
        owners: the owners of each run, such as its team and its submitter. Each owner has a separate ladder, and a run
            must be an improvement on all of them. By default, all runs have the same owner.
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
    """Round to a multiple of the step with as many decimals as the step has, so that 81 steps of 0.01 are 0.81."""
    return float(round(loss / step) * Decimal(repr(step)))
