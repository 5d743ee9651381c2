"""Compare the text that an annotation states with the item's text at its offsets.

brat and many JSON files repeat the annotated text next to the offsets. If it differs, the offsets were usually counted
in other units, such as UTF-16 units, or are all shifted by the same number. None of this changes a score.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.formats.reading import Problems, Reading, shown
from scoring.limits import SHOWN

BLANKS = re.compile(r"\s+")
NEAR = 1000  # characters searched on both sides of the offsets
MOST = 5000  # after this many differences, no more annotations are compared
LONGER = 100  # no span is this much longer than its stated text, whatever blanks were left out
UTF_16, BYTES = "characters, not UTF-16 units", "characters, not bytes"
UNITS = (UTF_16, BYTES, "line breaks as one character, not two")

Fragments = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Misplaced:
    """An annotation whose stated text is not at its offsets."""

    item: str
    fragments: Fragments
    stated: str
    place: str
    where: Mapping[str, Any]


class AnnotatedTexts:
    """The annotations of a file whose text differs from the items' texts. Items without a text are not compared."""

    def __init__(self, reading: Reading) -> None:
        self._texts = reading.texts or {}
        self._is_gold = reading.role == "gold"
        self._misplaced: list[Misplaced] = []

    def knows(self, item: str) -> bool:
        """Return whether an item has a text to compare with."""
        return item in self._texts

    def compare(self, item: str, fragments: Fragments, stated: object, place: str, **where: Any) -> None:
        """Compare the stated text of an annotation with the item's text.

        Args:
            fragments: the begin and end of each fragment.
            stated: the text in the file. Anything that is not a text or is empty is not compared.
            place: the annotation's name for messages.
            where: additional fields of a problem.
        """
        text = self._texts.get(item) if len(self._misplaced) < MOST else None
        if text is None or not isinstance(stated, str) or not stated or fragments[0][0] < 0:
            return
        if not _is_at(text, fragments, stated):
            self._misplaced.append(Misplaced(item, fragments, stated, place, where))

    def report(self, problems: Problems) -> None:
        """Add a warning for each way in which offsets differ, such as a shift."""
        shift = self._shift()
        explained = {one: set(self._explanations(one, shift)) for one in range(len(self._misplaced))}
        times = Counter(cause for causes in explained.values() for cause in causes)
        for number, misplaced in enumerate(self._misplaced):
            causes = sorted(explained[number], key=lambda cause: (-times[cause], cause not in UNITS, cause))
            self._add(misplaced, causes[0] if causes else None, problems)

    def _add(self, misplaced: Misplaced, cause: str | None, problems: Problems) -> None:
        code = "offset-text" if cause is None else "offset-units" if cause in UNITS else "offset-shifted"
        if problems.has_counted(code):
            return
        text, stated = self._texts[misplaced.item], _quoted(misplaced.stated)
        offsets = ";".join(f"{begin}–{end}" for begin, end in misplaced.fragments)
        found = f"{shown(offsets)} is {_quoted(_at(text, misplaced.fragments, SHOWN))}, not {stated}"
        where = {"severity": "warning", "item": shown(misplaced.item), "found": found, **misplaced.where}
        # `expected` is also shown to people who may not see the gold, so it must not contain text from it.
        expected = None if self._is_gold else stated
        problems.add(code, f"{misplaced.place}: {found}", expected=cause or expected, **where)

    def _shift(self) -> int:
        """Return the most frequent distance between the offsets of a stated text and its nearest occurrence."""
        distances = (_distance(self._texts[one.item], one) for one in self._misplaced)
        return max(Counter(filter(None, distances)).items(), key=lambda pair: pair[1], default=(0, 0))[0]

    def _explanations(self, number: int, shift: int) -> Iterator[str]:
        """Yield how the offsets of an annotation were counted, if its text is where they would then point."""
        misplaced = self._misplaced[number]
        text = self._texts[misplaced.item]
        for unit in UNITS:
            fragments = _in_characters(text, unit, misplaced.fragments)
            if fragments is not None and _is_at(text, fragments, misplaced.stated):
                yield unit
        begin = misplaced.fragments[0][0]
        moved = [(start - shift, end - shift) for start, end in misplaced.fragments]
        if shift and begin >= shift and _is_at(text, moved, misplaced.stated):
            yield f"offsets {shift} smaller" if shift > 0 else f"offsets {-shift} larger"


def _quoted(text: str) -> str:
    return f"“{shown(text)}”"


def _at(text: str, fragments: Fragments, most: int) -> str:
    """Return the text at these offsets, with at most `most` characters of each fragment."""
    return " ".join(text[begin : min(end, begin + most)] for begin, end in fragments)


def _is_at(text: str, fragments: Fragments, stated: str) -> bool:
    """Return whether a text is at its offsets. All blanks are alike, and blanks at the end do not matter."""
    found = _at(text, fragments, len(stated) + LONGER)
    return found == stated or BLANKS.sub(" ", found).rstrip() == BLANKS.sub(" ", stated).rstrip()


def _distance(text: str, misplaced: Misplaced) -> int:
    """Return by how much the offsets exceed those of the nearest occurrence of the stated text (0: none is near)."""
    begin, stated = misplaced.fragments[0][0], misplaced.stated
    before = text.rfind(stated, max(0, begin - NEAR), begin + len(stated))
    after = text.find(stated, begin, begin + NEAR + len(stated))
    found = [begin - place for place in (before, after) if place >= 0]
    return min(found, key=abs, default=0)


def _in_characters(text: str, unit: str, fragments: Fragments) -> Fragments | None:
    """Convert offsets in other units to offsets in characters. Return None if they are not between characters."""
    starts = _starts(text, unit)
    if starts is None:
        return None
    found = []
    for pair in fragments:
        begin, end = np.searchsorted(starts, pair).tolist()
        if end >= len(starts) or (starts[begin], starts[end]) != pair:
            return None
        found.append((begin, end))
    return found


@lru_cache(maxsize=len(UNITS))
def _starts(text: str, unit: str) -> NDArray[np.int64] | None:
    """Return the offset of each character and of the end in this unit, or None if it is the same in characters."""
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), np.uint32)
    if unit == UTF_16:
        extra = (points > 0xFFFF).astype(np.int64)
    elif unit == BYTES:
        extra = np.searchsorted([0x80, 0x800, 0x10000], points, side="right")
    else:
        extra = (points == ord("\n")).astype(np.int64)
    return np.append(0, np.cumsum(extra + 1)) if extra.any() else None
