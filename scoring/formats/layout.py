"""The layout of a delimited file: separator, header, id columns, and other columns by name."""

import csv
import io
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scoring.definition.keys import Key, Kind
from scoring.definition.kinds import FLAG, NAMES, WORD, WORDS, by_name, converted, either, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.delimited import (
    SEPARATORS,
    Rows,
    check_widths,
    find_columns,
    indexes_of,
    is_header,
    of_width,
    separator_of,
    split,
)
from scoring.formats.json_options import records_suffix
from scoring.formats.json_rows import JSON_ROWS, read_json_rows, write_json_rows
from scoring.formats.markdown import CELL_END, without_markdown
from scoring.formats.parquet import read_parquet, write_parquet
from scoring.formats.reading import Reading, decode, is_too_much, shown
from scoring.formats.stray_rows import (
    without_empty_rows,
    without_line_quotes,
    without_quotes,
    without_repeated_header,
    without_trailing_separators,
    without_unwanted_header,
)
from scoring.reports.problems import Report

JSON_START = re.compile(r"""\s*(?:\[\s*)?\{\s*["']""")
EXCEL_LINE = re.compile(r'"?sep=."?', re.IGNORECASE)
SAMPLE_ROWS = 20  # rows that are searched for ids
HEADER_LINES = 20  # lines among which the header is searched
FIRST_LINES = 10_000  # maximum number of characters of these lines
FIRST_LINE = 20  # maximum length of a `sep=` line
SEPARATORS_BY_NAME = {"comma": ",", "tab": "\t", "semicolon": ";", "bar": "|", "space": " "}


@dataclass(frozen=True, slots=True)
class TableRows:
    """The rows below the header, their item ids, and the column indexes.

    If `lists` is set, the cells are values from the lists in the file's column with this index.
    """

    rows: Rows
    ids: list[str]
    places: Mapping[str, int]
    lists: int | None = None

    def column(self, name: str) -> list[str]:
        return self.rows.column(self.places[name])

    def column_number(self, name: str) -> int:
        """Return the number of the column in the file, starting at 1."""
        return 1 + (self.places[name] if self.lists is None else self.lists)


def _read_separator(value: Value) -> str:
    """Read a separator: its name, or any single character except quotes, line breaks and NUL."""
    given = value.node.value if value.is_scalar else ""
    separator = SEPARATORS_BY_NAME.get(given, given)
    if len(separator) != 1 or separator in '"\r\n\0':
        value.invalid(f"one character, or {', '.join(SEPARATORS_BY_NAME)}")
        return ","
    return str(separator)


SEPARATOR = Kind(
    _read_separator,
    {"anyOf": [{"enum": list(SEPARATORS_BY_NAME)}, {"type": "string", "pattern": '^[^"\r\n\0]$'}]},
    "one character, or " + ", ".join(f"`{name}`" for name in SEPARATORS_BY_NAME),
)
LAYOUT_OPTIONS = (
    Key(
        "parquet",
        FLAG,
        "Whether files are Parquet files with the same columns, not text files. If so, the options `layout`, "
        "`separator`, `header` and `quotes` have no effect. Requires the `parquet` extra.",
        False,
    ),
    Key(
        "json",
        JSON_ROWS,
        "Whether files are JSON, not text files: a list with one object per row and the columns as keys, such as "
        '`[{"id": 3, "label": 1}]`. Values can be strings, numbers, `true` (which counts as 1), `false` (0) or null '
        "(an empty cell). Use a mapping if the objects are in another structure. The options `layout`, `separator`, "
        "`header` and `quotes` have no effect.",
        None,
    ),
    Key(
        "id",
        either(converted(WORD, lambda name: (name,)), WORDS),
        "Column that contains the item ids. For ids that span several columns, a list of columns, whose values are "
        "joined with `_`.",
    ),
    Key(
        "aliases",
        by_name(WORD),
        "Alternative column names in headers. With `{dehumanization: dehumanisation}`, a column named "
        "`dehumanization` is read as `dehumanisation`.",
        {},
    ),
    Key("layout", NAMES, "Column order for files without a header.", ()),
    Key("separator", SEPARATOR, "Character that separates cells.", ","),
    Key(
        "header",
        one_of("required", "optional", "none"),
        "Whether files have a header, that is, a first line with the column names.",
        "required",
    ),
    Key(
        "quotes",
        one_of("csv", "none"),
        "Whether double quotes can enclose cells, as in CSV, or are ordinary characters, as in most tab-separated "
        "files.",
        "csv",
    ),
    Key(
        "comments",
        WORD,
        "Text at the start of lines that are ignored, such as `#`. By default, there are no such lines.",
        None,
    ),
    Key(
        "extra_columns",
        one_of("warn", "ignore", "reject"),
        "How to handle additional columns: report a warning, ignore them, or report an error.",
        "warn",
    ),
)


def read_table(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str] = ()
) -> TableRows | None:
    """Split a file into rows and find its columns. If a column is missing, report the problem and return None.

    Args:
        options: the values of LAYOUT_OPTIONS. Other options are ignored.
        columns: the columns that the file must have in addition to the id columns.
        dispensable: names in `columns` that may be missing. Missing columns have no index.
    """
    found = read_columns(data, options, columns, reading, dispensable)
    if found is None:
        return None
    rows, places = found
    parts = [rows.column(places[name]) for name in options["id"]]
    ids = parts[0] if len(parts) == 1 else list(map("_".join, zip(*parts, strict=True)))
    return TableRows(rows, ids, places)


def read_columns(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str]
) -> tuple[Rows, dict[str, int]] | None:
    """Return the rows below the header and the indexes of the columns, or None if a problem was reported.

    The arguments are those of `read_table`.
    """
    read = read_parquet if options["parquet"] else read_json_rows if options.get("json") else _read_text
    return read(data, options, columns, reading, dispensable)


def _read_text(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str]
) -> tuple[Rows, dict[str, int]] | None:
    report, header = reading.report, options["header"]
    needed = (*options["id"], *columns)
    order = options["layout"] or needed
    found = _table_text(data, order, (*needed, *options["aliases"]), options, reading)
    if found is None:
        return None
    text, separator = found
    rows = _rows_of(text, separator, len(order), options, reading)
    if rows is None:
        return None
    first = rows.first
    named = is_header(first, (*order, *needed, *options["aliases"])) if header == "optional" else header == "required"
    rows = without_trailing_separators(rows, None if named else len(order), options, reading)
    if named:
        if is_header(first, (*needed, *options["aliases"])):
            rows = without_repeated_header(rows, text, reading)
        first = [options["aliases"].get(cell, cell) for cell in rows.first]
        given = set(first)
        wanted = [name for name in needed if name in given or name not in dispensable]
        places = find_columns(first, wanted, options["separator"], options["extra_columns"], reading)
        is_without = places is None and reading.items is not None and any(cell in reading.items for cell in first)
        rows = rows if is_without else rows.without_first()
        places = places or _columns_by_content(rows, options["id"], order if is_without else needed, reading)
    else:
        rows = without_unwanted_header(rows, order, options, reading)
        places = indexes_of(order, needed)
    if places is None:
        return None
    if not len(rows):
        report.error("no-rows", expected=str(len(reading.items)) if reading.items else None)
        return None
    if not named and _has_index(rows, len(order)):
        report.error("index-column", line=1, found=rows.cells[0])
        return None
    places = _without_swap(rows, places, options["id"], reading)
    rows = _of_same_width(rows, len(first) if named else len(order), [places[name] for name in options["id"]], reading)
    return (rows, places) if len(rows) else None


def _of_same_width(rows: Rows, width: int, id_places: Sequence[int], reading: Reading) -> Rows:
    """Return the rows with `width` cells. Report the others, and remember their ids."""
    if check_widths(rows, width, reading.report):
        return rows
    rows, others = of_width(rows, width)
    long_enough = (row for row in others if id_places and len(row) > max(id_places))
    reading.other_ids.extend("_".join(row[place] for place in id_places) for row in long_enough)
    return rows


def _example(separator: str, order: Sequence[str], options: Mapping[str, Any], reading: Reading) -> str:
    """Return the first lines of a valid file for messages."""
    names = options["id"]
    item = "a1" if reading.items is None or not len(reading.items) else reading.items.ids[0]
    known = dict(zip(names, item.rsplit("_", len(names) - 1), strict=False))
    lines = [separator.join(known.get(name, "…") for name in order)]
    if options["header"] != "none":
        lines.insert(0, separator.join(order))
    return shown(" ⏎ ".join(lines))


def _table_text(
    data: bytes, order: Sequence[str], names: Sequence[str], options: Mapping[str, Any], reading: Reading
) -> tuple[str, str] | None:
    """Return a file's text, and the separator that it uses. If it is too much, or JSON, report that and return None."""
    separator = options["separator"]
    text = decode(data, reading.report)
    if text is None or is_too_much(text, separator, reading):
        return None
    if options.get("comments") is not None:
        text = re.sub(f"(?m)^{re.escape(options['comments'])}.*$", "", text)
    if JSON_START.match(text):
        reading.report.error("json-for-table", line=1, expected=_example(separator, order, options, reading))
        return None
    if options["header"] != "none":
        text = _from_header(text, options["id"], names, separator, reading.report)
    plain = without_markdown(text, separator, reading)
    if plain is None:
        return None
    text, found = _with_separator(*plain, names, len(order), reading.report)
    return None if found != separator and is_too_much(text, found, reading) else (text, found)


def _rows_of(text: str, separator: str, width: int, options: Mapping[str, Any], reading: Reading) -> Rows | None:
    """Split a text into rows, without empty rows and unwanted quotation marks. If there are none, report an error.

    `width` is the number of cells that a row should have.
    """
    # Files with another separator are usually CSV as spreadsheets and pandas write it.
    is_quoted = options["quotes"] == "csv" or separator != options["separator"]
    rows = split(text, separator, is_quoted, reading.report)
    if rows is None:
        return None
    rows = without_empty_rows(rows, text, separator, reading)
    if not len(rows):
        reading.report.error("empty-file")
        return None
    return without_line_quotes(without_quotes(rows, options, reading), separator, width, reading)


def write_table(ids: Sequence[str], columns: Mapping[str, Sequence[Any]], options: Mapping[str, Any]) -> str | bytes:
    """Write a line per item.

    Ids from several columns are split from the right, because only the first part may contain `_`.
    """
    names = options.get("id", ())
    parts = zip(*(item.rsplit("_", len(names) - 1) for item in ids), strict=True) if names else ()
    known = {**dict(zip(names, parts, strict=True)), **columns}
    order = options["layout"] or tuple(known)
    if options["parquet"]:
        return write_parquet({name: known[name] for name in order})
    if options.get("json"):
        return write_json_rows({name: known[name] for name in order}, options)
    text = io.StringIO()
    quoted = options["quotes"] == "csv"
    writer = csv.writer(
        text,
        delimiter=options["separator"],
        quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        quotechar='"' if quoted else None,
        lineterminator="\n",
    )
    if options["header"] == "required":
        writer.writerow(order)
    writer.writerows(zip(*(known[name] for name in order), strict=True))
    return text.getvalue()


def write_rows(
    ids: Sequence[str], rows: Sequence[Sequence[Sequence[Any]]], columns: Sequence[str], options: Mapping[str, Any]
) -> str | bytes:
    """Write any number of rows per item. An item without rows gets a line with empty cells."""
    empty = [("",) * len(columns)]
    lines = [(item, *row) for item, own in zip(ids, rows, strict=True) for row in own or empty]
    ids, *cells = (list(column) for column in zip(*lines, strict=True))
    return write_table(ids, dict(zip(columns, cells, strict=True)), options)


def table_suffix(options: Mapping[str, Any]) -> str:
    if options["parquet"]:
        return ".parquet"
    if options.get("json"):
        return ".jsonl" if options["json"].lines else ".json"
    return ".tsv" if options["separator"] == "\t" else ".csv"


def suffix_by_file(options: Mapping[str, Any]) -> str:
    """Return the file extension for formats with the option `file`."""
    if options["file"] == "plain":
        return ".txt"
    return table_suffix(options) if options["file"] == "table" else records_suffix(options)


def _with_separator(text: str, separator: str, names: Sequence[str], width: int, report: Report) -> tuple[str, str]:
    """Return the text without a first line for Excel, such as `sep=;`, and the separator that the text uses.

    Such a line, and a separator other than the expected one, are errors.
    """
    first = text[:FIRST_LINE].split("\n", 1)[0].strip()
    if not EXCEL_LINE.fullmatch(first):
        aligned = _without_alignment(text, separator, names, width, report)
        if aligned is not None:
            return aligned, CELL_END
        found = separator_of(text, separator, names, width, report)
        # Lists without quotation marks may have the other separator inside, too.
        has_lists = found != separator and '"' not in text and "[" in text
        return (_with_lists(text, found, separator), separator) if has_lists else (text, found)
    expected = SEPARATORS.get(separator, separator)
    report.error("excel-separator-line", line=1, found=first.strip('"'), expected=expected)
    _, _, rest = text.partition("\n")
    return f"\n{rest}", first.strip('"')[-1] if rest else separator


def _with_lists(text: str, found: str, separator: str) -> str:
    """Replace one separator by another one, except in lists such as `[0.2, 0.8]`."""
    pattern = re.compile(rf"\[[^\[\]\n]*\]|{re.escape(found)}")
    return pattern.sub(lambda match: separator if match[0] == found else match[0], text)


def _without_alignment(text: str, separator: str, names: Sequence[str], width: int, report: Report) -> str | None:
    """Return a text whose columns are aligned with blanks, as `print` shows tables, with CELL_END between the cells.

    This is an error. If a text is not aligned, return None.
    """
    line = text.lstrip("\n")[:FIRST_LINES].split("\n", 1)[0]
    if width < 2 or separator in line or "  " not in line.strip():
        return None
    known = {name.casefold() for name in names}
    for blanks in (re.compile(" {2,}"), re.compile(" +")):
        cells = [cell.casefold() for cell in blanks.split(line.strip())]
        if len(cells) == width or sum(cell in known for cell in cells) > 1:
            break
    else:
        return None
    number = text.count("\n", 0, len(text) - len(text.lstrip("\n"))) + 1
    report.error("wrong-separator", line=number, found="spaces", expected=SEPARATORS.get(separator, shown(separator)))
    if cells[0] in known and len(cells) == len(known):
        blanks = re.compile(" +")  # longer cells below the header may leave a single blank
    return "\n".join(blanks.sub(CELL_END, own.strip()) for own in text.split("\n"))


def _from_header(text: str, ids: Sequence[str], names: Sequence[str], separator: str, report: Report) -> str:
    """Replace the lines before a header by blank lines, with an error.

    The header is the first line that names the columns of the ids and another one of the columns in `names`.
    """
    start = 0
    for number, line in enumerate(text[:FIRST_LINES].split("\n")[:HEADER_LINES], 1):
        cells = {cell.strip(' "') for cell in line.split(separator)}
        if cells.issuperset(ids) and len(cells.intersection(names)) > len(ids):
            before = text[:start].strip()
            if not before.strip(f"{separator}\n ") or EXCEL_LINE.fullmatch(before):  # reported elsewhere
                return text
            report.error("lines-before-header", line=number, found=shown(before.split("\n")[0]))
            return "\n" * (number - 1) + text[start:]
        start += len(line) + 1
    return text


def _columns_by_content(
    rows: Rows, ids: Sequence[str], order: Sequence[str], reading: Reading
) -> dict[str, int] | None:
    """Return which columns are probably meant if the first line does not say so, to find more problems, or None.

    The column of the ids is the one that contains items. The others are in the expected order.
    """
    is_regular = rows.widths is None and rows.width == len(order)
    if reading.items is None or len(ids) != 1 or not (is_regular and len(rows)):
        return None
    heads = [rows.cells[row * rows.width : (row + 1) * rows.width] for row in range(min(len(rows), SAMPLE_ROWS))]
    known = [sum(cell in reading.items for cell in cells) for cells in zip(*heads, strict=True)]
    if not max(known):
        return None
    place = known.index(max(known))
    others = (at for at in range(rows.width) if at != place)
    return {ids[0]: place, **dict(zip((name for name in order if name != ids[0]), others, strict=True))}


def _without_swap(rows: Rows, places: dict[str, int], ids: Sequence[str], reading: Reading) -> dict[str, int]:
    """Return the columns. If the ids are in another column than they should be, report it and swap the two.

    Another column has the ids if it has more than twice as many of the items, and only items in the first rows.
    """
    if reading.items is None or reading.lenient or len(ids) != 1 or rows.widths is not None:
        return places
    (own,) = ids
    head = rows.column(places[own])[:SAMPLE_ROWS]
    if len(set(head)) == len(head) and any(cell in reading.items for cell in head):
        return places
    for name, place in places.items():
        cells = rows.column(place)
        if name == own or not all(cell in reading.items for cell in cells[:SAMPLE_ROWS]):
            continue
        known, known_there = (sum(cell in reading.items for cell in {*rows.column(at)}) for at in (places[own], place))
        if known_there > 2 * known:
            reading.report.error("columns-swapped", line=rows.lines[0], found=name, expected=own)
            return {**places, own: place, name: places[own]}
    return places


def _has_index(rows: Rows, width: int) -> bool:
    """Return whether a table without a header has an extra first column of row numbers."""
    if rows.widths is not None or rows.width != width + 1:
        return False
    return all(cell == str(number) for number, cell in enumerate(rows.column(0)))
