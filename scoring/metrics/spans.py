"""The spans of both sides of a comparison, as intervals: cost depends on their number, not their length."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.metrics.comparison import SpanComparison

Counts = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Intervals:
    """Spans sorted by item and position; one entry per span.

    `owners` are the gold's rows, `begins` and `ends` (exclusive) positions in an item's text. `opens` and `closes`
    combine item and position: they rise from item to item, and can be compared between the two sides.
    """

    owners: NDArray[np.intp]
    begins: Counts
    ends: Counts
    opens: Counts
    closes: Counts

    @property
    def lengths(self) -> Counts:
        """The characters of each span."""
        return self.ends - self.begins

    def in_order(self) -> "Intervals":
        """The same spans, sorted."""
        return self._at(np.lexsort((self.closes, self.opens)))

    def united(self) -> "Intervals":
        """The marked characters as the fewest spans: those that touch or overlap are merged."""
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
        """How many characters of each span are in `united`, whose spans do not touch."""
        return united._before(self.closes, self.ends) - united._before(self.opens, self.begins)

    def _before(self, keys: Counts, places: Counts) -> Counts:
        """How many marked characters come before each position; these spans do not touch."""
        if not len(self.opens):
            return np.zeros(len(keys), np.int64)
        totals = np.append(0, np.cumsum(self.lengths))
        last = np.searchsorted(self.opens, keys, side="right") - 1  # the last span that begins there or before
        within = np.where(keys < self.closes[last], places - self.begins[last], self.lengths[last])
        before: Counts = np.where(last < 0, 0, totals[last] + within)
        return before

    def _at(self, rows: NDArray[np.intp]) -> "Intervals":
        fields = (self.owners, self.begins, self.ends, self.opens, self.closes)
        return Intervals(*(field[rows] for field in fields))


@dataclass(frozen=True, slots=True)
class BothMarked:
    """The spans of both sides as listed, and united."""

    gold: Intervals
    run: Intervals
    gold_united: Intervals
    run_united: Intervals


Listed = tuple[NDArray[np.intp], Counts, Counts]  # owners, begins and ends of spans


def both_marked(comparison: SpanComparison) -> BothMarked:
    """Both sides, sorted by item and position."""
    spans = comparison.gold.spans
    owners = np.repeat(np.arange(len(spans.ids)), np.diff(spans.starts))
    return marked((owners, spans.begins, spans.ends), (comparison.owners, comparison.begins, comparison.ends))


def marked(gold_spans: Listed, run_spans: Listed) -> BothMarked:
    """Both sides, sorted by owner and position."""
    owners, begins, ends = (np.concatenate(both) for both in zip(gold_spans, run_spans, strict=True))
    # Positions become ranks first: item and position then fit into 64 bits, whatever a run contains.
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
    """Which spans of `second` are in `first`, with both ends; no side repeats a span."""
    opens = np.concatenate([first.opens, second.opens])
    closes = np.concatenate([first.closes, second.closes])
    order = np.lexsort((closes, opens))  # keeps `first` before
    twice = np.flatnonzero((np.diff(opens[order]) == 0) & (np.diff(closes[order]) == 0)) + 1
    same = np.zeros(len(opens), bool)
    same[order[twice]] = True
    return same[len(first.opens) :]
