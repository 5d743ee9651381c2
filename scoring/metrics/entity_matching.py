"""Match the entities of a run with those of the gold: strictly, by boundaries, by overlap, by type and by IoU.

If an entity can match several entities on the other side, the run's entities are processed in order and each gold
entity matches only once, as in nervaluate. A partial match prefers a gold entity with the same boundaries, and
otherwise the first that overlaps. A match by type prefers the one with the same type and the closest boundaries, and
otherwise the first that overlaps, which then counts as used. A match by IoU prefers the largest IoU.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.metric import Numbers

PARTIAL = 0.5  # score of an overlap
DENSE = 16  # up to this many positions per entity, a table of all positions is small enough
IOU = 0.5  # by default, the smallest intersection / union that counts as a match
AT_ONCE = 20_000  # run entities that are compared with the gold at once, to bound the memory


@dataclass(frozen=True, slots=True)
class Side:
    """One side's entities in order. `owners` are gold rows. `begins` and `ends` count positions across all items."""

    owners: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds: NDArray[np.intp]

    @property
    def is_flat(self) -> bool:
        """Whether no two entities overlap."""
        return bool((self.begins[1:] >= self.ends[:-1]).all())

    def at(self, places: Rows | slice) -> "Side":
        """Return the entities at these indexes."""
        return Side(self.owners[places], self.begins[places], self.ends[places], self.kinds[places])

    def by_type(self, width: int) -> "Side":
        """Return the same entities with those of each type at positions of their own. Each type has `width` of them."""
        order, shift = np.argsort(self.kinds, kind="stable"), self.kinds * width
        begins, ends = self.begins + shift, self.ends + shift
        return Side(self.owners[order], begins[order], ends[order], self.kinds[order])


def sides(comparison: EntityComparison) -> tuple[Side, Side]:
    """Return the entities of the gold and of the run."""
    gold = comparison.gold.entities
    width = max(int(gold.ends.max(initial=0)), int(comparison.ends.max(initial=0))) + 1
    owners = np.repeat(np.arange(len(gold.ids)), np.diff(gold.starts))
    shift, run_shift = owners * width, comparison.owners * width
    return (
        Side(owners, gold.begins + shift, gold.ends + shift, gold.kinds),
        Side(comparison.owners, comparison.begins + run_shift, comparison.ends + run_shift, comparison.kinds_of_run),
    )


def sides_by_type(comparison: EntityComparison) -> tuple[Side, Side]:
    """Return the entities of the gold and of the run, ordered by type. Entities of different types never overlap."""
    gold, run = comparison.once(sides)
    width = max(int(gold.ends.max(initial=0)), int(run.ends.max(initial=0))) + 1
    return gold.by_type(width), run.by_type(width)


Credits = Callable[[Side, Side, float], Numbers]  # (gold, run, minimum IoU) → the credit of each run entity


def _strict(gold: Side, run: Side, least: float) -> Numbers:
    if not (gold.is_flat and run.is_flat):
        return _equal(*(np.column_stack([side.begins, side.ends, side.kinds]) for side in (gold, run)))
    same, places = _same(gold, run)
    return (same & (gold.kinds[places] == run.kinds)).astype(np.float64) if len(gold.kinds) else same.astype(np.float64)


def matches_strictly(gold: Side, run: Side) -> Numbers:
    """Return 1 for each run entity that is in the gold with the same boundaries and type, otherwise 0."""
    return _strict(gold, run, IOU)


def _exact(gold: Side, run: Side, least: float) -> Numbers:
    if gold.is_flat and run.is_flat:
        return _same(gold, run)[0].astype(np.float64)
    return _equal(*(np.column_stack([side.begins, side.ends]) for side in (gold, run)))


def _same(gold: Side, run: Side) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which run entities have the same boundaries as a gold entity, and the index of that gold entity.

    Entities on the same side must not overlap.
    """
    if not len(gold.begins):
        return np.zeros(len(run.begins), np.bool_), np.zeros(len(run.begins), np.intp)
    end = int(gold.begins[-1]) + 1
    if end > DENSE * len(gold.begins):
        places = np.minimum(np.searchsorted(gold.begins, run.begins), len(gold.begins) - 1)
    else:  # ten times faster than searching
        known = np.zeros(end, np.intp)
        known[gold.begins] = np.arange(len(gold.begins))
        places = known[np.minimum(run.begins, end - 1)]
    return (gold.begins[places] == run.begins) & (gold.ends[places] == run.ends), places


def _equal(gold: NDArray[np.int64], run: NDArray[np.int64]) -> Numbers:
    """Return 1 for each run row that is also in the gold, but at most as often as it occurs there. Otherwise, return 0.

    Both arrays must be sorted.
    """
    rows = np.concatenate([gold, run])
    order = np.lexsort(rows.T[::-1])
    differs = (rows[order][1:] != rows[order][:-1]).any(axis=1)
    places = np.zeros(len(rows), np.intp)
    places[order[1:]] = np.cumsum(differs)
    known = np.bincount(places[: len(gold)], minlength=len(places))
    own = places[len(gold) :]
    earlier = np.arange(len(own)) - np.searchsorted(own, own)
    return (earlier < known[own]).astype(np.float64)


def _overlaps(gold: Side, run: Side) -> tuple[Rows, Rows]:
    """Return the pairs of entities that overlap, as indexes of run and gold. A run entity's pairs are in gold order."""
    golds, runs = _ranges(
        np.searchsorted(run.begins, gold.begins, side="right"), np.searchsorted(run.begins, gold.ends, side="left")
    )  # the run entity begins after the gold entity, and within it
    later_runs, later_golds = _ranges(
        np.searchsorted(gold.begins, run.begins, side="left"), np.searchsorted(gold.begins, run.ends, side="left")
    )  # the gold entity begins within the run entity
    return np.concatenate([runs, later_runs]), np.concatenate([golds, later_golds])


def _ranges(firsts: Rows, ends: Rows) -> tuple[Rows, Rows]:
    """Return all numbers from firsts[i] to ends[i] (exclusive), each with its i: first the i, then the numbers."""
    counts = np.maximum(0, ends - firsts)
    before = np.cumsum(counts) - counts
    return np.repeat(np.arange(len(counts)), counts), np.arange(counts.sum()) + np.repeat(firsts - before, counts)


# (gold entity of each pair, run entity of each pair) → the credit of each pair, which is negative if they do not match,
# and a number by which each run entity chooses: the smaller, the better
Rating = Callable[[Side, Side], tuple[Numbers, Numbers]]


def _in_turn(gold: Side, run: Side, rate: Rating) -> Numbers:
    """Return the credit of each run entity. In order, each one chooses among the unused gold entities that overlap it.

    The time is proportional to the number of overlaps, which formats limit.
    """
    found, used = np.zeros(len(run.begins)), bytearray(len(gold.begins))
    for start in range(0, len(run.begins), AT_ONCE):
        some = run.at(slice(start, start + AT_ONCE))
        near = np.flatnonzero((gold.ends > some.begins[0]) & (gold.begins < some.ends.max()))
        runs, golds = _overlaps(gold.at(near), some)
        credits, ranks = rate(gold.at(near[golds]), some.at(runs))
        order = np.lexsort((ranks, runs))
        order = order[credits[order] >= 0]
        chosen = order[_first_unused(runs[order], near[golds[order]], used)]
        found[start + runs[chosen]] = credits[chosen]
    return found


def _first_unused(runs: Rows, golds: Rows, used: bytearray) -> list[int]:
    """Choose, for each run entity, its first pair with an unused gold entity, which is then used.

    Args:
        runs, golds: the entities of each pair, ordered by run entity.

    Returns:
        The indexes of the chosen pairs.
    """
    chosen, of_pairs = list[int](), golds.tolist()
    bounds = np.flatnonzero(np.diff(runs, prepend=-1, append=-1)).tolist()
    for first, end in pairwise(bounds):
        for pair in range(first, end):
            if not used[of_pairs[pair]]:
                used[of_pairs[pair]] = True
                chosen.append(pair)
                break
    return chosen


def _distances(gold: Side, run: Side) -> Numbers:
    """Return how far the entities of each pair are apart: start distance + end distance."""
    distances: Numbers = (np.abs(gold.begins - run.begins) + np.abs(gold.ends - run.ends)).astype(np.float64)
    return distances


def _partial(gold: Side, run: Side, least: float) -> Numbers:
    def rate(gold: Side, run: Side) -> tuple[Numbers, Numbers]:
        same = _distances(gold, run) == 0
        return np.where(same, 1.0, PARTIAL), np.where(same, 0.0, 1.0)

    return _in_turn(gold, run, rate)


def _type(gold: Side, run: Side, least: float) -> Numbers:
    def rate(gold: Side, run: Side) -> tuple[Numbers, Numbers]:
        alike = gold.kinds == run.kinds
        return alike.astype(np.float64), np.where(alike, _distances(gold, run), np.inf)

    return _in_turn(gold, run, rate)


def _iou(gold: Side, run: Side, least: float) -> Numbers:
    def rate(gold: Side, run: Side) -> tuple[Numbers, Numbers]:
        shared = np.minimum(gold.ends, run.ends) - np.maximum(gold.begins, run.begins)
        shares = shared / (np.maximum(gold.ends, run.ends) - np.minimum(gold.begins, run.begins))
        matches = (gold.kinds == run.kinds) & (shares >= least)
        return np.where(matches, 1.0, -1.0), -shares

    return _in_turn(gold, run, rate)


MATCHES: dict[str, Credits] = {"strict": _strict, "exact": _exact, "partial": _partial, "type": _type, "iou": _iou}
