"""Character spans as plain lines `id<TAB>[offset, …]`, as a table with a header, or as JSON.

They are lists of offsets (`[10, 11, 12]`), lists of start–end pairs (`[[10, 13]]`) or, in a table, one row per span
with start and end, both empty for an item without spans. Ends are exclusive, unless `end` says otherwise. Plain lines
have no quotes: the official scorer of Toxic Spans 2021 reads a quoted list differently.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from scoring import limits
from scoring.answers import Spans
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WORD, one_of
from scoring.formats.delimited import split_plain
from scoring.formats.format import Format, Size
from scoring.formats.json_records import RECORD_OPTIONS, read_records, records_suffix, shape_of, write_records
from scoring.formats.json_text import MISSING
from scoring.formats.layout import LAYOUT_OPTIONS, TableRows, read_table, table_suffix, write_table
from scoring.formats.reading import Problems, Reading, are_too_many, check_ids, decode, is_too_much, shown, shown_cell
from scoring.formats.span_lists import Offsets, SpanMarks, pairs_of_rows

LINE = "id<TAB>[offsets]"


def _where(keys: Iterable[Key], *files: str) -> list[Key]:
    """Options that exist only with these values of `file`."""
    return [replace(one, when=("file", *files)) for one in keys]


MARKS = "How marked characters are written: one by one, `[3, 4]`, or as pairs of start and end, `[[3, 5]]`"
TEXT_MARKS = one_of("offsets", "pairs", expected="offsets or pairs; with file: table also rows")
OPTIONS = (
    Key("file", one_of("plain", "table", "json"), "Lines `id<TAB>[…]`, a table with a header, or JSON.", "plain"),
    *_where([Key("spans", one_of("offsets", "pairs", "rows"), f"{MARKS}, or one row per span.", "offsets")], "table"),
    *_where([Key("spans", TEXT_MARKS, f"{MARKS}.", "offsets")], "plain", "json"),
    Key("end", one_of("exclusive", "inclusive"), "Whether ends of pairs and rows are part of the span.", "exclusive"),
    *_where(RECORD_OPTIONS, "json"),
    *_where(
        [
            Key("start", WORD, "With `spans: rows`, the column of the first character; empty for no span.", "start"),
            Key("stop", WORD, "With `spans: rows`, the column of the end.", "stop"),
            Key("value", WORD, "With `spans: offsets` or `pairs`, their column.", "spans"),
            *LAYOUT_OPTIONS,
        ],
        "table",
    ),
)


def size(spec: FormatSpec) -> Size:
    """The greatest size of a run, for each of its items."""
    entries = limits.SPANS_AN_ITEM if spec.options["spans"] == "rows" else limits.ENTRIES_AN_ITEM
    return Size(entries, cells=limits.OFFSETS_AN_ITEM, bytes=limits.SPANS_BYTES_AN_ITEM)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Spans | None:
    """Read spans, sorted and unique per item. Negative offsets are kept with a warning: they are always wrong."""
    errors_before = len(reading.report.errors)
    if are_too_many(data.count(b","), reading.most_cells, reading.report):
        return None
    problems = Problems(reading.report)
    read_file = {"plain": _read_plain, "table": _read_cells, "json": _read_json}[spec.options["file"]]
    if spec.options["spans"] == "rows":
        read_file = _read_rows
    marks = read_file(data, spec, reading, problems)
    if marks is None:
        problems.report()
        return None
    answers = marks.as_spans(reading, problems)
    problems.report()
    check_ids(marks.ids, reading)
    return None if len(reading.report.errors) > errors_before else answers


def _offsets(spec: FormatSpec) -> Offsets:
    return Offsets(spec.options["spans"] != "offsets", spec.options["end"] == "inclusive")


def _read_plain(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    text = decode(data, reading.report)
    if text is None or is_too_much(text, "\t", reading):
        return None
    rows = split_plain(text, "\t")
    if rows is not None and rows.width == 2:
        return SpanMarks.of_cells(rows.column(0), rows.column(1), rows.lines, _offsets(spec), problems)
    ids, cells, lines = [], [], []
    for number, line in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        if not line.strip():
            continue
        item, *rest = line.split("\t")
        if len(rest) != 1:
            found = f"{len(rest)} tabs" if rest else "no tab"
            problems.add("span-line", f"line {number}: {found}", line=number, found=found, expected=LINE)
            item, *_ = item.split() or [""]
        ids.append(item)
        cells.append(rest[0] if len(rest) == 1 else "[]")
        lines.append(number)
    return SpanMarks.of_cells(ids, cells, lines, _offsets(spec), problems)


def _read_cells(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    name = spec.options["value"]
    table = read_table(data, spec.options, (name,), reading)
    if table is None:
        return None
    return SpanMarks.of_cells(table.ids, table.column(name), table.rows.lines, _offsets(spec), problems)


def _read_rows(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    """One row per span: rows of the same item belong together; one with empty cells is an item without spans."""
    names = (spec.options["start"], spec.options["stop"])
    table = read_table(data, spec.options, names, reading)
    if table is None:
        return None
    pairs, lines = _pairs_by_item(table, names, problems)
    return SpanMarks.of_lists(list(pairs), list(pairs.values()), _offsets(spec), list(lines.values()))


def _pairs_by_item(
    table: TableRows, names: tuple[str, str], problems: Problems
) -> tuple[dict[str, list[tuple[int, int]]], dict[str, int]]:
    pairs: dict[str, list[tuple[int, int]]] = {}
    lines: dict[str, int] = {}
    starts, stops = (table.column(name) for name in names)
    for item, line, start, stop in zip(table.ids, table.rows.lines, starts, stops, strict=True):
        pair = pairs_of_rows(start, stop)
        if pair is None and not problems.has_counted("span-not-pair"):
            found = f"{shown_cell(start)}, {shown_cell(stop)}"
            place = f"line {line}: {found}"
            expected = "two whole numbers, or two empty cells"
            problems.add("span-not-pair", place, line=line, item=shown(item), found=found, expected=expected)
        pairs.setdefault(item, []).extend(pair or [])
        lines.setdefault(item, line)
    return pairs, lines


def _read_json(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    offsets = _offsets(spec)
    records = read_records(data, shape_of(spec, offsets.type), reading, strings_in=lambda values: 0)
    if records is None:
        return None
    found = records.values
    if not records.typed:
        found = [
            [] if value is MISSING else offsets.of_value(value, place, row, records.path, problems)
            for row, (place, value) in enumerate(zip(records.places, records.values, strict=True))
        ]
    if len(records.ids) < len(found):
        return None  # an entry without an id, which was reported
    path = replace(records, values=[]).path  # without the lists, which may be millions of pairs
    return SpanMarks.of_lists(records.ids, found, offsets, path=path)


def write(answers: Spans, spec: FormatSpec) -> str:
    """Write spans in the track's format: offset by offset, or as pairs of start and end."""
    options = spec.options
    lists: list[list[Any]] = [
        answers.offsets(row)
        if options["spans"] == "offsets"
        else [[begin, end - (options["end"] == "inclusive")] for begin, end in answers.pairs(row)]
        for row in range(len(answers.ids))
    ]
    if options["file"] == "json":
        return write_records(answers.ids, lists, spec)
    if options["file"] == "plain":
        return "".join(f"{item}\t{json.dumps(own)}\n" for item, own in zip(answers.ids, lists, strict=True))
    if options["spans"] != "rows":
        return write_table(answers.ids, {options["value"]: list(map(json.dumps, lists))}, options)
    rows = [(item, *pair) for item, own in zip(answers.ids, lists, strict=True) for pair in own or [("", "")]]
    ids, starts, stops = zip(*rows, strict=True)
    return write_table(ids, {options["start"]: starts, options["stop"]: stops}, options)


def suffix(options: Mapping[str, Any]) -> str:
    """The extension of such files."""
    if options["file"] == "plain":
        return ".txt"
    return table_suffix(options) if options["file"] == "table" else records_suffix(options)


SPANS = Format(
    "spans",
    "spans",
    "Characters marked in a text. Touching pairs and rows stay separate spans; neighboring offsets are one. A span has "
    "at most 1,048,576 characters, and a file marks at most 20,000,000.",
    "file: table, spans: rows, id: id, start: begin, stop: end",
    OPTIONS,
    read,
    write,
    suffix,
    size,
)
