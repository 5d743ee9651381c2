"""Character spans as plain lines `id<TAB>[offset, …]`, as a table with a header, or as JSON.

Spans are lists of offsets (`[10, 11, 12]`), lists of start–end pairs (`[[10, 13]]`) or, in a table, one row per span
with its start and end. If an item has no spans, both cells are empty. Ends are exclusive unless `end` is `inclusive`.
Quotes are not allowed in plain lines, because the official scorer of Toxic Spans 2021 reads quoted lists differently.

Typed spans have similar forms: triples (`[[10, 13, "PER"]]`), JSON objects, or one row per span. They may overlap.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import repeat
from typing import Any

from scoring import limits
from scoring.answers import Entities, Spans
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import NAMES, WORD, one_of
from scoring.formats.annotated_texts import AnnotatedTexts
from scoring.formats.delimited import Rows, split_plain
from scoring.formats.format import Format, Size
from scoring.formats.json_options import RECORD_OPTIONS, shape_of, write_records
from scoring.formats.json_records import Records, read_records
from scoring.formats.json_text import MISSING
from scoring.formats.labels import WITH_POINT, report_decimal_point
from scoring.formats.layout import LAYOUT_OPTIONS, TableRows, read_table, suffix_by_file, write_rows, write_table
from scoring.formats.reading import (
    Problems,
    Reading,
    are_too_many,
    check_ids,
    decode,
    is_json_instead,
    is_too_much,
    shown,
    shown_cell,
)
from scoring.formats.span_lists import Offsets, SpanMarks, pairs_of_rows
from scoring.formats.stray_rows import report_header

LINE = "id<TAB>[offsets]"
ID_BEFORE_LIST = re.compile(r"""["']?([^\s,;|"']*)""")  # in a line without a tab


def _where(keys: Iterable[Key], *files: str) -> list[Key]:
    """Return the keys, limited to these values of `file`."""
    return [replace(one, when=("file", *files)) for one in keys]


MARKS = "How spans are written: as single offsets, `[3, 4]`, or as pairs of start and end, `[[3, 5]]`"
ROWS = "With `rows`, each span has its own row."
TEXT_MARKS = one_of("offsets", "pairs", expected="offsets, pairs or, with file: table, rows")
OPTIONS = (
    Key(
        "file",
        one_of("plain", "table", "json"),
        "Kind of file: lines of the form `id<TAB>[…]`, a table with a header, or JSON.",
        "plain",
    ),
    *_where([Key("spans", one_of("offsets", "pairs", "rows"), f"{MARKS}. {ROWS}", "offsets")], "table"),
    *_where([Key("spans", TEXT_MARKS, f"{MARKS}.", "offsets")], "plain", "json"),
    Key(
        "end",
        one_of("exclusive", "inclusive"),
        "Whether the character at the end offset of a pair or row is part "
        "of the span (`inclusive`) or not (`exclusive`).",
        "exclusive",
    ),
    *_where(RECORD_OPTIONS, "json"),
    *_where(
        [
            Key(
                "start",
                WORD,
                "With `spans: rows`, the column with the start offset. The cell is empty if the item has no span.",
                "start",
            ),
            Key("stop", WORD, "With `spans: rows`, the column with the end offset.", "stop"),
            Key("value", WORD, "With `spans: offsets` or `pairs`, the column with the spans.", "spans"),
            *LAYOUT_OPTIONS,
        ],
        "table",
    ),
)


TRIPLES = 'How spans are written: as lists of start, end and type, `[[3, 5, "PER"]]`'
FIELDS = "With `spans: objects`, the"
TYPED_OPTIONS = (
    Key("classes", NAMES, "Span types."),
    OPTIONS[0],
    *_where([Key("spans", one_of("triples"), f"{TRIPLES}.", "triples")], "plain"),
    *_where([Key("spans", one_of("triples", "rows"), f"{TRIPLES}, or with one row per span.", "triples")], "table"),
    *_where(
        [Key("spans", one_of("triples", "objects"), f"{TRIPLES}, or as objects with these three keys.", "triples")],
        "json",
    ),
    Key(
        "end",
        one_of("exclusive", "inclusive"),
        "Whether the character at the end offset is part of the span (`inclusive`) or not (`exclusive`).",
        "exclusive",
    ),
    *_where(RECORD_OPTIONS, "json"),
    *_where(
        [
            Key("start", WORD, f"With `spans: rows`, the column with the start offset. {FIELDS} key.", "start"),
            Key("stop", WORD, f"With `spans: rows`, the column with the end offset. {FIELDS} key.", "stop"),
            Key("type", WORD, f"With `spans: rows`, the column with the type. {FIELDS} key.", "type"),
            Key(
                "text",
                WORD,
                "With `spans: rows` and a header, an optional column with the text of the span. With `spans: objects`, "
                "an optional key. A warning lists spans for which it differs from the item's text.",
                "text",
            ),
        ],
        "table",
        "json",
    ),
    *_where(
        [Key("value", WORD, "With `spans: triples`, the column with the spans.", "spans"), *LAYOUT_OPTIONS], "table"
    ),
)


def size_of_typed(spec: FormatSpec) -> Size:
    """Return the maximum size per item of a run with typed spans."""
    spans = limits.TYPED_SPANS_AN_ITEM
    return Size(entries=spans, cells=4 * spans, bytes=limits.SPANS_BYTES_AN_ITEM)


def size(spec: FormatSpec) -> Size:
    entries = limits.SPANS_AN_ITEM if spec.options["spans"] == "rows" else limits.ENTRIES_AN_ITEM
    return Size(entries, cells=limits.OFFSETS_AN_ITEM, bytes=limits.SPANS_BYTES_AN_ITEM)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Spans | None:
    """Read spans, sorted and unique per item.

    Negative offsets cause a warning, but are kept and always count as incorrect.
    """
    problems = Problems(reading.report)
    marks = _read_marks(data, spec, reading, problems)
    answers = None if marks is None else marks.as_spans(reading, problems)
    return answers if _is_sound(marks, reading, problems) else None


def read_typed(data: bytes, spec: FormatSpec, reading: Reading) -> Entities | None:
    """Read typed spans, sorted and unique per item."""
    problems = Problems(reading.report)
    marks = _read_marks(data, spec, reading, problems)
    answers = None if marks is None else marks.as_entities(tuple(spec.options["classes"]), reading, problems)
    return answers if _is_sound(marks, reading, problems) else None


def _is_sound(marks: SpanMarks | None, reading: Reading, problems: Problems) -> bool:
    """Report all problems. Return whether there are no errors."""
    problems.report()
    if marks is not None:
        check_ids(marks.ids, reading)
    return not reading.has_errors


def _read_marks(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    if are_too_many(data.count(b","), reading.most_cells, reading.report):
        return None
    read_file = {"plain": _read_plain, "table": _read_cells, "json": _read_json}[spec.options["file"]]
    if spec.options["spans"] == "rows":
        read_file = _read_rows
    return read_file(data, spec, reading, problems)


def _offsets(spec: FormatSpec) -> Offsets:
    options = spec.options
    keys = _columns(spec) if options["spans"] == "objects" else None
    return Offsets(
        options["spans"] != "offsets", options["end"] == "inclusive", tuple(options.get("classes", ())), keys
    )


def _columns(spec: FormatSpec) -> tuple[str, str, str]:
    """Return the columns or keys for start, end and type."""
    return spec.options["start"], spec.options["stop"], spec.options["type"]


def _read_plain(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    text = decode(data, reading.report)
    if text is None or is_too_much(text, "\t", reading) or _is_json(text, spec, reading):
        return None
    rows = split_plain(text, "\t")
    if rows is not None and rows.width == 2:
        rows = _without_header(rows, reading)
        return SpanMarks.of_cells(rows.column(0), rows.column(1), rows.lines, _offsets(spec), problems)
    ids, cells, lines = [], [], []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        item, *rest = line.split("\t")
        if len(rest) != 1:
            found = f"{len(rest)} tabs" if rest else "no tab"
            problems.add("span-line", f"line {number}: {found}", line=number, found=found, expected=LINE)
            item = ID_BEFORE_LIST.match(item)[1]  # type: ignore[index]
        ids.append(item)
        cells.append(rest[0] if len(rest) == 1 else "[]")
        lines.append(number)
    if problems.has("span-line") and reading.items is not None and not any(item in reading.items for item in ids):
        return None  # without ids, all items would be missing as well
    return SpanMarks.of_cells(ids, cells, lines, _offsets(spec), problems)


def _is_json(text: str, spec: FormatSpec, reading: Reading) -> bool:
    """Return whether a file is JSON, not lines, and report an error if so."""
    example = json.dumps(_offsets(spec).example)
    expected = f"one line for each item, such as {_any_item(reading)}<TAB>{example}"
    if "\t" not in text and text.lstrip().startswith("[["):
        reading.report.error("json-for-lines", line=1, expected=expected)
        return True
    return is_json_instead(text, expected, reading.report)


def _any_item(reading: Reading) -> str:
    return "a1" if reading.items is None or not len(reading.items) else shown(reading.items.ids[0])


def _without_header(rows: Rows, reading: Reading) -> Rows:
    """Leave out the first line, with an error, if it has no list but the second one does."""
    first, second = (*rows.column(1)[:2], "")[:2]
    is_item = reading.items is not None and rows.first[0] in reading.items
    if is_item or first.lstrip('" ').startswith("[") or not second.startswith("["):
        return rows
    report_header(rows.lines[0], rows.first, reading)
    return rows.without_first()


def _read_cells(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    name = spec.options["value"]
    table = read_table(data, spec.options, (name,), reading)
    if table is None:
        return None
    return SpanMarks.of_cells(table.ids, table.column(name), table.rows.lines, _offsets(spec), problems)


def _read_rows(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    """Read one row per span.

    An item can have several rows. A row with empty cells means that the item has no spans.
    """
    is_typed = "classes" in spec.options
    names = _columns(spec) if is_typed else (spec.options["start"], spec.options["stop"])
    further = (spec.options["text"],) if is_typed and spec.options["header"] == "required" else ()
    table = read_table(data, spec.options, (*names, *further), reading, further)
    if table is None:
        return None
    if set(further) & table.places.keys():
        _compare_rows(table, spec, reading, problems)
    pairs, lines = _pairs_by_item(table, names, problems)
    return SpanMarks.of_lists(list(pairs), list(pairs.values()), _offsets(spec), list(lines.values()))


def _compare_rows(table: TableRows, spec: FormatSpec, reading: Reading, problems: Problems) -> None:
    """Compare the texts in a column with the items' texts."""
    stated, extra = AnnotatedTexts(reading), spec.options["end"] == "inclusive"
    starts, stops, texts = (table.column(spec.options[name]) for name in ("start", "stop", "text"))
    for item, line, start, stop, text in zip(table.ids, table.rows.lines, starts, stops, texts, strict=True):
        for begin, end in pairs_of_rows(start, stop) or []:
            stated.compare(item, [(begin, end + extra)], text, f"line {line}", line=line)
    stated.report(problems)


def _compare_objects(records: Records, spec: FormatSpec, reading: Reading, problems: Problems) -> None:
    """Compare the texts in objects with the items' texts, and report keys that are not used."""
    stated, extra, names = AnnotatedTexts(reading), spec.options["end"] == "inclusive", _columns(spec)
    for row, value in enumerate(records.values if len(records.ids) == len(records.values) else ()):
        for number, span in enumerate(value if isinstance(value, list) else (), 1):
            if not isinstance(span, dict) or names[0] not in span or names[1] not in span:
                continue
            path, begin, end = records.path(row, str(number)), span[names[0]], span[names[1]]
            if isinstance(begin, int) and isinstance(end, int):
                fragments = [(begin, end + extra)]
                stated.compare(
                    records.ids[row], fragments, span.get(spec.options["text"]), records.name(row), path=path
                )
            unused = [key for key in span if key not in (*names, spec.options["text"])]
            for key in unused if reading.role == "run" else ():
                if not problems.has_counted("json-unknown-key"):
                    where = {"path": path, "item": records.name(row), "found": shown(key)}
                    problems.add("json-unknown-key", f"{records.name(row)} ({shown(key)})", severity="warning", **where)
    stated.report(problems)


def _pairs_by_item(
    table: TableRows, names: Sequence[str], problems: Problems
) -> tuple[dict[str, list[tuple[Any, ...]]], dict[str, int]]:
    """Return the spans and the first line of each item.

    A span has a start, an end and, if `names` has a third column, a type.
    """
    pairs: dict[str, list[tuple[Any, ...]]] = {}
    lines: dict[str, int] = {}
    starts, stops, *further = (table.column(name) for name in names)
    types = zip(*further, strict=True) if further else repeat(())
    for item, line, start, stop, kind in zip(table.ids, table.rows.lines, starts, stops, types, strict=False):
        pair = pairs_of_rows(start, stop)
        if pair is None:
            pair = _pairs_without_points(start, stop, problems, line=line, item=shown(item))
        if pair is None and not problems.has_counted("span-not-pair"):
            found = f"{shown_cell(start)}, {shown_cell(stop)}"
            place = f"line {line}: {found}"
            expected = "two whole numbers, or two empty cells"
            problems.add("span-not-pair", place, line=line, item=shown(item), found=found, expected=expected)
        if pair == [] and any(kind) and not problems.has_counted("span-without-offsets"):
            found = shown_cell(*kind)
            where: dict[str, Any] = {"severity": "warning", "line": line, "item": shown(item), "found": found}
            problems.add("span-without-offsets", f"line {line}: {found}", **where)
        pairs.setdefault(item, []).extend((*one, *kind) for one in pair or [])
        lines.setdefault(item, line)
    return pairs, lines


def _pairs_without_points(start: str, stop: str, problems: Problems, **where: Any) -> list[tuple[int, int]] | None:
    """Return the pair of offsets in cells such as `3.0`, and report them. Return None for anything else."""
    bare = [found[1] if (found := WITH_POINT.fullmatch(cell)) else cell for cell in (start, stop)]
    pairs = pairs_of_rows(*bare)
    if pairs:
        cell, whole = next(both for both in zip((start, stop), bare, strict=True) if both[0] != both[1])
        report_decimal_point(cell, whole, problems, **where)
    return pairs


def _read_json(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> SpanMarks | None:
    offsets = _offsets(spec)
    shape = shape_of(spec, None if offsets.keys else offsets.type, offsets.example)
    records = read_records(data, shape, reading, strings_in=lambda values: sum(map(len, values)) * bool(offsets.types))
    if records is None:
        return None
    found = records.values
    if offsets.keys:
        _compare_objects(records, spec, reading, problems)
    if not records.typed:
        found = [
            [] if value is MISSING else offsets.of_value(value, place, row, records.path, problems)
            for row, (place, value) in enumerate(zip(records.places, records.values, strict=True))
        ]
    if len(records.ids) < len(found):
        return None  # an entry without an id, which has already been reported
    path = replace(records, values=[]).path  # without the lists, which may contain millions of pairs
    return SpanMarks.of_lists(records.ids, found, offsets, path=path)


def write(answers: Spans, spec: FormatSpec) -> str | bytes:
    """Write spans in the track's format: as single offsets, or as pairs of start and end."""
    options = spec.options
    lists: list[list[Any]] = [
        answers.offsets(row)
        if options["spans"] == "offsets"
        else [[begin, end - (options["end"] == "inclusive")] for begin, end in answers.pairs(row)]
        for row in range(len(answers.ids))
    ]
    return _written(answers.ids, lists, (options.get("start"), options.get("stop")), spec)


def write_typed(answers: Entities, spec: FormatSpec) -> str | bytes:
    inclusive, keys = spec.options["end"] == "inclusive", _offsets(spec).keys
    rows = (answers.of_item(row) for row in range(len(answers.ids)))
    lists: list[list[Any]] = [[[begin, end - inclusive, kind] for kind, begin, end in row] for row in rows]
    if keys:
        lists = [[dict(zip(keys, one, strict=True)) for one in own] for own in lists]
    names = _columns(spec) if spec.options["file"] == "table" else ()
    return _written(answers.ids, lists, names, spec)


def _written(ids: list[str], lists: list[list[Any]], columns: Sequence[Any], spec: FormatSpec) -> str | bytes:
    options = spec.options
    if options["file"] == "json":
        return write_records(ids, lists, spec)
    if options["file"] == "plain":
        return "".join(f"{item}\t{_json(own)}\n" for item, own in zip(ids, lists, strict=True))
    if options["spans"] != "rows":
        return write_table(ids, {options["value"]: list(map(_json, lists))}, options)
    return write_rows(ids, lists, columns, options)


def _json(own: list[Any]) -> str:
    return json.dumps(own, ensure_ascii=False)


SPANS = Format(
    "spans",
    "spans",
    "Spans of characters in a text. Adjacent pairs or rows are separate spans, but adjacent single offsets form "
    "one span. A span can contain up to 1,048,576 characters, and all spans in a file together up to 20,000,000.",
    "file: table, spans: rows, id: id, start: begin, stop: end",
    OPTIONS,
    read,
    write,
    suffix_by_file,
    size,
    leaves_out_empty=True,
)

TYPED_SPANS = Format(
    "typed-spans",
    "entities",
    "Spans of characters in a text, each with a type. Spans can overlap, up to 10 of them at one position. A span can "
    "contain up to 1,048,576 characters. A run can contain up to 100,000 spans, plus 50 for each item.",
    "classes: [PER, LOC], file: table, spans: rows, id: id, stop: end",
    TYPED_OPTIONS,
    read_typed,
    write_typed,
    suffix_by_file,
    size_of_typed,
    leaves_out_empty=True,
    has_texts=lambda options: options["spans"] in ("rows", "objects"),
)
