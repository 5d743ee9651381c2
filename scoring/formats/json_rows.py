"""Tables in JSON: one object per row with the columns as keys. Its values become text, so that all checks apply."""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import Any, overload

from scoring.definition.keys import Key, keys_of, mapping
from scoring.definition.kinds import FLAG, converted, either
from scoring.formats.delimited import Rows, find_columns
from scoring.formats.json_keys import ANSWER, ID_OF_ENTRY, JsonKeys, Record
from scoring.formats.json_shapes import parse_document
from scoring.formats.json_text import MISSING, RepeatedKeys, Unusable, kind_in_words, parse
from scoring.formats.reading import Problems, Reading, are_too_many, decode, shown_cell, shown_id
from scoring.limits import LISTED
from scoring.reports.problems import Report

OBJECTS_A_ROW = 3
NOT_TEXT = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")  # control characters and lone surrogates
SURROGATES = re.compile(r"[\ud800-\udfff]")
_BETWEEN = re.compile(r"[\s,]*")
_AFTER_BRACKET = re.compile(r"\s*[\[{]?")
_COLON = re.compile(r"\s*:\s*")


@dataclass(frozen=True, slots=True)
class JsonRows:
    """How the rows of a table are written in JSON."""

    lines: bool = False
    keys: JsonKeys = field(default_factory=JsonKeys)


def _rows(lines: bool, **keys: Any) -> JsonRows:
    return JsonRows(lines, JsonKeys(**keys))


_LINES = Key("lines", FLAG, "Whether the file has one object per line instead of a list.", False)
_KEYS = [key for key in keys_of(JsonKeys) if key.name in ("nested", "by_id", "inside")]
JSON_ROWS = either(converted(FLAG, lambda is_json: JsonRows() if is_json else None), mapping([_LINES, *_KEYS], _rows))


def read_json_rows(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str]
) -> tuple[Rows, dict[str, int]] | None:
    """Return the rows with the id columns and the given columns, and the columns' indexes.

    If there is a problem, report it and return None. The arguments are those of `layout.read_table`.
    """
    how: JsonRows = options["json"]
    needed = (*options["id"], *columns)
    text = decode(data, reading.report)
    if text is None or _is_too_much(text, reading):
        return None
    entries = _entries(text, how, needed, options["id"], reading)
    if entries is None:
        return None
    if not entries:
        reading.report.error("no-rows", expected=str(len(reading.items)) if reading.items else None)
        return None
    if are_too_many(len(entries), reading.most_entries, reading.report):
        return None
    lines = Lines(text, how, len(entries))
    records = _records(entries, lines, options, needed, reading)
    names = _names(records, needed, options, reading, dispensable)
    if names is None or are_too_many(len(entries) * len(names), reading.most_cells, reading.report):
        return None
    cells = [_cell(record.get(name)) for record in records for name in names.values()]
    rows = Rows(cells, len(names), lines)
    places = {name: place for place, name in enumerate(names)}
    if reading.role == "run":
        given = [f"{name}: {shown_cell(cell)}" for name, cell in zip(names, rows.first, strict=True)]
        item, found = ", ".join(given[: len(options["id"])]) or "1", ", ".join(given[len(options["id"]) :][:LISTED])
        reading.report.note("json-read", count=len(entries), item=item, found=found)
    _check_ids([rows.column(places[name]) for name in options["id"]], lines, reading)
    return rows, places


def _is_too_much(text: str, reading: Reading) -> bool:
    cells = reading.most_cells
    marks = (("\n", cells), (",", cells), ("[", cells), ("{", OBJECTS_A_ROW * reading.most_entries))
    return any(are_too_many(text.count(mark), limit, reading.report) for mark, limit in marks)


def _entries(text: str, how: JsonRows, needed: Sequence[str], ids: Sequence[str], reading: Reading) -> list[Any] | None:
    """Return the objects in a file. If there are none, report it and return None."""
    keys = how.keys
    first = ids[0] if ids else ID_OF_ENTRY
    known = {first: reading.items.ids[0]} if reading.items is not None and len(reading.items) else {}
    record = {name: known.get(name, "…") for name in needed}
    entry = keys.entry(known.get(first, "a1"), record, first)
    example = keys.line(entry) if how.lines else keys.document([entry, "…"], "")
    if keys.is_list or how.lines:
        document = parse_document(text, how.lines, first, reading, example)
    else:
        document = parse(text, reading.report)
    if document is MISSING:
        return None
    return keys.entries(document, how.lines, "", example, reading.report)


def _records(
    entries: Sequence[Any], lines: Sequence[int], options: Mapping[str, Any], needed: Sequence[str], reading: Reading
) -> list[Record]:
    """Return the objects with flat keys, each with its id. Report entries that are no objects, and repeated keys."""
    keys: JsonKeys = options["json"].keys
    problems, found, objects = Problems(reading.report), list[Record](), keys.objects_of(needed)
    for row, entry in enumerate(entries):
        record: Record = entry if isinstance(entry, dict) else {}
        record = keys.with_flat_keys(record, objects) if objects else record
        code = "json-duplicate-key" if isinstance(record, RepeatedKeys) else None
        if not isinstance(entry, dict):
            code = None if entry is MISSING else "json-not-an-object"
        if code is not None and not problems.has_counted(code):
            place = f"line {lines[row]}"
            problems.add(code, place, line=lines[row], found=kind_in_words(entry), expected=", ".join(needed))
        found.append(_with_id(record, needed, options["id"]) if keys.by_id else record)
    problems.report()
    return found


def _with_id(record: Record, needed: Sequence[str], ids: Sequence[str]) -> Record:
    """Return an entry of an object by id with its id and, if it is only a value, with this value as its only column."""
    own = dict(record)
    item = own.pop(ID_OF_ENTRY, None)
    if len(ids) == 1:
        own[ids[0]] = item
    if ANSWER in own and ANSWER not in needed and len(needed) == len(ids) + 1:
        own[needed[-1]] = own.pop(ANSWER)
    return own


def _names(
    records: Sequence[Record],
    needed: Sequence[str],
    options: Mapping[str, Any],
    reading: Reading,
    dispensable: Collection[str],
) -> dict[str, str] | None:
    """Map the needed columns to their keys in the file. If a column has no key, report it and return None."""
    aliases: Mapping[str, str] = options["aliases"]
    given = list(dict.fromkeys(key for record in records for key in record)) or [""]
    header = [aliases.get(name, name) for name in given]
    known = set(header)
    wanted = [name for name in needed if name in known or name not in dispensable]
    own = Report(listed=reading.report.listed)
    places = find_columns(header, wanted, ",", options["extra_columns"], replace(reading, report=own))
    reading.report.problems += [replace(problem, line=None) for problem in own]  # there is no line with the columns
    return None if places is None else {name: given[place] for name, place in places.items()}


def _cell(value: object) -> str:
    """Return a value as the text of a cell, as `parquet` does. A list is written as JSON, and null is an empty cell."""
    if isinstance(value, str):
        return SURROGATES.sub("\N{REPLACEMENT CHARACTER}", value)
    if value is None:
        return ""
    if isinstance(value, int | float | Unusable):
        return str(int(value) if isinstance(value, bool) else value)
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except RecursionError:
        return "…"


def _check_ids(columns: Sequence[Sequence[str]], lines: Sequence[int], reading: Reading) -> None:
    """Report ids that are empty or contain control characters."""
    problems = Problems(reading.report)
    for column in columns:
        for row, cell in enumerate(column):
            if (not cell or NOT_TEXT.search(cell)) and not problems.has_counted("id-not-a-text"):
                place = f"line {lines[row]}: {shown_id(cell)}"
                problems.add("id-not-a-text", place, line=lines[row], found=shown_id(cell))
    problems.report()


class Lines(Sequence[int]):
    """The line in which each entry of a document begins. They are counted only if a problem needs them."""

    def __init__(self, text: str, how: JsonRows, count: int) -> None:
        self._text, self._how, self._count = text, how, count
        self._known: list[int] | None = None

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, row: int) -> int: ...
    @overload
    def __getitem__(self, row: slice) -> Sequence[int]: ...
    def __getitem__(self, row: int | slice) -> int | Sequence[int]:
        if self._known is None:
            found = list(islice(_lines_of(self._text, self._how), self._count))
            self._known = found + [found[-1] if found else 1] * (self._count - len(found))
        return self._known[row]


def _lines_of(text: str, how: JsonRows) -> Iterator[int]:
    """Yield the line in which each entry begins, up to the first one that is not JSON."""
    keys, at, counted, line = how.keys, 0, 0, 1
    decoder = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)
    if keys.inside is not None and (inside := re.search(re.escape(json.dumps(keys.inside)) + r"\s{0,9}:", text)):
        at = inside.end()
    if keys.by_id or (text.lstrip()[:1] in "[{" and not how.lines):
        at = _AFTER_BRACKET.match(text, at).end()  # type: ignore[union-attr]
    try:
        while at < len(text):
            start = _BETWEEN.match(text, at).end()  # type: ignore[union-attr]
            at = decoder.raw_decode(text, start)[1]
            if keys.by_id:
                at = decoder.raw_decode(text, _COLON.match(text, at).end())[1]  # type: ignore[union-attr]
            line += text.count("\n", counted, start)
            counted = start
            yield line
    except (ValueError, RecursionError, AttributeError):
        return


def write_json_rows(columns: Mapping[str, Sequence[Any]], options: Mapping[str, Any]) -> str:
    """Write an object per row. Empty strings become null."""
    how, ids = options["json"], options.get("id", ())
    entries = list[str]()
    for row in zip(*columns.values(), strict=True):
        record = {name: None if cell == "" else cell for name, cell in zip(columns, row, strict=True)}
        item = str(record[ids[0]]) if ids else str(len(entries) + 1)
        entries.append(how.keys.entry(item, record, ids[0] if len(ids) == 1 else ID_OF_ENTRY))
    if how.lines:
        return "\n".join([*map(how.keys.line, entries), ""])
    return str(how.keys.document(entries, "\n")) + "\n"
