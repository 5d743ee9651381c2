"""Lists of offsets or of start–end pairs, judged one by one and laid out as `Spans`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, repeat
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from scoring.answers import Spans
from scoring.formats.json_records import in_json
from scoring.formats.reading import Faults, Reading, shown, shown_cell

FURTHEST = 2**31 - 1  # no text is longer
LONGEST = 2**20  # characters of one span; a pair is cheap to write and dear to spell out
WHOLE = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Offsets:
    """How a cell or a JSON value lists what is marked: offset by offset, or as pairs of start and end."""

    as_pairs: bool
    end_included: bool = False

    @property
    def type(self) -> Any:
        return list[tuple[int, int]] if self.as_pairs else list[int]

    @property
    def expected(self) -> str:
        if self.as_pairs:
            return "pairs of start and end, as [[10, 13]], or []"
        return "whole numbers between brackets, as [10, 11, 12], or []"

    def of_value(self, value: object, place: str, item: str, path: str, faults: Faults) -> list[int]:
        """The offsets of a JSON value; none, with the fault kept, when it is no such list."""
        try:
            found = msgspec.convert(value, self.type)
        except msgspec.MsgspecError:
            self._tell(in_json(value), place, faults, item=item, path=path)
            return []
        return self.of_pairs(found, place, faults, item=item, path=path) if self.as_pairs else found

    def of_cell(self, cell: str, place: str, item: str, line: int, faults: Faults) -> list[int]:
        """The same for the text of such a value."""
        try:
            found = msgspec.json.decode(cell, type=self.type)
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            self._tell(shown_cell(cell) if cell else "nothing", place, faults, item=item, line=line)
            return []
        return self.of_pairs(found, place, faults, item=item, line=line) if self.as_pairs else found

    def of_pairs(self, pairs: Sequence[tuple[int, int]], place: str, faults: Faults, **where: Any) -> list[int]:
        """Spelled out; a pair that ends before it starts, or goes beyond any text, is a fault.

        Args:
            where: `item`, and `line` or `path`, as a problem has them.
        """
        offsets: list[int] = []
        for start, end in pairs:
            stop = end + self.end_included
            if start >= stop:
                found = f"{place}: {shown(start)}–{shown(end)}"
                faults.add("span-empty", found, found=f"{shown(start)}–{shown(end)}", **where)
            elif stop > FURTHEST or start < -FURTHEST or stop - start > LONGEST or len(offsets) > LONGEST:
                faults.add("offset-too-large", f"{place}: {shown(max(stop, -start))}", **where)
            else:
                offsets.extend(range(start, stop))
        return offsets

    def _tell(self, found: str, place: str, faults: Faults, **where: Any) -> None:
        faults.add(
            "span-not-offsets",
            f"{place}: {found}",
            found=found,
            expected=self.expected,
            suggestion=_without_quotes(found),
            **where,
        )


def _without_quotes(cell: str) -> str | None:
    bare = cell.strip('"')
    return bare if bare != cell and bare.startswith("[") and bare.endswith("]") else None


def pairs_of_rows(start: str, stop: str) -> list[tuple[int, int]] | None:
    """The pair of two cells; an empty list for empty cells, None when they hold something else."""
    if not start and not stop:
        return []
    if not WHOLE.fullmatch(start) or not WHOLE.fullmatch(stop):
        return None
    return [(int(start), int(stop))]


@dataclass(frozen=True, slots=True)
class Marks:
    """What is marked, one item's offsets after the other's as they were found, and how many each item has.

    `lines` says where each item stands, in files that have lines.
    """

    ids: list[str]
    flat: NDArray[np.int64]
    lengths: NDArray[np.int64]
    lines: Sequence[int] | None

    @classmethod
    def of_lists(cls, ids: list[str], offsets: Sequence[Sequence[int]], lines: Sequence[int] | None) -> "Marks":
        """Marks from a list an item; offsets beyond any text are kept as the first beyond it."""
        lengths = np.fromiter(map(len, offsets), np.int64, len(offsets))
        try:
            flat = np.fromiter(chain.from_iterable(offsets), np.int64, int(lengths.sum()))
        except OverflowError:
            flat = np.array([max(-FURTHEST - 1, min(FURTHEST + 1, at)) for row in offsets for at in row], np.int64)
        return cls(ids, flat, lengths, lines)

    @classmethod
    def of_cells(
        cls, ids: list[str], cells: Sequence[str], lines: Sequence[int], offsets: Offsets, faults: Faults
    ) -> "Marks":
        """Marks from cells with lists."""
        at_once = None if offsets.as_pairs else _decode_at_once(cells)
        if at_once is not None:
            return cls(ids, *at_once, lines)
        rows = zip(cells, ids, lines, strict=True)
        lists = [offsets.of_cell(cell, f"line {line}", shown(item), line, faults) for cell, item, line in rows]
        return cls.of_lists(ids, lists, lines)

    def place(self, row: int) -> str:
        """How a message names a row."""
        return f"line {self.lines[row]}" if self.lines else shown(self.ids[row])

    def as_spans(self, reading: Reading, faults: Faults) -> Spans:
        """Sorted, each offset once; what cannot be right is reported."""
        flat = self.flat
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)
        self._judge(flat, owners, faults)
        if not _is_ordered(flat, owners):
            order = np.lexsort((flat, owners))
            flat, owners = flat[order], owners[order]
            again = np.flatnonzero((flat[1:] == flat[:-1]) & (owners[1:] == owners[:-1])) + 1
            self._tell("offset-twice", "warning", again, flat, owners, faults)
            flat, owners = np.delete(flat, again), np.delete(owners, again)
        if reading.text_lengths is not None:
            self._judge_ends(flat, owners, reading.text_lengths, faults)
        starts = np.searchsorted(owners, np.arange(len(self.lengths) + 1))
        return Spans(self.ids, flat, starts)

    def _judge(self, flat: NDArray[np.int64], owners: NDArray[np.int64], faults: Faults) -> None:
        if len(flat) and (flat.min() < 0 or flat.max() > FURTHEST):
            self._tell("offset-too-large", "error", np.flatnonzero(np.abs(flat) > FURTHEST), flat, owners, faults)
            negative = np.flatnonzero((flat < 0) & (flat >= -FURTHEST))
            self._tell("offset-negative", "warning", negative, flat, owners, faults)

    def _judge_ends(
        self, flat: NDArray[np.int64], owners: NDArray[np.int64], text_lengths: Mapping[str, int], faults: Faults
    ) -> None:
        """Compare offsets, sorted by item, with the lengths of the texts that are known."""
        ends = np.array([text_lengths.get(item, FURTHEST) for item in self.ids], np.int64)
        self._tell("offset-outside-text", "warning", np.flatnonzero(flat >= ends[owners]), flat, owners, faults)

    def _tell(
        self,
        code: str,
        severity: Any,
        which: NDArray[np.intp],
        flat: NDArray[np.int64],
        owners: NDArray[np.int64],
        faults: Faults,
    ) -> None:
        """Keep a fault an item, with its first offset."""
        rows, firsts = np.unique(owners[which], return_index=True)
        for row, first in zip(rows.tolist(), firsts.tolist(), strict=True):
            offset = int(flat[which[first]])
            found = f"beyond {FURTHEST}" if abs(offset) > FURTHEST else str(offset)
            line = self.lines[row] if self.lines else None
            faults.add(code, f"{self.place(row)}: {found}", severity=severity, line=line, item=shown(self.ids[row]))


def _decode_at_once(cells: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """All offsets and how many each cell has; None when one of the cells is not exactly one flat list.

    Each cell begins and ends with its only brackets, so what stands between them is one list for all.
    """
    if not all(cell[:1] == "[" and cell[-1:] == "]" for cell in cells):
        return None
    document = ",".join(cell for cell in cells if cell != "[]")
    commas = np.fromiter(map(str.count, cells, repeat(",")), np.int64, len(cells))
    filled = np.fromiter((cell != "[]" for cell in cells), np.bool_, len(cells))
    if document.count("[") != filled.sum() or document.count("]") != filled.sum():
        return None
    try:
        numbers = msgspec.json.decode("[" + document.replace("[", "").replace("]", "") + "]", type=list[int])
        return np.fromiter(numbers, np.int64, int((commas + filled).sum())), commas + filled
    except (msgspec.MsgspecError, UnicodeError, ValueError, OverflowError):
        return None


def _is_ordered(flat: NDArray[np.int64], owners: NDArray[np.int64]) -> bool:
    """Whether the offsets of each item rise, so that none stands twice."""
    return bool(np.all((flat[1:] > flat[:-1]) | (owners[1:] != owners[:-1])))
