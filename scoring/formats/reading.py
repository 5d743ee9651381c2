"""Code shared by all formats: reading options, decoding, grouping problems, and comparing ids with the items."""

import gc
import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from scoring.formats.changed_ids import ChangedIds, changed_ids
from scoring.formats.encodings import as_latin_1, encoding_of
from scoring.formats.filetypes import SAMPLE_BYTES, fix_of, foreign_kind
from scoring.items.index import ItemIndex, are_surely_unique
from scoring.limits import CELLS, LINES, LISTED, SHOWN
from scoring.reports.excerpts import WITHOUT
from scoring.reports.problems import FURTHER, Report, Severity, Spot

UTF8_MARK = b"\xef\xbb\xbf"

BETWEEN_RUNS = ("header-line", "json-several-lists")  # codes of problems that a file with several runs explains
MOST_RUNS = 20  # an id that comes this often is not the beginning of another run
PIECE = 2**20  # characters that are cut at once
LONGEST_RESPELLED = 200  # characters of an id; normalizing many accents takes quadratic time

JSON_OBJECTS = re.compile(r"""\s*(?:\[\s*)?\{\s*(["'])[^"'\n]{0,100}\1\s*:""")  # the start of one or more objects
CODE_FENCE = re.compile(
    r"\s*```[\w+-]{0,20} *\n"
)  # before a file that was copied from Markdown, as chat programs write it

Role = Literal["run", "gold"]


@dataclass(frozen=True, slots=True)
class Reading:
    """Options for reading a file.

    `items` are the ids that a run must have (None: not checked). `optional` are additional ids of which it must have
    all or none. `lenient` turns errors that the official evaluators accept into warnings. `missing_allowed` does so
    only for missing items.
    """

    role: Role
    report: Report
    items: ItemIndex | None = None
    optional: Collection[str] = ()
    lenient: bool = False
    missing_allowed: bool = False
    inner_classes: frozenset[str] = frozenset()
    text_lengths: Mapping[str, int] | None = None  # number of characters or tokens of each item, if texts are known
    texts: Mapping[str, str] | None = None  # the items' texts, if known and if the format repeats parts of them
    # Item id → the columns of its annotators, for lists with one value per annotator.
    annotators: Mapping[str, tuple[int, ...]] | None = None
    # Number of items, for files that number them instead of naming them. Runs may also have all optional items.
    numbered: int | None = None
    other_ids: list[str] = field(
        default_factory=list, init=False
    )  # ids in rows that cannot be read, which are not missing
    most_entries: int = LINES  # maximum number of lines or objects
    most_cells: int = CELLS  # maximum number of cells between separators
    strict: Severity = field(init=False)
    _errors_before: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "strict", "warning" if self.lenient else "error")
        object.__setattr__(self, "_errors_before", len(self.report.errors))

    @property
    def has_errors(self) -> bool:
        """Whether an error in this file was reported."""
        return len(self.report.errors) > self._errors_before


@dataclass(slots=True)
class ProblemsOfKind:
    """The problems of one kind: the fields of the first one, the first places, and the total number of places.

    `further` are the next places with all that is needed to quote them.
    `suggestions` maps what was found in these places to what is suggested instead, or to None.
    """

    severity: Severity
    first: Mapping[str, Any]
    places: list[str] = field(default_factory=list)
    further: list[Spot] = field(default_factory=list)
    count: int = 0
    suggestions: dict[str, str | None] = field(default_factory=dict)

    @property
    def fields(self) -> Mapping[str, Any]:
        """The fields of the problem. If different values were found, the suggestion names the value it replaces."""
        if len(self.suggestions) < 2:
            return self.first
        given = [(found, meant) for found, meant in self.suggestions.items() if meant]
        pairs = [meant if " → " in meant else f"{found} → {meant}" for found, meant in given]
        return {**self.first, "suggestion": ", ".join(pairs) or None}


class Problems:
    """Problems grouped by kind: a thousand invalid cells become one problem that lists the first places."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self._kinds: dict[str, ProblemsOfKind] = {}

    def add(self, code: str, place: str, *, severity: Severity = "error", **fields: Any) -> None:
        """Add a problem at a place.

        `fields` are used only for the first problem of a kind, except for suggestions and for quoting the next ones.
        They may be values, or functions that return them.
        """
        kind = self._kinds.get(code)
        if kind is None:
            first = {name: value() if callable(value) else value for name, value in fields.items()}
            kind = self._kinds[code] = ProblemsOfKind(severity, first)
            fields = first
        elif len(kind.further) < FURTHER:
            kind.further.append(_spot(fields))
        kind.count += 1
        found, meant = fields.get("found"), fields.get("suggestion")
        if isinstance(found, str) and "suggestion" in fields and len(kind.suggestions) < LISTED:
            known = kind.suggestions
            known[found] = known[found] if found in known else meant() if callable(meant) else meant
        if self._report.listed is None or len(kind.places) < self._report.listed:
            kind.places.append(place)

    def has_counted(self, code: str, times: int = 1) -> bool:
        """If enough places of this kind are listed, count `times` more problems and return True. Otherwise, call `add`.

        Loops over many entries call this first, because describing a problem is far more expensive.
        """
        kind = self._kinds.get(code)
        if kind is None or self._report.listed is None or len(kind.places) < self._report.listed:
            return False
        kind.count += times
        return True

    def has(self, code: str) -> bool:
        """Return whether a problem of this kind was added."""
        return code in self._kinds

    def report(self) -> bool:
        """Add one problem per kind to the report. Return True if any of them is an error."""
        for code, kind in self._kinds.items():
            places, further = tuple(kind.places), tuple(kind.further)
            self._report.add(kind.severity, code, count=kind.count, places=places, further=further, **kind.fields)
        return any(kind.severity == "error" for kind in self._kinds.values())


def _spot(fields: Mapping[str, Any]) -> Spot:
    names = ("line", "item", "found", "column", "path")
    given = {name: fields[name] for name in names if name in fields}
    return Spot(**{name: value() if callable(value) else value for name, value in given.items()})


@contextmanager
def collector_paused() -> Iterator[None]:
    """Pause garbage collection, which would repeatedly scan all lists of a file without finding garbage."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def shown(text: object) -> str:
    """Format text from the file for printing: shortened, without control characters or lone surrogates."""
    text = str(text)
    text = text[: SHOWN - 1] + "…" if len(text) > SHOWN else text
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def shown_id(item: str) -> str:
    """Format an id, in quotes if it begins or ends with a blank."""
    return shown_cell(item) if item != item.strip() else shown(item)


def shown_cell(text: str) -> str:
    """Format a cell from the file, in quotes if it is empty or has blanks at its ends."""
    return shown(text) if text and text == text.strip() else f'"{shown(text)}"'


def with_line_feeds(text: str) -> str:
    """Return the text with LF at the end of each line, whatever system wrote it: LF, CRLF or CR."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line_at(data: bytes, position: int) -> int:
    """Return the number of the line at a position in a file, whatever its line ends."""
    return 1 + data.count(b"\n", 0, position) + data.count(b"\r", 0, position) - data.count(b"\r\n", 0, position)


def decode(data: bytes, report: Report) -> str | None:
    """Decode a UTF-8 file. If it has another encoding, report that and decode it, so that the rest can be checked.

    Returns:
        The text without a byte-order mark and with LF at the end of each line, or None if it is no text.
    """
    kind = foreign_kind(data[:SAMPLE_BYTES], data[-SAMPLE_BYTES:])
    if kind:
        report.error("not-a-text", found=kind, expected=fix_of(kind))
        return None
    text = _decoded(data, report)
    if text is None:
        return None
    if not text or text.isspace():
        report.error("empty-file")
        return None
    if "\0" in text:
        report.error("nul-character", line=line_at(data, data.index(b"\0")))
        return None
    return _without_code_fence(with_line_feeds(text), report)


def _without_code_fence(text: str, report: Report) -> str:
    """Replace the lines with ``` around a text by blank lines, with an error. Other lines keep their numbers."""
    start = CODE_FENCE.match(text)
    if start is None:
        return text
    inner, fence, after = text[start.end() :].rpartition("```")
    if not inner.endswith("\n") or after.strip():
        return text
    report.error("code-fence", line=start[0].count("\n"), found=fence)
    return "\n" * start[0].count("\n") + inner


def pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces that end where a line does, because cutting it all at once needs much memory."""
    start = 0
    while start <= len(text):
        end = text.find("\n", start + PIECE)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


def is_json_instead(text: str, expected: str, report: Report) -> bool:
    """Return whether a text, which should not be JSON, consists of JSON objects, and report an error if so."""
    if JSON_OBJECTS.match(text) is None:
        return False
    report.error("json-for-lines", line=1, expected=expected)
    return True


def _decoded(data: bytes, report: Report) -> str | None:
    """Decode the file with its own encoding, and report it if it is not UTF-8. Return None if it is not recognized."""
    encoding = encoding_of(data)
    if encoding is not None:
        report.error("not-utf8-but", found=encoding[:6])
        return data.decode(encoding, errors="replace").removeprefix("\ufeff")
    try:
        return data.removeprefix(UTF8_MARK).decode()
    except UnicodeDecodeError as error:
        start = error.start + len(UTF8_MARK) * data.startswith(UTF8_MARK)
        report.error("not-utf8", line=line_at(data, start), found=f"byte 0x{data[start]:02x}")
        return as_latin_1(data)


def is_too_much(text: str, separator: str, reading: Reading) -> bool:
    """Return whether a text has far more lines or cells than the run's items need, and report an error if so."""
    entries = reading.most_entries
    marks = (("\n", entries), (separator, reading.most_cells))
    return any(are_too_many(text.count(mark), limit, reading.report) for mark, limit in marks)


def are_too_many(found: int, limit: int, report: Report) -> bool:
    """Return whether a file has more lines or values than the limit, and report an error if so."""
    if found > limit:
        report.error("too-many-entries", found=f"{found:,}", expected=f"{limit:,}")
    return found > limit


def check_ids(ids: list[str], reading: Reading) -> None:
    """Report ids that are repeated, missing or unknown. Also report optional ids if only some of them are present."""
    report = reading.report
    if are_surely_unique(ids) if reading.items is None else reading.items.is_same(ids):
        return
    given = {*ids, *reading.other_ids}
    if len(given) < len(ids) + len(reading.other_ids):
        twice = [item for item, times in Counter([*ids, *reading.other_ids]).items() if times > 1]
        if reading.role == "gold" or not are_several_runs(ids, report):
            _report_ids("duplicate-ids", "error", twice, report)
    if reading.items is None:
        return
    expected = set(reading.items.ids)
    if given == expected:
        return
    optional = set(reading.optional)
    found, given = given, given & (expected | optional)
    found -= expected  # in place, because a run can have a million unknown ids
    respelled = _respelled(found, expected - given)
    given |= set(respelled.values())
    missing = [item for item in reading.items.ids if item not in given]
    found -= optional
    found -= respelled.keys()
    unknown: list[str] = ids if len(found) == len(ids) else [item for item in dict.fromkeys(ids) if item in found]
    del found
    changed = changed_ids(unknown, [*missing, *(optional - given)], len(expected))
    if changed:
        given |= optional.difference(changed.still_missing)
        missing = [item for item in changed.still_missing if item not in optional]
        unknown = list(changed.still_unknown)
    _report_ids("missing-items", "warning" if reading.missing_allowed else reading.strict, missing, report)
    _report_respelled(respelled, reading)
    _report_changed(changed, reading)
    nearest = _nearest_id(unknown[0], expected) if unknown else None
    _report_ids("unknown-ids", reading.strict, unknown, report, suggestion=nearest)
    if given & optional and not optional <= given:
        lacking = [item for item in reading.optional if item not in given]
        _report_ids("optional-items-missing", "error", lacking, report)


def are_several_runs(ids: Sequence[str], report: Report) -> bool:
    """Return whether the ids are those of several runs, one after the other, and report an error if so.

    A run ends where an id comes again. All runs have most of their ids in common. The error replaces those about
    headers and lists between the runs.
    """
    runs, seen = list[set[str]](), set[str]()
    again = ""
    for item in ids:
        if item in seen:
            again = again or item
            runs.append(seen)
            seen = set()
        if len(runs) == MOST_RUNS:
            return False
        seen.add(item)
    first, *others = [*runs, seen]
    common = (2 * len(first & other) > max(len(first), len(other)) for other in others)
    if len(first) < 2 or not others or not all(common):
        return False
    report.problems = [problem for problem in report.problems if problem.code not in BETWEEN_RUNS]
    report.error("several-runs", item=shown_id(again), found=str(len(runs) + 1))
    return True


def are_several_times(count: int, reading: Reading) -> bool:
    """Return whether a run without ids has several entries for each item, and report an error if so."""
    expected = reading.numbered or 0
    if reading.lenient or expected < 2 or count == expected or count % expected:
        return False
    reading.report.error("several-runs", found=str(count // expected))
    return True


def _report_changed(changed: ChangedIds | None, reading: Reading) -> None:
    """Report ids that were changed in the same way, and show the change by the first one."""
    if changed:
        found, right = shown_cell(changed.ids[0]), changed.right
        suggestion = f"{found} → {shown_cell(right)}" if right is not None else None
        own = {"found": found, "expected": changed.expected, "suggestion": suggestion}
        _report_ids("ids-changed", reading.strict, changed.ids, reading.report, **own)


def _respelled(unknown: Collection[str], missing: Collection[str]) -> dict[str, str]:
    """Map unknown ids to missing ids that differ from them only in their Unicode form."""
    accented = [item for item in unknown if not item.isascii() and len(item) <= LONGEST_RESPELLED]
    if not accented:
        return {}
    composed = {unicodedata.normalize("NFC", item): item for item in missing if len(item) <= LONGEST_RESPELLED}
    pairs = ((item, composed.get(unicodedata.normalize("NFC", item))) for item in accented)
    return {item: right for item, right in pairs if right}


def _report_respelled(respelled: Mapping[str, str], reading: Reading) -> None:
    if respelled:
        right = respelled[min(respelled)]
        form = next((form for form in ("NFC", "NFD") if unicodedata.is_normalized(form, right)), "NFC")
        _report_ids("ids-unicode-form", reading.strict, sorted(respelled), reading.report, expected=form)


def _report_ids(code: str, severity: Severity, ids: Sequence[str], report: Report, **fields: str | None) -> None:
    if ids:
        places = tuple(map(shown_id, ids[: report.listed]))
        further = tuple(Spot(item=place, found=place) for place in places[1 : 1 + FURTHER])
        if code not in WITHOUT:
            fields = {"found": places[0], **fields}
        report.add(severity, code, item=places[0], count=len(ids), places=places, further=further, **fields)


def _nearest_id(unknown: str, known: Collection[str]) -> str | None:
    """Return the known id that differs from `unknown` only by added spaces, leading zeros or `.0`, or None."""
    bare = unknown.strip()
    for candidate in (bare, bare.removesuffix(".0"), bare.lstrip("0"), bare.removesuffix(".0").lstrip("0")):
        if candidate in known:
            return candidate
    return None
