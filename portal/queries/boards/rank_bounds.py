"""Confidence intervals of ranks, from the tests of all pairs of runs that a worker has stored.

`scoring/significance/ranking.py` computes them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from portal.times_and_numbers import count


@dataclass(frozen=True, slots=True)
class RankBounds:
    """The confidence interval of a run's rank, and what the same tests say about other runs."""

    low: int
    high: int
    is_like_best: bool  # whether another run is the best but was not found to be better
    is_ahead_of_next: bool  # whether the run was found to be better than all runs with the next rank
    letters: str  # two runs share a letter if and only if no difference between them was found; may be empty

    @property
    def text(self) -> str:
        return f"{self.low}–{self.high}"

    @property
    def words(self) -> str:
        """What was found, such as `not distinguishable from the best`. May be empty."""
        if self.high == 1:
            return _("better than all others")
        found = [
            _("not distinguishable from the best") if self.is_like_best else "",
            _("better than the next") if self.is_ahead_of_next else "",
        ]
        return ", ".join(filter(None, found))


def rank_bounds(stored: Mapping[str, Sequence[Any]], ranks: Mapping[str, int]) -> dict[str, RankBounds]:
    """Return the bounds of the ranks by run.

    Args:
        stored: the tested runs' values of `RankBounds`, in this order. The best are like the best, too.
        ranks: the ranks of all ranked runs. Runs that were not tested must be worse than those that were, otherwise the
            result is empty. They have no bounds.
    """
    tested = [rank for run, rank in ranks.items() if run in stored]
    others = [rank for run, rank in ranks.items() if run not in stored]
    if not tested or len(tested) < len(stored) or (others and min(others) < max(tested)):
        return {}
    return {
        # The track's rule for ties may count values as equal that differ.
        run: RankBounds(
            min(low, ranks[run]), max(high + len(others), ranks[run]), is_like_best and ranks[run] > 1, *found
        )
        for run, (low, high, is_like_best, *found) in stored.items()
    }


def ranks_note(items: int) -> str:
    """Say what the bounds of runs' ranks are."""
    return _(
        "The 95%% confidence interval of a rank, such as 2 (1–4), extends from 1 + the number of runs found to be "
        "better to the number of runs − the number found to be worse. All intervals together contain the true ranks "
        "with a probability of about 95%% or more. Differences are tested with a bootstrap over %(items)s items, "
        "corrected for all pairs of runs with max-T (α = 0.05)."
    ) % {"items": count(items)}


def mean_ranks_note(items: int) -> str:
    """Say what the bounds of teams' ranks by mean score are. `items` is the number in the smallest track."""
    return _(
        "The 95%% confidence interval of a rank, such as 2 (1–4), extends from 1 + the number of teams found to be "
        "better to the number of teams − the number found to be worse. All intervals together contain the true ranks "
        "with a probability of about 95%% or more. Differences are tested with a bootstrap over the items of all "
        "tracks (at least %(items)s each), corrected for all pairs of teams with max-T (α = 0.05)."
    ) % {"items": count(items)}
