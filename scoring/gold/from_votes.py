"""Hard gold from annotators' votes by threshold or majority, and soft gold from vote shares, as in EXIST 2024.

A label can count as another one (such as `-` as NO). A vote that contains only labels without meaning (UNKNOWN) is not
counted. Items without enough agreement are dropped from the hard gold. Items without any vote are also dropped from the
soft gold. Every dropped item has a reason.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix, Spans
from scoring.gold.votes import Ballots, VoteRules, Votes, collect

Reason = Literal["no votes", "too few votes for any label", "a tie between several labels"]
NO_VOTES: Reason = "no votes"
TOO_FEW: Reason = "too few votes for any label"
TIE: Reason = "a tie between several labels"


@dataclass(frozen=True, slots=True)
class GoldOfVotes:
    """Answers for the items with agreement, and the ids of dropped items by reason.

    `votes` is the number of all votes. `without_label` is the number of votes that contained no class (UNKNOWN, or
    nothing at all).
    """

    answers: Matrix
    dropped: list[str]
    reasons: list[Reason] = field(default_factory=list)
    votes: int = 0
    without_label: int = 0

    def report(self) -> str:
        """Summarize kept and dropped items in a few lines, with dropped ids by reason."""
        kept = len(self.answers.ids)
        lines = [
            f"{kept + len(self.dropped)} items: {kept} in the gold file, {len(self.dropped)} dropped.",
            f"{self.votes} votes: {self.without_label} of them contained no class.",
        ]
        for reason, count in sorted(Counter(self.reasons).items()):
            ids = [item for item, why in zip(self.dropped, self.reasons, strict=True) if why == reason]
            lines.append(f"{reason}: {count} ({', '.join(ids)})")
        return "\n".join(lines)


def hard_gold(votes: Votes, rules: VoteRules) -> GoldOfVotes:
    """Make Boolean labels from `votes` (item id → the annotators' votes). Items keep their order."""
    ballots = collect(votes, rules)
    counts, cast = _count(ballots, len(votes))
    enough = counts > (rules.threshold or 0)
    over = np.any(enough, axis=1)
    if not rules.multi:
        leading = counts == counts.max(axis=1, initial=0, keepdims=True)
        enough &= leading & (leading.sum(axis=1, keepdims=True) == 1)
    kept = np.any(enough, axis=1)
    reasons = [
        (TIE if has_enough else TOO_FEW) if some else NO_VOTES for has_enough, some in zip(over, cast > 0, strict=True)
    ]
    return _keep(votes, rules, enough, kept, reasons, ballots)


def soft_gold(votes: Votes, rules: VoteRules) -> GoldOfVotes:
    """Make weights from `votes`: the share of votes for each class. With `multi`, they do not have to sum to 1."""
    ballots = collect(votes, rules)
    counts, cast = _count(ballots, len(votes))
    shares = counts / np.maximum(cast, 1)[:, None]
    return _keep(votes, rules, shares, cast > 0, [NO_VOTES] * len(votes), ballots)


def span_gold(marked: Mapping[str, Sequence[Sequence[int]]], share: float = 0.5) -> Spans:
    """Keep the offsets marked by more than `share` of an item's annotators, as in the gold of Toxic Spans 2021.

    Args:
        marked: item id → the offsets marked by each annotator. Each offset counts once per annotator.

    Source: Pavlopoulos et al. (2021), section 3.
    """
    parts = []
    for raters in marked.values():
        every = [offset for offsets in raters for offset in set(offsets)]
        offsets, counts = np.unique(np.array(every, np.int64), return_counts=True)
        parts.append(offsets[counts > share * len(raters)])
    starts = np.cumsum([0, *map(len, parts)], dtype=np.int64)
    return Spans.of_offsets(list(marked), np.concatenate([np.zeros(0, np.int64), *parts]), starts)


def _count(ballots: Ballots, items: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the votes by item and class, and the number of votes cast by item."""
    by_class = [np.bincount(ballots.items[named], minlength=items) for named in ballots.holds.T]
    return np.stack(by_class, axis=1), np.bincount(ballots.items[ballots.cast], minlength=items)


def _keep(
    votes: Votes,
    rules: VoteRules,
    values: NDArray[np.bool_] | NDArray[np.float64],
    kept: NDArray[np.bool_],
    reasons: Sequence[Reason],
    ballots: Ballots,
) -> GoldOfVotes:
    agreed = [item for item, keep in zip(votes, kept.tolist(), strict=True) if keep]
    dropped = [item for item, keep in zip(votes, kept.tolist(), strict=True) if not keep]
    why = [reason for reason, keep in zip(reasons, kept.tolist(), strict=True) if not keep]
    cast = ballots.cast
    return GoldOfVotes(Matrix(agreed, rules.classes, values[kept]), dropped, why, len(cast), int((~cast).sum()))
