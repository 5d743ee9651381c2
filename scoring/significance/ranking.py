"""What the corrected tests of all pairs of runs say about ranks.

All functions take `better`, a matrix of truth values (runs, runs) with the runs sorted from best to worst: whether the
row's run was found to be better than the column's run. `found_better` computes it from p-values. If the probability of
any false difference among all pairs is at most α, each of these statements about all runs together is true with a
probability of at least 1 − α.
"""

from collections.abc import Iterator, Sequence
from itertools import count, islice, pairwise, product
from string import ascii_lowercase

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.metric import Numbers

Found = NDArray[np.bool_]
Ranks = NDArray[np.int64]


def found_better(values: Numbers, p_values: Numbers, alpha: float) -> Found:
    """Return which runs were found to be better than which, (runs, runs).

    Args:
        values: the runs' values (runs,), from best to worst.
        p_values: the p-values of all pairs, corrected for all of them, (runs, runs).
    """
    is_before = np.triu(values[:, None] != values, 1)
    found: Found = is_before & (p_values <= alpha)
    return found


def shared_ranks(values: Numbers) -> Ranks:
    """Return the ranks (runs,) of values that are sorted from best to worst. Equal values share the better rank."""
    is_new = np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]
    ranks: Ranks = np.maximum.accumulate(np.where(is_new, np.arange(1, len(values) + 1), 0))
    return ranks


def rank_intervals(better: Found) -> tuple[Ranks, Ranks]:
    """Return the ends of the confidence intervals of all ranks, (runs,) each.

    The lowest rank is 1 + the number of runs found to be better. The highest rank is the number of runs minus the
    number of runs found to be worse. With a probability of at least 1 − α, all intervals contain their run's rank in
    the population of items; if runs are equally good there, all the ranks that they share.

    Source: Mogstad, Romano, Shaikh and Wilhelm (2024), Inference for Ranks with Applications to Mobility across
    Neighbourhoods and Academic Achievement across Countries, Review of Economic Studies 91.
    """
    return 1 + np.count_nonzero(better, axis=0), len(better) - np.count_nonzero(better, axis=1)


def like_the_best(better: Found, ranks: Ranks) -> Found:
    """Return for each run whether no run with rank 1 was found to be better, (runs,)."""
    found: Found = ~better[ranks == 1].any(axis=0)
    return found


def ahead_of_next(better: Found, ranks: Ranks) -> Found:
    """Return for each run whether it was found to be better than all runs with the next rank, (runs,).

    False for the last rank.
    """
    found = np.zeros(len(ranks), bool)
    for rank, following in pairwise(np.unique(ranks).tolist()):
        found[ranks == rank] = better[ranks == rank][:, ranks == following].all(axis=1)
    return found


def clusters(better: Found) -> Ranks:
    """Return the number of each run's cluster, (runs,). Every run was found to be better than all of later clusters.

    Source: the clusters of the WMT shared tasks, such as Kocmi et al. (2023), Findings of the 2023 Conference on
    Machine Translation.
    """
    runs = len(better)
    places = np.arange(runs)
    # The last run from which each run does not differ.
    farthest = np.where(np.triu(~better), places, 0).max(axis=1, initial=0)
    is_last = np.maximum.accumulate(farthest) == places
    found: Ranks = 1 + np.concatenate([[0], np.cumsum(is_last)])[:runs]
    return found


def letters(better: Found) -> list[tuple[str, ...]]:
    """Return the letters of each run. Two runs share a letter if and only if they do not differ.

    After z, there are aa, ab and so on. Pairs that do not differ are covered one after the other with as many runs as
    possible that do not differ from each other, so the number of letters is small but may not be the smallest.

    Source: Piepho (2004), An Algorithm for a Letter-Based Representation of All-Pairwise Comparisons, Journal of
    Computational and Graphical Statistics 13; clique growing in Gramm, Guo, Hüffner, Niedermeier, Piepho and Schmitz
    (2008), Algorithms for Compact Letter Displays, Computational Statistics & Data Analysis 52.
    """
    alike = ~(better | better.T)
    np.fill_diagonal(alike, True)
    alike_of = [int.from_bytes(np.packbits(row, bitorder="little").tobytes(), "little") for row in alike]
    sets = _covering_sets(alike_of)
    names = list(islice(_names(), len(sets)))
    return [
        tuple(name for name, members in zip(names, sets, strict=True) if members >> run & 1)
        for run in range(len(better))
    ]


def _covering_sets(alike_of: Sequence[int]) -> list[int]:
    """Return sets of runs in which all are alike and which together contain all pairs of alike runs.

    Sets of runs are integers, with a bit for each run.
    """
    missing = list(alike_of)  # for each run, the alike runs that are not in a common set with it yet
    sets = []
    for run in range(len(alike_of)):
        while missing[run]:
            members, rest = 1 << run, alike_of[run] & ~(1 << run)
            uncovered = missing[run] & rest
            while rest:
                # Pairs that are still missing come first, then better runs.
                lowest = (uncovered or rest) & -(uncovered or rest)
                members |= lowest
                rest &= alike_of[lowest.bit_length() - 1] & ~lowest
                uncovered &= rest
            for member in _members(members):
                missing[member] &= ~members
            sets.append(members)
    return sets


def _members(runs: int) -> list[int]:
    return [place for place in range(runs.bit_length()) if runs >> place & 1]


def _names() -> Iterator[str]:
    for length in count(1):
        yield from map("".join, product(ascii_lowercase, repeat=length))
