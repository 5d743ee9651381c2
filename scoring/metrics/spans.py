"""The spans of gold and run as intervals, so that the cost depends on the number of spans, not on their length."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import SpanComparison

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Spans sorted by item and position, with one entry per span.

    `owners` are gold rows. `begins` and `ends` (exclusive) are positions in an item's text. `opens` and `closes`
    combine item and position: they increase from item to item and can be compared between gold and run.
    """

    owners: NDArray[np.intp]
    begins: Counts
    ends: Counts
    opens: Counts
    closes: Counts

    @property
    def lengths(self) -> Counts:
        return self.ends - self.begins

    def in_order(self) -> "Intervals":
        """Return the same spans, sorted."""
        order = np.lexsort((self.closes, self.opens))
        fields = (self.owners, self.begins, self.ends, self.opens, self.closes)
        return Intervals(*(field[order] for field in fields))

    def united(self) -> "Intervals":
        """Merge spans that touch or overlap."""
        reach = np.maximum.accumulate(self.closes)
        firsts = np.flatnonzero(np.append(True, self.opens[1:] > reach[:-1])[: len(self.opens)])
        if len(firsts) == len(self.opens):
            return self
        return Intervals(
            self.owners[firsts],
            self.begins[firsts],
            np.maximum.reduceat(self.ends, firsts),
            self.opens[firsts],
            np.maximum.reduceat(self.closes, firsts),
        )

    def covered_by(self, united: "Intervals") -> Counts:
        """Count the characters of each span that are in `united`, whose spans do not touch."""
        return united._before(self.closes, self.ends) - united._before(self.opens, self.begins)

    def _before(self, keys: Counts, places: Counts) -> Counts:
        """Count the marked characters before each position. The spans must not touch."""
        if not len(self.opens):
            return np.zeros(len(keys), np.int64)
        totals = np.append(0, np.cumsum(self.lengths))
        # The last span that begins at or before the position.
        last = np.searchsorted(self.opens, keys, side="right") - 1
        within = np.where(keys < self.closes[last], places - self.begins[last], self.lengths[last])
        before: Counts = np.where(last < 0, 0, totals[last] + within)
        return before


@dataclass(frozen=True, slots=True)
class BothMarked:
    """The spans of gold and run, both as listed and after merging those that touch or overlap."""

    gold: Intervals
    run: Intervals
    gold_united: Intervals
    run_united: Intervals


Listed = tuple[NDArray[np.intp], Counts, Counts]  # owners, begins and ends of spans


def both_marked(comparison: SpanComparison) -> BothMarked:
    """Return both sides, sorted by item and position."""
    spans = comparison.gold.spans
    owners = np.repeat(np.arange(len(spans.ids)), np.diff(spans.starts))
    return marked((owners, spans.begins, spans.ends), (comparison.owners, comparison.begins, comparison.ends))


def marked(gold_spans: Listed, run_spans: Listed) -> BothMarked:
    """Return both sides, sorted by owner and position."""
    owners, begins, ends = (np.concatenate(both) for both in zip(gold_spans, run_spans, strict=True))
    # Replace positions with their ranks, so that item and position together fit into 64 bits for any run.
    ranks = np.unique(np.concatenate([begins, ends]), return_inverse=True)[1]
    keys = np.tile(owners, 2) * (int(ranks.max(initial=0)) + 1) + ranks
    opens, closes = keys[: len(owners)], keys[len(owners) :]
    cut = len(gold_spans[0])
    gold, run = (
        Intervals(owners[side], begins[side], ends[side], opens[side], closes[side]).in_order()
        for side in (slice(cut), slice(cut, None))
    )
    return BothMarked(gold, run, gold.united(), run.united())


def same_ends(first: Intervals, second: Intervals) -> NDArray[np.bool_]:
    """Return which spans in `second` have the same boundaries as a span in `first`. Neither may contain duplicates."""
    opens = np.concatenate([first.opens, second.opens])
    closes = np.concatenate([first.closes, second.closes])
    order = np.lexsort((closes, opens))  # among equal spans, those in `first` come first
    twice = np.flatnonzero((np.diff(opens[order]) == 0) & (np.diff(closes[order]) == 0)) + 1
    same = np.zeros(len(opens), bool)
    same[order[twice]] = True
    return same[len(first.opens) :]
