"""Annotators' votes, the rules for counting them, and all votes as arrays.

A vote is the list of labels that one annotator gave to one item. The list is empty if the annotator did not see the
item.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

Vote = Sequence[str]
Votes = Mapping[str, Sequence[Vote]]  # item id → one vote per annotator

MEANINGLESS = -1


@dataclass(frozen=True, slots=True)
class VoteRules:
    """The rules for turning votes into gold.

    A label needs more than `threshold` votes. If `threshold` is None, it needs more votes than any other label. If
    `multi` is True, every such label is kept. Otherwise, only the one with the most votes is kept, and none if there is
    a tie. Labels outside `classes` raise an error. Shares are relative to the votes with a class or, with `of_all`, to
    all annotators.
    """

    classes: tuple[str, ...]
    threshold: int | None = None
    multi: bool = False
    counts_as: Mapping[str, str] = field(default_factory=dict)
    no_vote: frozenset[str] = frozenset({"UNKNOWN"})
    of_all: bool = False

    def __post_init__(self) -> None:
        if self.multi and self.threshold is None:
            raise ValueError("a threshold is required if items can have several labels")


@dataclass(frozen=True, slots=True)
class Ballots:
    """All votes, one row each. `holds` has shape (votes, classes).

    `items` holds the row of each vote's item, and `places` the vote's index among that item's votes.
    """

    holds: NDArray[np.bool_]
    items: NDArray[np.intp]
    places: NDArray[np.intp]

    @property
    def cast(self) -> NDArray[np.bool_]:
        """Which votes contain a class. Votes with only meaningless labels do not."""
        cast: NDArray[np.bool_] = np.any(self.holds, axis=1)
        return cast


def collect(votes: Votes, rules: VoteRules) -> Ballots:
    """Collect the votes in arrays.

    Raises:
        ValueError: a label is not a class, or a vote has two labels where only one is allowed. The message names the
            item.
    """
    listed = list(chain.from_iterable(votes.values()))
    sizes = np.fromiter(map(len, votes.values()), np.intp, len(votes))
    items = np.repeat(np.arange(len(votes)), sizes)
    places = np.arange(len(listed)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    codes, known = _codes(rules)
    labels = list(chain.from_iterable(listed))
    if not known.issuperset(labels):
        _check(votes, rules)
    label_codes = np.fromiter(map(codes.__getitem__, labels), np.intp, len(labels))
    owners = np.repeat(np.arange(len(listed)), np.fromiter(map(len, listed), np.intp, len(listed)))
    holds = np.zeros((len(listed), len(rules.classes)), np.bool_)
    meant = label_codes != MEANINGLESS
    holds[owners[meant], label_codes[meant]] = True
    if not rules.multi and len(labels) > len(listed) and (holds.sum(axis=1) > 1).any():
        _check(votes, rules)
    return Ballots(holds, items, places)


def _codes(rules: VoteRules) -> tuple[dict[str, int], frozenset[str]]:
    """Return the column of each allowed label, and the set of allowed labels."""
    own = {name: column for column, name in enumerate(rules.classes)} | dict.fromkeys(rules.no_vote, MEANINGLESS)
    meant = {label: rules.counts_as.get(label, label) for label in own.keys() | rules.counts_as.keys()}
    codes = {label: own[other] for label, other in meant.items() if other in own}
    return codes, frozenset(codes)


def _check(votes: Votes, rules: VoteRules) -> None:
    """Check that all votes follow the rules.

    Raises:
        ValueError: a vote breaks a rule. The message describes the first such vote.
    """
    for item, item_votes in votes.items():
        for vote in item_votes:
            labels = {rules.counts_as.get(label, label) for label in vote} - rules.no_vote
            if unknown := sorted(labels.difference(rules.classes)):
                raise ValueError(f"item {item}: {unknown[0]!r} is not one of {', '.join(rules.classes)}")
            if len(labels) > 1 and not rules.multi:
                raise ValueError(f"item {item}: expected one label per vote, found {', '.join(sorted(labels))}")
