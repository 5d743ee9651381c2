"""Hard gold from annotators' votes by threshold or majority, and soft gold from vote shares, as in EXIST 2024.

A label can count as a different one (such as `-` as NO). A vote with only meaningless labels (UNKNOWN) is not counted.
Items without enough agreement are dropped from hard gold. Items without any votes are dropped from both hard and soft
gold. The reason for dropping each item is recorded.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix, Spans
from scoring.gold.votes import Ballots, Vote, VoteRules, Votes, collect
from scoring.gold.votes_file import NO_COLUMN
from scoring.limits import LISTED
from scoring.reports.nearest import nearest

Reason = Literal[
    "no votes", "too few votes for any label", "a tie between several labels", "none of the classes applies"
]
NO_VOTES: Reason = "no votes"
TOO_FEW: Reason = "too few votes for any label"
TIE: Reason = "a tie between several labels"
NONE: Reason = "none of the classes applies"


@dataclass(frozen=True, slots=True)
class GoldOfVotes:
    """Answers to the items with agreement, and the ids of the dropped items with a reason for each.

    `votes` is the number of votes that have a label. `without_label` is the number of those whose labels are not
    classes, such as UNKNOWN. Items that an annotator skipped are not votes.
    """

    answers: Matrix
    dropped: list[str]
    reasons: list[Reason] = field(default_factory=list)
    votes: int = 0
    without_label: int = 0

    def report(self) -> str:
        """Summarize the kept and dropped items in a few lines, listing the dropped ids by reason."""
        kept = len(self.answers.ids)
        lines = [
            f"{kept + len(self.dropped)} items: {kept} in the gold file, {len(self.dropped)} dropped.",
            f"{self.votes} votes, {self.without_label} of them without a class.",
        ]
        for reason, count in sorted(Counter(self.reasons).items()):
            ids = [item for item, why in zip(self.dropped, self.reasons, strict=True) if why == reason]
            lines.append(f"{reason}: {count} ({', '.join(ids)})")
        return "\n".join(lines)


def hard_gold(votes: Votes, rules: VoteRules) -> GoldOfVotes:
    """Create Boolean labels from `votes` (item id → the annotators' votes). Items keep their order."""
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


def of_classes(made: GoldOfVotes, classes: Sequence[str], *, may_be_empty: bool = True) -> GoldOfVotes:
    """Leave out labels that are not in `classes`: those that mean that no class applies.

    If `may_be_empty` is False, items that then have no label are dropped.
    """
    answers = made.answers
    kept = [place for place, name in enumerate(answers.columns) if name in classes]
    values = answers.values[:, kept]
    rows: NDArray[np.bool_] = np.any(values, axis=1) | may_be_empty
    ids = [item for item, is_kept in zip(answers.ids, rows.tolist(), strict=True) if is_kept]
    without = [item for item, is_kept in zip(answers.ids, rows.tolist(), strict=True) if not is_kept]
    return replace(
        made,
        answers=Matrix(ids, tuple(answers.columns[place] for place in kept), values[rows]),
        dropped=[*made.dropped, *without],
        reasons=[*made.reasons, *[NONE] * len(without)],
    )


def table_gold(votes: Votes, rules: VoteRules, columns: int, threshold: int | None = None) -> GoldOfVotes:
    """Create zeros and ones for the first `columns` classes of the rules.

    A column is 1 if more than `threshold` of an item's votes have it. By default, more than half of them must have it.
    Items without votes are dropped.
    """
    ballots = collect(votes, rules)
    counts, cast = _count(ballots, len(votes))
    least = cast[:, None] / 2 if threshold is None else threshold
    values = (counts[:, :columns] > least).astype(np.int64)
    made = _keep(votes, rules, counts, cast > 0, [NO_VOTES] * len(votes), ballots)
    return replace(made, answers=Matrix(made.answers.ids, rules.classes[:columns], values[cast > 0]))


@dataclass(frozen=True, slots=True)
class CrowdAndExperts:
    """Votes for the second of two steps. Each item has the crowd's answer and the experts' votes.

    `confidence` is the mean share of the crowd's votes that agree with the crowd's answer: by column or, for labels,
    under `label`.
    """

    votes: dict[str, list[Vote]]
    confidence: dict[str, float]


def check_experts(votes: Mapping[str, Mapping[str, Vote]], experts: Sequence[str]) -> None:
    """Check that all experts are annotators, and that there are other annotators (the crowd).

    Args:
        votes: item id → annotator → vote.

    Raises:
        ValueError: an expert has not voted, or all annotators are experts.
    """
    names = sorted({name for given in votes.values() for name in given})
    shown = ", ".join(names[:LISTED]) + (f", … ({len(names)} in total)" if len(names) > LISTED else "")
    if missing := [name for name in experts if name not in names]:
        near = nearest(missing[0], names)
        hint = f" (closest name: {near})" if near else ""
        raise ValueError(f"there are no votes from {missing[0]}{hint}; the annotators are {shown or 'none'}")
    if len({*experts}) == len(names):
        raise ValueError(f"all annotators are experts: {shown}; the others are the crowd, so leave out at least one")


def crowd_and_experts(
    votes: Mapping[str, Mapping[str, Vote]], experts: Sequence[str], rules: VoteRules, columns: Sequence[str] = ()
) -> CrowdAndExperts:
    """Replace the crowd's votes, which are those of all annotators except the experts, with their majority.

    Args:
        votes: item id → annotator → vote.
        columns: the columns of a table of zeros and ones, which are the first classes of the rules.

    Raises:
        ValueError: an expert has not voted, all annotators are experts, or a vote breaks a rule.

    Source: Basile et al. (2019), section 2.1. Their platform also weights votes by the reliability of contributors.
    """
    check_experts(votes, experts)
    crowd = {item: [vote for name, vote in given.items() if name not in experts] for item, given in votes.items()}
    counts, cast = _count(collect(crowd, rules), len(crowd))
    made = table_gold(crowd, rules, len(columns)) if columns else hard_gold(crowd, rules)
    classes, nothing = made.answers.columns, [NO_COLUMN] if columns else []
    answers: dict[str, Vote] = {
        item: [name for name, holds in zip(classes, row, strict=True) if holds] or nothing
        for item, row in zip(made.answers.ids, made.answers.values.tolist(), strict=True)
    }
    held = counts[:, : len(columns)]
    agreeing = np.maximum(held, cast[:, None] - held) if columns else counts.max(axis=1, initial=0, keepdims=True)
    shares = agreeing[cast > 0] / cast[cast > 0, None]
    second = {
        item: [answers.get(item, []), *(given.get(name, []) for name in experts)] for item, given in votes.items()
    }
    named = zip(columns or ("label",), shares.mean(axis=0).tolist(), strict=True) if len(shares) else ()
    return CrowdAndExperts(second, dict(named))


def soft_gold(votes: Votes, rules: VoteRules) -> GoldOfVotes:
    """Create weights from `votes`: the share of votes for each class. With `multi`, they do not have to sum to 1."""
    ballots = collect(votes, rules)
    counts, cast = _count(ballots, len(votes))
    given = np.bincount(ballots.items, minlength=len(votes)) if rules.of_all else cast
    shares = counts / np.maximum(given, 1)[:, None]
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
    """Return the number of votes for each item and class, and the number of votes cast on each item."""
    by_class = [np.bincount(ballots.items[named], minlength=items) for named in ballots.holds.T]
    return np.stack(by_class, axis=1), np.bincount(ballots.items[ballots.cast], minlength=items)


def _keep(
    votes: Votes,
    rules: VoteRules,
    values: NDArray[np.bool_] | NDArray[np.float64] | NDArray[np.int64],
    kept: NDArray[np.bool_],
    reasons: Sequence[Reason],
    ballots: Ballots,
) -> GoldOfVotes:
    agreed = [item for item, keep in zip(votes, kept.tolist(), strict=True) if keep]
    dropped = [item for item, keep in zip(votes, kept.tolist(), strict=True) if not keep]
    why = [reason for reason, keep in zip(reasons, kept.tolist(), strict=True) if not keep]
    given = sum(map(bool, chain.from_iterable(votes.values())))
    without_label = given - int(ballots.cast.sum())
    return GoldOfVotes(Matrix(agreed, rules.classes, values[kept]), dropped, why, given, without_label)
