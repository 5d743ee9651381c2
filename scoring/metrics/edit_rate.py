"""The edits that the translation edit rate counts, for many pairs of texts at once.

The result is that of `translation_edit_rate` in sacrebleu's `lib_ter`, with its limits on shifts and its beam. Instead
of one pair after another, this module moves phrases in many pairs at the same time (`_Pairs`), counts the shifts before
it compares any of them, and computes distances within the beam only where rapidfuzz's, which are never larger, leave it
open which shift is best.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.extras import load

Integers = NDArray[np.int32]
Words = Sequence[str]
Places = tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]  # pairs, output positions, reference positions

LONGEST_SHIFT = 10  # words
FARTHEST_SHIFT = 50  # words between the positions of equal phrases
MOST_SHIFTS = 1000  # shifts of a pair that are considered
BEAM = 25
# Paths with at most this many edits, with the difference in length, never leave the beam.
SURE_EDITS = 2 * BEAM - 4
CELLS = 2_000_000  # cells of all distance matrices that are computed at once
INFINITE = 1_000_000


@dataclass(frozen=True, slots=True)
class _Shift:
    """Move the `length` words at `start` to `target`."""

    start: int
    length: int
    target: int

    def of(self, words: str) -> str:
        start, end, target = self.start, self.start + self.length, self.target
        if target < start:
            return words[:target] + words[start:end] + words[target:start] + words[end:]
        if target > end:
            return words[:start] + words[end:target] + words[start:end] + words[target:]
        return words[:start] + words[end : self.length + target] + words[start:end] + words[self.length + target :]

    @property
    def rank(self) -> tuple[int, int, int]:
        """The larger one of two shifts that save as many edits is chosen."""
        return self.length, -self.start, -self.target


def edits_of(pairs: Sequence[tuple[Words, Words]]) -> list[int]:
    """Return the number of edits, with shifts, that turn each output into its reference."""
    found = [0] * len(pairs)
    open_pairs = []
    for at, (output, reference) in enumerate(pairs):
        found[at] = len(output) or len(reference) if not output or not reference else 0
        if output and reference:
            open_pairs.append(at)
    open_pairs.sort(key=lambda at: (len(pairs[at][0]), len(pairs[at][1])))
    for group in _groups([(len(pairs[at][0]), len(pairs[at][1])) for at in open_pairs]):
        chosen = [open_pairs[at] for at in group]
        for at, edits in zip(chosen, _Group([pairs[at] for at in chosen]).edits(), strict=True):
            found[at] = edits
    return found


def _groups(sizes: Sequence[tuple[int, int]]) -> Iterator[range]:
    """Split pairs, which are sorted by size, into groups whose distance matrices fit into CELLS."""
    start, longest = 0, 0
    for at, (own, wanted) in enumerate(sizes):
        longest = max(longest, wanted)
        if at > start and (at + 1 - start) * (own + 1) * (longest + 1) > CELLS:
            yield range(start, at)
            start, longest = at, wanted
    if sizes:
        yield range(start, len(sizes))


class _Group:
    """Pairs of similar size. Each word is a character in a string that is equal for equal words of a pair."""

    def __init__(self, pairs: Sequence[tuple[Words, Words]]) -> None:
        self.outputs, self.references = [], list[str]()
        for output, reference in pairs:
            code = {word: chr(number + 256) for number, word in enumerate(dict.fromkeys((*output, *reference)))}
            self.outputs.append("".join(code[word] for word in output))
            self.references.append("".join(code[word] for word in reference))

    def edits(self) -> list[int]:
        """Shift phrases in all pairs as long as that saves edits."""
        shifts, considered = [0] * len(self.outputs), np.zeros(len(self.outputs), np.int64)
        found, active = [0] * len(self.outputs), list(range(len(self.outputs)))
        while active:
            pairs = _Pairs([self.outputs[at] for at in active], [self.references[at] for at in active])
            counts, places = pairs.shifts()
            considered[active] += counts
            going_on = []
            for row, at in enumerate(active):
                found[at] = shifts[at] + int(pairs.distances[row])
                if counts[row] and considered[at] < MOST_SHIFTS:
                    going_on.append(row)
            best = pairs.best_shifts(going_on, places)
            for row, shift in best.items():
                self.outputs[active[row]] = shift.of(self.outputs[active[row]])
                shifts[active[row]] += 1
            active = [active[row] for row in best]
        return found


class _Pairs:
    """The distance matrices of pairs with similar lengths, and their alignments."""

    def __init__(self, outputs: Sequence[str], references: Sequence[str]) -> None:
        self.outputs, self.references = outputs, references
        self.output, self.lengths = _as_numbers(outputs, -1)
        self.reference, self.wanted = _as_numbers(references, -2)
        self.matrix = beam_distances(self.output, self.lengths, self.reference, self.wanted)
        self.rows = np.arange(len(outputs))
        self.distances = self.matrix[self.lengths, self.rows, self.wanted + 1]
        self._align()

    def _align(self) -> None:
        """Follow the cheapest edits back: substitutions are preferred to deletions, and deletions to insertions.

        `aligned` (pairs, words of the reference + 1) has the last output word before or at each reference word, after
        a −1. The others mark words that are not matched.
        """
        count = len(self.outputs)
        self.aligned = np.full((count, self.reference.shape[1] + 1), -1, np.int32)
        self.wrong_output = np.zeros(self.output.shape, np.int32)
        self.wrong_reference = np.zeros(self.reference.shape, np.int32)
        i, j, rows = self.lengths.copy(), self.wanted.copy(), self.rows
        while len(rows := rows[(i[rows] > 0) | (j[rows] > 0)]):
            at, to = i[rows], j[rows]
            here = self.matrix[at, rows, to + 1]
            differs = (self.output[rows, at - 1] != self.reference[rows, to - 1]).astype(np.int32)
            both = (at > 0) & (to > 0)
            replaced = both & (self.matrix[at - 1, rows, to] + differs == here)
            deleted = ~replaced & (at > 0) & ((to == 0) | (self.matrix[at - 1, rows, to + 1] + 1 == here))
            used = ~deleted  # the reference word is used
            self.aligned[rows[used], to[used]] = at[used] - 1
            self.wrong_reference[rows[used], to[used] - 1] = np.where(replaced, differs, 1)[used]
            moved = ~used | replaced
            self.wrong_output[rows[moved], at[moved] - 1] = np.where(replaced, differs, 1)[moved]
            i[rows] -= moved
            j[rows] -= used

    def shifts(self) -> tuple[NDArray[np.int64], list[Places]]:
        """Return how many shifts each pair has, and arrays with the pair, output and reference position by length."""
        near = np.abs(np.arange(self.output.shape[1])[:, None] - np.arange(self.reference.shape[1])) <= FARTHEST_SHIFT
        pair, start, at = np.nonzero((self.output[:, :, None] == self.reference[:, None, :]) & near)
        wrong_output, wrong_reference = _sums(self.wrong_output), _sums(self.wrong_reference)
        changes = _sums((self.aligned[:, 1:] != self.aligned[:, :-1]).astype(np.int32))
        counts, places = np.zeros(len(self.outputs), np.int64), list[Places]()
        for length in range(1, LONGEST_SHIFT + 1):
            fits = (start + length <= self.lengths[pair]) & (at + length <= self.wanted[pair])
            pair, start, at = pair[fits], start[fits], at[fits]
            same = self.output[pair, start + length - 1] == self.reference[pair, at + length - 1]
            pair, start, at = pair[same], start[same], at[same]
            target = self.aligned[pair, at + 1]
            useful = wrong_output[pair, start + length] > wrong_output[pair, start]
            useful &= wrong_reference[pair, at + length] > wrong_reference[pair, at]
            useful &= (target < start) | (target >= start + length)
            chosen = (pair[useful], start[useful], at[useful])
            places.append(chosen)
            more = 1 + changes[chosen[0], chosen[2] + length] - changes[chosen[0], chosen[2]]
            counts += np.bincount(chosen[0], more, len(counts)).astype(np.int64)
        return counts, places

    def best_shifts(self, rows: Sequence[int], places: Sequence[Places]) -> dict[int, _Shift]:
        """Return the shift that saves most edits for each of these pairs, unless none saves any."""
        shifts: dict[int, set[tuple[int, int, int]]] = {row: set() for row in rows}
        for length, (pair, start, at) in enumerate(places, 1):
            asked = np.isin(pair, rows)
            pair, start, at = pair[asked], start[asked], at[asked]
            targets = self.aligned[pair[:, None], at[:, None] + np.arange(length + 1)] + 1
            for row, place, own in zip(pair.tolist(), start.tolist(), targets.tolist(), strict=True):
                shifts[row].update((place, length, target) for target in own)
        best = {row: self._best_of(row, [_Shift(*one) for one in found]) for row, found in shifts.items()}
        return {row: shift for row, shift in best.items() if shift is not None}

    def _best_of(self, row: int, shifts: Sequence[_Shift]) -> _Shift | None:
        output, reference, before = self.outputs[row], self.references[row], int(self.distances[row])
        distance = load("rapidfuzz.distance", "ter requires").Levenshtein.distance
        bounds = []  # edits that a shift saves at most
        for shift in shifts:
            edits = distance(reference, shift.of(output), score_cutoff=before - 1)
            if edits < before:
                bounds.append((before - edits, shift.rank, shift))
        bounds.sort(key=lambda one: one[:2], reverse=True)
        difference = abs(len(output) - len(reference))
        best: tuple[int, tuple[int, int, int], _Shift] | None = None
        start, step = 0, 8
        while start < len(bounds) and (best is None or best[:2] < bounds[start][:2]):
            part = bounds[start : start + step]
            unsure = [one for one in part if before - one[0] + difference > SURE_EDITS and len(reference) >= BEAM]
            exact = dict(zip([one[2] for one in unsure], self._saved(row, [one[2] for one in unsure]), strict=True))
            known = [(exact.get(shift, saved), rank, shift) for saved, rank, shift in part]
            best = max([*known, *([best] if best else [])], key=lambda one: one[:2])
            start, step = start + step, 4 * step
        return best[2] if best is not None and best[0] > 0 else None

    def _saved(self, row: int, shifts: Sequence[_Shift]) -> list[int]:
        """Return how many edits the shifts save within the beam."""
        if not shifts:
            return []
        outputs, lengths = _as_numbers([shift.of(self.outputs[row]) for shift in shifts], -1)
        reference = np.repeat(self.reference[row : row + 1, : self.wanted[row]], len(shifts), axis=0)
        wanted = np.full(len(shifts), self.wanted[row], np.int32)
        last = beam_distances(outputs, lengths, reference, wanted, keep_all=False)
        return [int(self.distances[row]) - edits for edits in last[0, :, -1].tolist()]


def _as_numbers(texts: Sequence[str], filler: int) -> tuple[Integers, Integers]:
    """Return the characters as numbers (texts, longest), with a filler at the end, and the lengths."""
    lengths = np.array([len(text) for text in texts], np.int32)
    numbers = np.full((len(texts), int(lengths.max())), filler, np.int32)
    numbers[np.arange(numbers.shape[1]) < lengths[:, None]] = np.frombuffer(
        "".join(texts).encode("utf-32-le"), np.int32
    )
    return numbers, lengths


def _sums(values: Integers) -> Integers:
    """Return the sums of the values before each position, and of all values, along the second axis."""
    sums = np.zeros((values.shape[0], values.shape[1] + 1), np.int32)
    np.cumsum(values, axis=1, out=sums[:, 1:])
    return sums


def beam_distances(
    output: Integers, lengths: Integers, reference: Integers, wanted: Integers, *, keep_all: bool = True
) -> Integers:
    """Return the edit distances of beginnings of outputs and references, with shape (words + 1, pairs, words + 2).

    The first column is unused. Distances that are not within the beam around the diagonal are infinite.

    Args:
        keep_all: whether to return all rows or only the last one. Then, all outputs must have the same length.
    """
    pairs, columns = reference.shape[0], reference.shape[1] + 1
    ratio = wanted / lengths
    width = np.where(ratio / 2 > BEAM, np.ceil(ratio / 2 + BEAM), BEAM).astype(np.int64)
    rows = np.full((output.shape[1] + 1 if keep_all else 2, pairs, columns + 1), INFINITE, np.int32)
    rows[0, :, 1:] = np.arange(columns)
    for i in range(1, output.shape[1] + 1):
        middle = np.floor(i * ratio).astype(np.int64)
        low, high = np.maximum(0, middle - width), np.minimum(wanted + 1, middle + width)
        high = np.where(lengths == i, wanted + 1, high)
        first, end = int(low.min()), max(int(low.min()) + 1, int(min(high.max(), columns)))
        before = rows[i - 1 if keep_all else (i - 1) % 2]
        place = np.arange(first, end, dtype=np.int32)
        found = before[:, first + 1 : end + 1] + 1
        shown = reference[:, max(0, first - 1) : end - 1] != output[:, i - 1 : i]
        at = 1 if first == 0 else 0
        np.minimum(found[:, at:], before[:, first + at : end] + shown, out=found[:, at:])
        outside = (place < low[:, None]) | (place >= high[:, None])
        found[outside] = INFINITE
        found -= place
        np.minimum.accumulate(found, axis=1, out=found)
        found += place
        found[outside] = INFINITE
        row = rows[i if keep_all else i % 2]
        if not keep_all:
            row[:] = INFINITE
        row[:, first + 1 : end + 1] = found
    return rows if keep_all else rows[output.shape[1] % 2][None]
