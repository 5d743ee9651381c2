"""The edits that the translation edit rate counts, for many pairs of texts at once.

The result is that of `translation_edit_rate` in sacrebleu's `lib_ter`, with its limits on shifts and its beam. Instead
of one pair after another, this module moves phrases in many pairs at the same time (`_Group`). It counts the shifts
before it compares any of them, and computes each row of a distance matrix with a few operations on 64 bits, because the
beam has at most 50 cells (Myers 1999; Hyyrö 2003).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.extras import load

Integers = NDArray[np.int64]
Bits = NDArray[np.uint64]  # bit k belongs to the word of the reference that is k words after the base of the row
Words = Sequence[str]

LONGEST_SHIFT = 10  # words
FARTHEST_SHIFT = 50  # words between the positions of equal phrases
MOST_SHIFTS = 1000  # shifts of a pair that are considered
BEAM = 25
WIDEST = 2 * BEAM  # times that a reference can be longer than the output before the beam is wider
CELLS = 2_000_000  # words of outputs × words of references that are compared at once
SHIFTS = 32_768  # shifts that are compared at once
ONE, ALL = np.uint64(1), np.uint64(2**64 - 1)


def edits_of(pairs: Sequence[tuple[Words, Words]]) -> list[int]:
    """Return the number of edits, with shifts, that turn each output into its reference."""
    found = [0] * len(pairs)
    open_pairs = []
    for at, (output, reference) in enumerate(pairs):
        if not output or not reference:
            found[at] = len(output) or len(reference)
        elif len(reference) > WIDEST * len(output):
            found[at] = load("sacrebleu.metrics.lib_ter", "ter requires").translation_edit_rate(output, reference)[0]
        else:
            open_pairs.append(at)
    open_pairs.sort(key=lambda at: (len(pairs[at][0]), len(pairs[at][1])))
    for group in _groups([(len(pairs[at][0]), len(pairs[at][1])) for at in open_pairs]):
        chosen = [open_pairs[at] for at in group]
        for at, edits in zip(chosen, _Group([pairs[at] for at in chosen]).edits().tolist(), strict=True):
            found[at] = edits
    return found


def _groups(sizes: Sequence[tuple[int, int]]) -> Iterator[range]:
    """Split pairs, which are sorted by size, into groups of at most CELLS."""
    start, longest = 0, 0
    for at, (own, wanted) in enumerate(sizes):
        longest = max(longest, wanted)
        if at > start and (at + 1 - start) * own * longest > CELLS:
            yield range(start, at)
            start, longest = at, wanted
    if sizes:
        yield range(start, len(sizes))


@dataclass(frozen=True, slots=True)
class _Shifts:
    """Shifts of several pairs: each moves the `length` words at `start` to `target`. All have shape (shifts,)."""

    pair: Integers
    start: Integers
    length: Integers
    target: Integers

    def __getitem__(self, at: NDArray[np.intp] | slice) -> "_Shifts":
        return _Shifts(self.pair[at], self.start[at], self.length[at], self.target[at])

    def swapped(self, lengths: Integers) -> tuple[Integers, Integers, Integers]:
        """Return the start, middle and end of the two neighboring phrases that the shift swaps."""
        end = self.start + self.length
        is_back = self.target < self.start
        last = np.where(self.target > end, self.target, np.minimum(self.target + self.length, lengths[self.pair]))
        return (
            np.where(is_back, self.target, self.start),
            np.where(is_back, self.start, end),
            np.where(is_back, end, last),
        )

    def ranks(self, saved: Integers, words: int) -> Integers:
        """Return numbers that are larger for shifts that save more edits, then for longer and for earlier ones."""
        wide = words + 2
        return ((saved * 16 + self.length) * wide + words - self.start) * wide + words - self.target


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of distance matrices, for each number of words of the output and each pair.

    The distance in a column is `first` + `up` − `down` of the bits before it. `first` leaves out the edits of the
    column before the beam, which are the row's number. `same` marks allowed matches, `diagonal` the cells that are
    reached from the upper left, `vertical` the others that are reached from above.
    """

    up: Bits
    down: Bits
    first: Integers
    same: Bits
    diagonal: Bits
    vertical: Bits


class _Beam:
    """The cells of the distance matrices that are computed. Arrays have shape (words of the output + 1, pairs).

    The bits of a row begin after its `base`, a column that is at most one before the first cell within the beam.
    Distances outside the beam grow by 1 from cell to cell. No cell in the beam can be reached from there with fewer
    edits, since matches are not `allowed` there.
    """

    def __init__(self, lengths: Integers, wanted: Integers) -> None:
        rows = np.arange(int(lengths.max()) + 1)[:, None]
        middle = np.floor(np.minimum(rows, lengths) * (wanted / lengths)).astype(np.int64)
        low, high = np.maximum(0, middle - BEAM), np.minimum(wanted + 1, middle + BEAM)
        high = np.where((rows == 0) | (rows >= lengths), wanted + 1, high)
        self.base = np.maximum(0, low - 1)
        self.steps = np.zeros_like(self.base)
        self.steps[1:] = self.base[1:] - self.base[:-1]
        before = np.maximum(0, np.arange(len(rows)) - 1)
        reached = high[before] - self.base
        self.allowed = _ones(reached) & ~_ones(low[before] - self.base)
        self.from_above = _ones(reached - 1)
        self.within = _ones(high - self.base - 1)
        self.passed = _ones(self.steps)
        self.entered = ~_ones(64 - self.steps)
        self.moves = self.steps.any(axis=1)
        self.last = _ones(wanted - self.base[lengths, np.arange(len(lengths))])


def _ones(count: Integers) -> Bits:
    """Return numbers whose lowest bits are set."""
    clipped = np.clip(count, 0, 64).astype(np.uint64)
    return np.where(clipped == 64, ALL, (ONE << np.minimum(clipped, 63)) - ONE)


def _count(bits: Bits) -> Integers:
    return np.bitwise_count(bits).astype(np.int64)


class _Group:
    """Pairs of similar size. `order` (pairs, words) has the original positions of the output's words."""

    def __init__(self, pairs: Sequence[tuple[Words, Words]]) -> None:
        outputs, references = list[list[int]](), list[list[int]]()
        for output, reference in pairs:
            numbers = {word: number for number, word in enumerate(dict.fromkeys((*output, *reference)))}
            outputs.append([numbers[word] for word in output])
            references.append([numbers[word] for word in reference])
        self.words, self.lengths = _padded(outputs, -1)
        self.reference, self.wanted = _padded(references, -2)
        self.order = np.tile(np.arange(self.words.shape[1]), (len(pairs), 1))
        self.windows = self._windows()

    def _windows(self) -> Bits:
        """Return which of the next 64 words of the reference equal each word of the output.

        The shape is (words of the reference + 1, pairs, words of the output).
        """
        count = self.reference.shape[1]
        found = np.zeros((count + 1, *self.words.shape), np.uint64)
        for at in reversed(range(count)):
            np.left_shift(found[at + 1], ONE, out=found[at])
            found[at] |= self.words == self.reference[:, at : at + 1]
        return found

    def edits(self) -> Integers:
        """Shift phrases in all pairs as long as that saves edits."""
        count = len(self.lengths)
        found, considered = np.zeros(count, np.int64), np.zeros(count, np.int64)
        active = np.arange(count)
        while len(active):
            pairs = _Pairs(self, active)
            found[active] += pairs.distances  # after the edits of the shifts
            counts, places = pairs.shifts()
            considered[active] += counts
            going_on = (counts > 0) & (considered[active] < MOST_SHIFTS)
            best = pairs.best_shifts(pairs.candidates(places, going_on))
            found[active[best.pair]] -= pairs.distances[best.pair] - 1
            self.order[active] = pairs.shifted(best)
            active = active[best.pair]
        return found


class _Pairs:
    """Some pairs of a group: the rows of their distance matrices, and their alignments."""

    def __init__(self, group: _Group, chosen: NDArray[np.intp]) -> None:
        self.lengths, self.wanted = group.lengths[chosen], group.wanted[chosen]
        self.order, self.reference = group.order[chosen], group.reference[chosen]
        self.output = np.take_along_axis(group.words[chosen], self.order, axis=1)
        self.beam = _Beam(self.lengths, self.wanted)
        self.windows = group.windows.reshape(-1)
        pairs, words = group.words.shape
        self.offsets = (self.beam.base * pairs + chosen) * words  # of each row's windows
        self.rows = np.arange(len(chosen))
        self._compute()
        self._align()

    def _compute(self) -> None:
        shape = (len(self.beam.base), len(self.rows))
        kept = [np.zeros(shape, np.uint64) for _ in range(5)]
        self.matrix = _Rows(kept[0], kept[1], np.zeros(shape, np.int64), *kept[2:])
        up, down, first = np.full(len(self.rows), ALL), np.zeros(len(self.rows), np.uint64), self.matrix.first[0].copy()
        self.matrix.up[0] = ALL
        for row in range(1, shape[0]):
            equal = self.windows.take(self.offsets[row] + self.order[:, row - 1])
            self._step(row, self.rows, equal, (up, down, first), self.matrix)
            self.matrix.up[row], self.matrix.down[row], self.matrix.first[row] = up, down, first
        end = (self.lengths, self.rows)
        self.distances = self._distances(self.rows, self.matrix.up[end], self.matrix.down[end], self.matrix.first[end])

    def _distances(self, pair: Integers, up: Bits, down: Bits, first: Integers) -> Integers:
        last = self.beam.last[pair]
        return self.lengths[pair] + first + _count(up & last) - _count(down & last)

    def _step(
        self, row: int, pair: Integers, equal: Bits, state: tuple[Bits, Bits, Integers], rows: _Rows | None = None
    ) -> None:
        """Replace the state, which is that of the row before, with that of this row."""
        beam = self.beam
        if beam.moves[row]:
            self._move(row, pair, state)
        up, down, _ = state
        equal &= beam.allowed[row].take(pair)
        same = equal.copy() if rows is not None else equal
        unchanged = equal & up
        unchanged += up
        unchanged ^= up
        unchanged |= equal
        unchanged |= down
        higher = ~(unchanged | up)
        higher |= down
        lower = unchanged & up
        if rows is not None:
            rows.same[row] = same
            rows.diagonal[row] = beam.allowed[row] & (same | ~unchanged)
            rows.vertical[row] = higher & beam.from_above[row]
        higher <<= ONE
        higher |= ONE
        lower <<= ONE
        outside = ~beam.within[row].take(pair)
        np.bitwise_or(unchanged, higher, out=up)
        np.invert(up, out=up)
        up |= lower
        up |= outside
        np.bitwise_and(higher, unchanged, out=down)
        down &= ~outside

    def _move(self, row: int, pair: Integers, state: tuple[Bits, Bits, Integers]) -> None:
        """Let the bits of the state begin after the base of this row."""
        up, down, first = state
        passed = self.beam.passed[row].take(pair)
        steps = self.beam.steps[row].astype(np.uint64).take(pair)
        first += np.bitwise_count(up & passed)
        first -= np.bitwise_count(down & passed)
        up >>= steps
        up |= self.beam.entered[row].take(pair)
        down >>= steps

    def _align(self) -> None:
        """Follow the cheapest edits back: substitutions are preferred to deletions, and deletions to insertions.

        `aligned` (pairs, words of the reference + 1) has the last output word before or at each reference word, after
        a −1. The others mark words that are not matched.
        """
        self.aligned = np.full((len(self.rows), self.reference.shape[1] + 1), -1, np.int64)
        self.wrong_output = np.zeros(self.output.shape, np.int64)
        self.wrong_reference = np.zeros(self.reference.shape, np.int64)
        i, j, rows = self.lengths.copy(), self.wanted.copy(), self.rows
        while len(rows := rows[(i[rows] > 0) | (j[rows] > 0)]):
            at, to = i[rows], j[rows]
            bit = ONE << np.maximum(0, to - 1 - self.beam.base[at, rows]).astype(np.uint64)
            both = (at > 0) & (to > 0)
            replaced = both & (self.matrix.diagonal[at, rows] & bit > 0)
            differs = self.matrix.same[at, rows] & bit == 0
            deleted = ~replaced & (at > 0) & ((to == 0) | (self.matrix.vertical[at, rows] & bit > 0))
            used = ~deleted  # the reference word is used
            self.aligned[rows[used], to[used]] = at[used] - 1
            wrong = ~replaced | differs
            self.wrong_reference[rows[used], to[used] - 1] = wrong[used]
            moved = ~used | replaced
            self.wrong_output[rows[moved], at[moved] - 1] = wrong[moved]
            i[rows] -= moved
            j[rows] -= used

    def shifts(self) -> tuple[Integers, list[_Shifts]]:
        """Return how many shifts each pair has, and the equal phrases. Their `target` is a place in the reference."""
        near = np.abs(np.arange(self.output.shape[1])[:, None] - np.arange(self.reference.shape[1])) <= FARTHEST_SHIFT
        pair, start, at = np.nonzero((self.output[:, :, None] == self.reference[:, None, :]) & near)
        wrong_output, wrong_reference = _sums(self.wrong_output), _sums(self.wrong_reference)
        changes = _sums(self.aligned[:, 1:] != self.aligned[:, :-1])
        counts, places = np.zeros(len(self.rows), np.int64), list[_Shifts]()
        for length in range(1, LONGEST_SHIFT + 1):
            fits = (start + length <= self.lengths[pair]) & (at + length <= self.wanted[pair])
            pair, start, at = pair[fits], start[fits], at[fits]
            same = self.output[pair, start + length - 1] == self.reference[pair, at + length - 1]
            pair, start, at = pair[same], start[same], at[same]
            target = self.aligned[pair, at + 1]
            useful = wrong_output[pair, start + length] > wrong_output[pair, start]
            useful &= wrong_reference[pair, at + length] > wrong_reference[pair, at]
            useful &= (target < start) | (target >= start + length)
            found = _Shifts(pair[useful], start[useful], np.full(np.count_nonzero(useful), length), at[useful])
            places.append(found)
            more = 1 + changes[found.pair, found.target + length] - changes[found.pair, found.target]
            counts += np.bincount(found.pair, more, len(counts)).astype(np.int64)
        return counts, places

    def candidates(self, places: Sequence[_Shifts], going_on: NDArray[np.bool_]) -> _Shifts:
        """Return the shifts of these pairs, each with all of its targets in the output."""
        found = []
        for length, phrases in enumerate(places, 1):
            phrases = phrases[np.flatnonzero(going_on[phrases.pair])]
            targets = self.aligned[phrases.pair[:, None], phrases.target[:, None] + np.arange(length + 1)] + 1
            differs = np.ones(targets.shape, np.bool_)
            differs[:, 1:] = targets[:, 1:] != targets[:, :-1]
            which, _ = np.nonzero(differs)
            found.append(_Shifts(phrases.pair[which], phrases.start[which], phrases.length[which], targets[differs]))
        return _Shifts(
            np.concatenate([part.pair for part in found]),
            np.concatenate([part.start for part in found]),
            np.concatenate([part.length for part in found]),
            np.concatenate([part.target for part in found]),
        )

    def best_shifts(self, shifts: _Shifts) -> _Shifts:
        """Return the shift that saves most edits for each pair, unless none saves any."""
        saved = np.zeros(len(shifts.pair), np.int64)
        for at in range(0, len(saved), SHIFTS):
            part = slice(at, at + SHIFTS)
            saved[part] = self._saved(shifts[part])
        useful = np.flatnonzero(saved > 0)
        shifts, saved = shifts[useful], saved[useful]
        order = np.lexsort((shifts.ranks(saved, self.output.shape[1]), shifts.pair))
        shifts = shifts[order]
        is_last = np.append(shifts.pair[1:] != shifts.pair[:-1], True)[: len(order)]
        return shifts[np.flatnonzero(is_last)]

    def _saved(self, shifts: _Shifts) -> Integers:
        """Return how many edits the shifts save. Rows before the first word that moves stay the same."""
        low, middle, high = shifts.swapped(self.lengths)
        order = np.argsort(low.astype(np.int32), kind="stable")
        low, middle, high, pair = low[order], middle[order], high[order], shifts.pair[order]
        state = self.matrix.up[low, pair], self.matrix.down[low, pair], self.matrix.first[low, pair]
        turn, forward, back = low + high - middle, middle - low, middle - high
        lengths, words = self.lengths[pair], pair * self.order.shape[1]
        edits, flat = np.zeros(len(pair), np.int64), self.order.reshape(-1)
        for row in range(int(low[0]) + 1, int(lengths.max()) + 1):
            active = slice(int(np.searchsorted(low, row)))
            chosen = pair[active]
            place = words[active] + row - 1
            place += np.where(row <= turn[active], forward[active], np.where(row <= high[active], back[active], 0))
            equal = self.windows.take(self.offsets[row].take(chosen) + flat.take(place, mode="clip"))
            views = state[0][active], state[1][active], state[2][active]
            self._step(row, chosen, equal, views)
            ended = np.flatnonzero(lengths[active] == row)
            edits[ended] = self._distances(pair[ended], state[0][ended], state[1][ended], state[2][ended])
        saved = np.empty_like(edits)
        saved[order] = self.distances[pair] - edits
        return saved

    def shifted(self, shifts: _Shifts) -> Integers:
        """Return the order of the words after these shifts, at most one for each pair."""
        order = self.order.copy()
        for pair, low, middle, high in zip(shifts.pair, *shifts.swapped(self.lengths), strict=True):
            own = self.order[pair]
            order[pair, low:high] = np.concatenate([own[middle:high], own[low:middle]])
        return order


def _padded(texts: Sequence[Sequence[int]], filler: int) -> tuple[Integers, Integers]:
    """Return the words' numbers (texts, longest), with a filler at the end, and the lengths."""
    lengths = np.array([len(text) for text in texts], np.int64)
    numbers = np.full((len(texts), int(lengths.max())), filler, np.int64)
    numbers[np.arange(numbers.shape[1]) < lengths[:, None]] = [code for text in texts for code in text]
    return numbers, lengths


def _sums(values: NDArray[np.int64] | NDArray[np.bool_]) -> Integers:
    """Return the sums of the values before each position, and of all values, along the second axis."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1), np.int64)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums
