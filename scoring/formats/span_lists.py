"""Lists of offsets or of start–end pairs: check them one by one and convert them to `Spans`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain, repeat
from typing import Any, cast

import msgspec
import numpy as np
from numpy.typing import NDArray

from scoring.answers import Entities, Spans
from scoring.formats.json_text import MISSING, in_json, parse
from scoring.formats.labels import report_decimal_point
from scoring.formats.reading import Problems, Reading, are_too_many, shown, shown_cell
from scoring.limits import MARKED_CHARACTERS, OVERLAPPING_SPANS, SHOWN, SPAN_CHARACTERS
from scoring.reports.nearest import nearest
from scoring.reports.problems import Report, Severity

FURTHEST = 2**31 - 1  # no text is longer
BEYOND = FURTHEST + 2  # all larger numbers are replaced with this one
WIDTH = 2 * BEYOND + 2  # positions per item, so that positions in different items are never adjacent
PART = 2**20  # number of characters decoded in one step
NO_LIST = "span-not-offsets"
POINT = "."
WHOLE = re.compile(r"[0-9]{1,10}")


@dataclass(frozen=True, slots=True)
class Offsets:
    """How a cell or JSON value lists marked text: as single offsets, or as pairs of start and end.

    If there are `types`, each pair also has a type: `[3, 5, "PER"]`, or an object with the `keys` for start, end and
    type.
    """

    as_pairs: bool
    end_included: bool = False
    types: tuple[str, ...] = ()
    keys: tuple[str, str, str] | None = None

    @property
    def type(self) -> Any:
        if self.types:
            return list[tuple[int, int, str]]
        return list[tuple[int, int]] if self.as_pairs else list[int]

    @property
    def example(self) -> list[Any]:
        """A list for messages."""
        if self.keys:
            return [dict(zip(self.keys, (10, 13, self.types[0]), strict=True))]
        if self.types:
            return [[10, 13, self.types[0]]]
        return [[10, 13]] if self.as_pairs else [10, 11, 12]

    @property
    def expected(self) -> str:
        example = in_json(self.example)
        if self.keys:
            return f"objects with start, end and type, such as {example}, or []"
        if self.types:
            return f"lists of start, end and type, such as {example}, or []"
        if self.as_pairs:
            return f"pairs of start and end, such as {example}, or []"
        return f"whole numbers in brackets, such as {example}, or []"

    def _converted(self, value: Any) -> list[Any]:
        """Convert a JSON value to the list.

        Raises:
            msgspec.MsgspecError: the value is not such a list.
        """
        if self.keys and isinstance(value, list):
            value = [[one[key] for key in self.keys if key in one] if isinstance(one, dict) else one for one in value]
        return cast(list[Any], msgspec.convert(value, self.type))

    def of_value(
        self, value: object, place: str, row: int, path: Callable[[int], str], problems: Problems
    ) -> list[Any]:
        """Return the list in a JSON value.

        If the value is not a valid list, report the problem and return an empty list.
        """
        try:
            return self._converted(value)
        except msgspec.MsgspecError:
            if (whole := self._without_points(value, problems, item=shown(place), path=path(row))) is not None:
                return whole
            if not problems.has_counted(NO_LIST):
                self._report(in_json(value), shown(place), problems, item=shown(place), path=path(row))
            return []

    def of_cell(self, cell: str, item: str, line: int, problems: Problems) -> list[Any]:
        """Return the list in a cell. If it is not a valid list, report the problem and return an empty list."""
        try:
            return cast(list[Any], msgspec.json.decode(cell, type=self.type))
        except (msgspec.MsgspecError, UnicodeError, RecursionError):
            document = parse(cell, Report()) if POINT in cell else MISSING
            if (whole := self._without_points(document, problems, item=shown(item), line=line)) is not None:
                return whole
            if not problems.has_counted(NO_LIST):
                found = shown_cell(cell) if cell else "nothing"
                self._report(found, f"line {line}", problems, item=shown(item), line=line)
            return []

    def _without_points(self, value: object, problems: Problems, **where: Any) -> list[Any] | None:
        """Return the list in a value with offsets such as 3.0, and report them. Return None if it is no such list."""
        pointed = list[float]()
        try:
            found = self._converted(_whole(value, pointed))
        except (msgspec.MsgspecError, RecursionError):
            return None
        if not pointed:
            return None
        report_decimal_point(str(pointed[0]), str(int(pointed[0])), problems, **where)
        return found

    def _report(self, found: str, place: str, problems: Problems, **where: Any) -> None:
        problems.add(
            NO_LIST,
            f"{place}: {found}",
            found=found,
            expected=self.expected,
            suggestion=_without_quotes(found),
            **where,
        )


def _whole(value: object, pointed: list[float]) -> object:
    """Replace numbers such as 3.0 with whole numbers, and add them to `pointed`."""
    if isinstance(value, float) and abs(value) <= FURTHEST and value.is_integer():
        pointed.append(value)
        return int(value)
    if isinstance(value, list):
        return [_whole(part, pointed) for part in value]
    return {key: _whole(part, pointed) for key, part in value.items()} if isinstance(value, dict) else value


def _without_quotes(cell: str) -> str | None:
    bare = cell.strip('"')
    return bare if bare != cell and bare.startswith("[") and bare.endswith("]") else None


def pairs_of_rows(start: str, stop: str) -> list[tuple[int, int]] | None:
    """Return the pair of offsets in two cells, an empty list if both cells are empty, or None for anything else."""
    if not start and not stop:
        return []
    if not WHOLE.fullmatch(start) or not WHOLE.fullmatch(stop):
        return None
    return [(int(start), int(stop))]


@dataclass(frozen=True, slots=True)
class SpanMarks:
    """Spans in the order of the file, and the number of spans per item. `ends` are exclusive.

    `kinds` are indexes of types (-1: unknown). `unknown` maps rows to their first unknown type, and `repeated` maps
    rows to their first repeated offset. `lines` or `path` locate the items in the file, depending on the format.
    """

    ids: list[str]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    lengths: NDArray[np.int64]
    as_pairs: bool
    repeated: Mapping[int, int] = field(default_factory=dict)
    kinds: NDArray[np.intp] | None = None
    unknown: Mapping[int, str] = field(default_factory=dict)
    lines: Sequence[int] | None = None
    path: Callable[[int], str] | None = None

    @classmethod
    def of_lists(
        cls,
        ids: list[str],
        lists: Sequence[Sequence[Any]],
        offsets: Offsets,
        lines: Sequence[int] | None = None,
        path: Callable[[int], str] | None = None,
    ) -> "SpanMarks":
        """Create marks from one list per item, in the form that `Offsets.of_cell` returns.

        Replace positions beyond any text with BEYOND.
        """
        lengths = np.fromiter(map(len, lists), np.int64, len(lists))
        count = int(lengths.sum())
        if offsets.types:
            return cls._of_triples(ids, lists, lengths, offsets, lines, path)
        if not offsets.as_pairs:
            flat = _numbers(chain.from_iterable(lists), lists, count)
            return cls(ids, *_spans_of_offsets(flat, lengths), lines=lines, path=path)
        pairs = _numbers(chain.from_iterable(chain.from_iterable(lists)), chain.from_iterable(lists), 2 * count)
        return cls(ids, pairs[::2], pairs[1::2] + offsets.end_included, lengths, True, lines=lines, path=path)

    @classmethod
    def _of_triples(
        cls,
        ids: list[str],
        lists: Sequence[Sequence[Any]],
        lengths: NDArray[np.int64],
        offsets: Offsets,
        lines: Sequence[int] | None,
        path: Callable[[int], str] | None,
    ) -> "SpanMarks":
        flat, known = list(chain.from_iterable(lists)), {name: place for place, name in enumerate(offsets.types)}
        pairs = [one[:2] for one in flat]
        places = _numbers(chain.from_iterable(pairs), pairs, 2 * len(flat))
        kinds = np.fromiter((known.get(one[2], -1) for one in flat), np.intp, len(flat))
        owners = np.repeat(np.arange(len(lengths)), lengths)
        found = np.array([one[2] for one in flat], object)
        unknown = {row: str(name) for row, name in _firsts(found, kinds < 0, owners).items()}
        ends = places[1::2] + offsets.end_included
        return cls(ids, places[::2], ends, lengths, True, kinds=kinds, unknown=unknown, lines=lines, path=path)

    @classmethod
    def of_cells(
        cls, ids: list[str], cells: Sequence[str], lines: Sequence[int], offsets: Offsets, problems: Problems
    ) -> "SpanMarks":
        """Create marks from cells that contain lists."""
        at_once = None if offsets.as_pairs else _decode_at_once(cells)
        if at_once is not None:
            return cls(ids, *_spans_of_offsets(*at_once), lines=lines)
        rows = zip(cells, ids, lines, strict=True)
        lists = [offsets.of_cell(cell, item, line, problems) for cell, item, line in rows]
        return cls.of_lists(ids, lists, offsets, lines)

    def place(self, row: int) -> str:
        """Return a row's name for messages."""
        return f"line {self.lines[row]}" if self.lines else shown(self.ids[row])

    def as_spans(self, reading: Reading, problems: Problems) -> Spans | None:
        """Report all invalid spans. Return the sorted, unique spans.

        Return None if a span is impossible (such as empty or negative) or too many characters are marked.
        """
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)
        if not self._judge(owners, problems):
            return None
        marked = int((self.ends - self.begins).sum())
        if marked > MARKED_CHARACTERS:
            reading.report.error("too-many-marked", found=f"{marked:,}", expected=f"{MARKED_CHARACTERS:,}")
            return None
        begins, ends, repeated = self.begins, self.ends, self.repeated
        if not _is_ordered(begins, ends, owners):
            order = np.lexsort((ends, begins, owners))  # preserves the order of `owners`, which are sorted
            begins, ends = begins[order], ends[order]
            repeated = _firsts(begins, _overlaps(begins, ends, owners), owners)
            first = np.append(True, (np.diff(begins) != 0) | (np.diff(ends) != 0) | (np.diff(owners) != 0))
            begins, ends, owners = begins[first], ends[first], owners[first]
        self._report("offset-twice", "warning", repeated, problems)
        if reading.text_lengths is not None:
            self._judge_ends(ends, owners, reading.text_lengths, problems)
        return Spans(self.ids, begins, ends, np.searchsorted(owners, np.arange(len(self.lengths) + 1)))

    def as_entities(self, types: tuple[str, ...], reading: Reading, problems: Problems) -> Entities | None:
        """Report all invalid spans. Return the sorted, unique entities.

        Return None if a span is impossible (such as empty or negative), the spans have no types, or there are too many.
        """
        if are_too_many(len(self.begins), reading.most_entries, reading.report):
            return None
        owners = np.repeat(np.arange(len(self.lengths)), self.lengths)
        first = next(iter(self.unknown.values()), "")
        names = {row: shown(name) for row, name in self.unknown.items()}
        further = {"expected": ", ".join(types), "suggestion": partial(nearest, first[:SHOWN], types)}
        self._report("label-outside-domain", reading.strict, names, problems, **further)
        if self.kinds is None or not self._judge(owners, problems):
            return None
        known = self.kinds >= 0
        order = np.lexsort((self.kinds[known], self.ends[known], self.begins[known], owners[known]))
        fields = (owners, self.begins, self.ends, self.kinds)
        rows = np.column_stack([field[known][order] for field in fields])
        new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)]
        owners, begins, ends, kinds = rows[new].T
        self._report("offset-twice", "warning", _firsts(rows[:, 1], ~new, rows[:, 0]), problems)
        self._judge_depths(_depths(begins, ends, owners), owners, reading, problems)
        if reading.text_lengths is not None:
            self._judge_ends(ends, owners, reading.text_lengths, problems)
        starts = np.searchsorted(owners, np.arange(len(self.lengths) + 1))
        return Entities(self.ids, types, kinds, begins, ends, starts, lengths=None)

    def _judge(self, owners: NDArray[np.int64], problems: Problems) -> bool:
        """Return whether every span could exist in some text, and report those that could not."""
        begins, ends = self.begins, self.ends
        empty = begins >= ends
        beyond = (ends > FURTHEST + 1) | (begins < -FURTHEST) | (ends - begins > SPAN_CHARACTERS)
        beyond &= ~empty
        negative = (begins < 0) & ~beyond & ~empty
        stops = _firsts(ends, empty, owners)
        emptied = {row: f"{start}–{stops[row]}" for row, start in _firsts(begins, empty, owners).items()}
        self._report("span-empty", "error", emptied, problems)
        last = np.where(begins < -FURTHEST, begins, ends - 1)
        too_far = _firsts(last, beyond, owners)
        self._report("offset-too-large", "error", {row: _beyond(place) for row, place in too_far.items()}, problems)
        self._report("offset-negative", "warning", _firsts(begins, negative, owners), problems)
        return not (empty.any() or beyond.any())

    def _judge_depths(
        self, depths: NDArray[np.int64], owners: NDArray[np.int64], reading: Reading, problems: Problems
    ) -> None:
        """Report items in which too many spans overlap at one position. In gold, this is only a warning."""
        severity = reading.strict if reading.role == "run" else "warning"
        found = _firsts(depths, depths > OVERLAPPING_SPANS, owners)
        self._report("spans-overlap", severity, found, problems, expected=str(OVERLAPPING_SPANS))

    def _judge_ends(
        self, ends: NDArray[np.int64], owners: NDArray[np.int64], text_lengths: Mapping[str, int], problems: Problems
    ) -> None:
        """Report spans that end beyond a known text. The spans must be sorted by item.

        Official evaluators score single offsets beyond a text, so they are accepted with a warning.
        """
        bounds = np.array([text_lengths.get(item, FURTHEST + 1) for item in self.ids], np.int64)
        severity: Severity = "error" if self.as_pairs else "warning"
        self._report("offset-outside-text", severity, _firsts(ends - 1, ends > bounds[owners], owners), problems)

    def _report(
        self, code: str, severity: Severity, found: Mapping[int, object], problems: Problems, **further: Any
    ) -> None:
        """Add one problem per row. `found` maps rows to what was found there. `further` are the first one's fields."""
        for row, text in found.items():
            if problems.has_counted(code):
                continue
            problems.add(
                code,
                f"{self.place(row)}: {text}",
                severity=severity,
                line=self.lines[row] if self.lines else None,
                path=self.path(row) if self.path else None,
                item=shown(self.ids[row]),
                found=str(text),
                **further,
            )


def _spans_of_offsets(
    offsets: NDArray[np.int64], lengths: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], bool, dict[int, int]]:
    """Compute the fields of `SpanMarks` from the offsets of all items. Consecutive offsets form one span.

    Args:
        offsets: the offsets of all items. The array is overwritten, because copying millions of offsets would take
            longer than everything else.
        lengths: the number of offsets in each item.
    """
    keys = offsets
    keys += np.repeat(np.arange(len(lengths)) * WIDTH + BEYOND, lengths)
    if not np.all(keys[1:] > keys[:-1]):
        keys.sort()
    new = np.append(True, keys[1:] != keys[:-1])[: len(keys)]
    again = keys[~new & np.append(True, new[:-1])[: len(keys)]]
    keys = keys[new]
    firsts = np.append(True, np.diff(keys) != 1)[: len(keys)]
    lasts = np.append(firsts[1:], True)[: len(keys)]
    owners, begins = np.divmod(keys[firsts], WIDTH)
    ends = keys[lasts] % WIDTH + 1
    repeated = _firsts(again % WIDTH - BEYOND, np.ones(len(again), np.bool_), again // WIDTH)
    return begins - BEYOND, ends - BEYOND, np.bincount(owners, minlength=len(lengths)), False, repeated


def _firsts(values: NDArray[Any], which: NDArray[np.bool_], owners: NDArray[np.int64]) -> dict[int, Any]:
    """Map each row to its first selected value, if any. `owners` gives the row of each value, in ascending order."""
    chosen = owners[which]
    first = np.append(True, chosen[1:] != chosen[:-1])[: len(chosen)]
    return dict(zip(chosen[first].tolist(), values[which][first].tolist(), strict=True))


def _beyond(offset: int) -> str:
    return str(offset) if abs(offset) <= FURTHEST else f"beyond {FURTHEST}"


def _numbers(flat: Iterable[int], rows: Iterable[Sequence[int]], count: int) -> NDArray[np.int64]:
    """Convert all numbers to an array, replacing numbers beyond any text with BEYOND."""
    try:
        found = np.fromiter(flat, np.int64, count)
        return np.clip(found, -BEYOND, BEYOND, out=found)
    except OverflowError:
        return np.fromiter((max(-BEYOND, min(BEYOND, at)) for row in rows for at in row), np.int64, count)


def _decode_at_once(cells: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]] | None:
    """Return all offsets and the number of offsets per cell, or None if any cell is not exactly one flat list.

    If each cell has brackets only at its ends, all contents can be decoded as one list.
    """
    if not all(cell[:1] == "[" and cell[-1:] == "]" for cell in cells):
        return None
    document = ",".join(cell for cell in cells if cell != "[]")
    commas = np.fromiter(map(str.count, cells, repeat(",")), np.int64, len(cells))
    filled = np.fromiter((cell != "[]" for cell in cells), np.bool_, len(cells))
    if document.count("[") != filled.sum() or document.count("]") != filled.sum():
        return None
    try:
        document, lengths = document.replace("[", "").replace("]", ""), commas + filled
        return _numbers(chain.from_iterable(_parts(document)), _parts(document), int(lengths.sum())), lengths
    except (msgspec.MsgspecError, UnicodeError, ValueError):
        return None


def _parts(document: str) -> Iterator[list[int]]:
    """Yield comma-separated whole numbers in chunks, because Python integers use ten times the memory of text."""
    start = 0
    while start < len(document):
        end = document.find(",", start + PART)
        end = len(document) if end < 0 else end
        yield msgspec.json.decode(f"[{document[start:end]}]", type=list[int])
        start = end + 1


def _is_ordered(begins: NDArray[np.int64], ends: NDArray[np.int64], owners: NDArray[np.int64]) -> bool:
    """Return whether each item's spans are sorted and do not overlap."""
    return bool(np.all((begins[1:] >= ends[:-1]) | (owners[1:] != owners[:-1])))


def _depths(begins: NDArray[np.int64], ends: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how many spans of the same item there are where each span begins. The spans must be sorted."""
    shift = owners * (int(ends.max(initial=0)) - int(begins.min(initial=0)) + 1)
    started = np.searchsorted(begins + shift, begins + shift, side="right")
    ended = np.searchsorted(np.sort(ends + shift), begins + shift, side="right")
    return started - ended


def _overlaps(begins: NDArray[np.int64], ends: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which of the sorted spans begin before the end of an earlier span in the same item."""
    width = int(ends.max()) - int(begins.min()) + 1
    reach = np.maximum.accumulate(ends + owners * width)
    return np.append(False, (begins + owners * width)[1:] < reach[:-1])
