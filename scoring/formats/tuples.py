"""Sets of tuples, such as aspect, category and polarity, or two entities and their relation, in JSON or a table.

The order of an item's tuples has no meaning, and equal tuples count once. Blanks at the ends of a cell are removed, and
consecutive blanks become one.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain
from typing import Any, cast

import msgspec

from scoring import limits
from scoring.answers import Tuples
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Values
from scoring.definition.kinds import NAMES, WHOLE, WORDS, by_name, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.format import Format, Size
from scoring.formats.json_options import RECORD_OPTIONS, shape_of, write_records
from scoring.formats.json_records import object_type, read_records
from scoring.formats.json_text import RepeatedKeys, in_json
from scoring.formats.layout import LAYOUT_OPTIONS, read_table, suffix_by_file, write_rows
from scoring.formats.reading import Problems, Reading, check_ids, shown, shown_cell
from scoring.reports.nearest import nearest

NO_LIST = "tuples-not-a-list"
OPTIONS = (
    Key("columns", WORDS, "The columns of a tuple, in order."),
    Key(
        "values",
        by_name(NAMES),
        "Allowed values of a column, such as `{polarity: [positive, negative]}`. Other columns contain any text.",
        {},
    ),
    Key("optional", WORDS, "Columns that may be empty. All other columns need a value.", ()),
    Key("most", WHOLE, "Maximum number of tuples per item.", 30),
    Key("file", one_of("json", "table"), "Kind of file: JSON, or a table with one row per tuple.", "json"),
    Key(
        "tuples",
        one_of("objects", "lists"),
        'How tuples are written: as objects with a key for each column, `[{"from": "Ann", "to": "Rome"}]`, or as lists '
        'of values, `[["Ann", "Rome"]]`.',
        "objects",
        when=("file", "json"),
    ),
    *(replace(one, when=("file", "json")) for one in RECORD_OPTIONS),
    *(replace(one, when=("file", "table")) for one in LAYOUT_OPTIONS),
)
Cells = tuple[str, ...]


def finish_options(value: Value, options: Values) -> None:
    """Report options that name columns that do not exist."""
    for name in ("values", "optional"):
        for column in options[name]:
            if column not in options["columns"]:
                value.at(name).invalid(" or ".join(options["columns"]), nearest(column, options["columns"]))


def size(spec: FormatSpec) -> Size:
    most, columns = int(spec.options["most"]), len(spec.options["columns"])
    cells = (columns + 2) * most
    return Size(limits.ENTRIES_AN_ITEM + most, limits.CELLS_AN_ITEM + cells, limits.CELL_BYTES * (cells + 1))


@dataclass(frozen=True, slots=True)
class Found:
    """The tuples of each item, in the order of the file and as written.

    `place` returns a tuple's name for messages and its place in the file. Its arguments are the indexes of the item and
    of the tuple within the item.
    """

    ids: list[str]
    tuples: list[list[Cells]]
    place: Callable[[int, int], tuple[str, Mapping[str, Any]]]


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Tuples | None:
    problems = Problems(reading.report)
    read_file = _read_json if spec.options["file"] == "json" else _read_rows
    found = read_file(data, spec, reading, problems)
    if found is not None:
        _judge(found, spec, reading, problems)
    problems.report()
    if found is not None:
        check_ids(found.ids, reading)
    if found is None or reading.has_errors:
        return None
    return Tuples.of_sets(tuple(spec.options["columns"]), dict(zip(found.ids, found.tuples, strict=True)))


def _clean(cell: str) -> str:
    is_clean = cell.isprintable() and "  " not in cell and " " not in (cell[:1], cell[-1:])
    return cell if is_clean else " ".join(cell.split())


def _read_rows(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Found | None:
    """Read one row per tuple.

    An item can have several rows. A row with only an id means that the item has no tuples.
    """
    columns = spec.options["columns"]
    table = read_table(data, spec.options, columns, reading)
    if table is None:
        return None
    sets: dict[str, list[Cells]] = {}
    lines: dict[str, list[int]] = {}
    rows = zip(*([_clean(cell) for cell in table.column(name)] for name in columns), strict=True)
    for item, line, row in zip(table.ids, table.rows.lines, rows, strict=True):
        own = sets.setdefault(item, [])
        if any(row):
            own.append(row)
            lines.setdefault(item, []).append(line)

    ids = list(sets)

    def place(item: int, number: int) -> tuple[str, Mapping[str, Any]]:
        line = lines[ids[item]][number]
        return f"line {line}", {"line": line}

    return Found(ids, list(sets.values()), place)


def _read_json(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Found | None:
    columns, as_objects = tuple(spec.options["columns"]), spec.options["tuples"] == "objects"
    example = [dict.fromkeys(columns, "…") if as_objects else ["…"] * len(columns)]
    one_tuple = _type_of_objects(columns) if as_objects else list[str]
    shape = shape_of(spec, one_tuple and list[one_tuple], example)  # type: ignore[valid-type]
    records = read_records(data, shape, reading, strings_in=_strings_in_objects if as_objects else _strings_in_lists)
    if records is None:
        return None
    tuples, expected = [], in_json(example)
    for row, value in enumerate(records.values):
        if records.typed and as_objects:
            tuples.append([tuple(map(_text_of, msgspec.structs.astuple(entry))) for entry in value])
            continue
        own = _cells_of(value, columns, as_objects)
        repeats = own and any(isinstance(one, RepeatedKeys) for one in value)
        if repeats and not problems.has_counted("json-duplicate-key"):
            name = records.name(row)
            problems.add("json-duplicate-key", name, path=records.path(row), item=name)
        tuples.append(own or [])
        if own is None:
            records.report_value(row, NO_LIST, expected, problems)
    if len(records.ids) < len(tuples):
        return None  # an entry without an id, which has already been reported
    paths = replace(records, values=[])

    def place(item: int, number: int) -> tuple[str, Mapping[str, Any]]:
        return paths.name(item), {"path": paths.path(item, str(number + 1))}

    return Found(records.ids, tuples, place)


@lru_cache(maxsize=64)
def _type_of_objects(columns: Cells) -> Any:
    """Return the msgspec type of a tuple whose columns are texts or missing, or None if JSON would escape their names.

    Other values are read without a type, because msgspec would read 1.0 as a whole number.
    """
    keys = {f"column{place}": name for place, name in enumerate(columns)}
    return object_type(dict.fromkeys(keys, str | None | msgspec.UnsetType), keys, default=msgspec.UNSET)


def _strings_in_lists(values: Sequence[Sequence[Sequence[str]]]) -> int:
    return sum(map(len, chain.from_iterable(values)))


def _strings_in_objects(values: Sequence[Sequence[Any]]) -> int:
    """Return the number of keys and of texts."""
    cells = chain.from_iterable(map(msgspec.structs.astuple, chain.from_iterable(values)))
    counts = Counter(map(type, cells))
    return 2 * counts[str] + counts[type(None)]


def _cells_of(value: object, columns: Cells, as_objects: bool) -> list[Cells] | None:
    """Return the tuples in a JSON value, or None if it is not a list of tuples with these columns."""
    if not isinstance(value, list):
        return None
    found, known = [], set(columns)
    for one in value:
        row = one
        if as_objects and isinstance(one, dict) and one.keys() <= known:
            row = [one.get(name) for name in columns]
        if not isinstance(row, list) or (as_objects and row is one) or len(row) != len(columns):
            return None
        cells = tuple(map(_text, row))
        if None in cells:
            return None
        found.append(cast(Cells, cells))
    return found


def _text_of(cell: str | msgspec.UnsetType | None) -> str:
    return _clean(cell) if isinstance(cell, str) else ""


def _text(cell: object) -> str | None:
    """Return a string, whole number or null from JSON as text, or None for any other value."""
    if isinstance(cell, str):
        return _clean(cell)
    return "" if cell is None else str(cell) if type(cell) is int else None


def _judge(found: Found, spec: FormatSpec, reading: Reading, problems: Problems) -> None:
    """Report invalid cells, repeated tuples, and items with too many tuples."""
    columns, most = spec.options["columns"], int(spec.options["most"])
    values = {name: set(allowed) for name, allowed in spec.options["values"].items()}
    restricted = [(at, values[name]) for at, name in enumerate(columns) if name in values]
    for row, own in enumerate(found.tuples):
        report_count(found.ids[row], len(own), most, problems)
        if len(set(own)) < len(own):
            _report_twice(found, row, problems)
        for number, cells in enumerate(own):
            if "" in cells or not all(cells[at] in allowed for at, allowed in restricted):
                _judge_cells(cells, found, row, number, values, spec, reading, problems)


def _report_twice(found: Found, row: int, problems: Problems) -> None:
    seen = set[Cells]()
    for number, cells in enumerate(found.tuples[row]):
        if cells in seen and not problems.has_counted("tuple-twice"):
            place, where = found.place(row, number)
            problems.add("tuple-twice", place, severity="warning", item=shown(found.ids[row]), **where)
        seen.add(cells)


def _judge_cells(
    cells: Cells,
    found: Found,
    row: int,
    number: int,
    values: Mapping[str, set[str]],
    spec: FormatSpec,
    reading: Reading,
    problems: Problems,
) -> None:
    for name, cell in zip(spec.options["columns"], cells, strict=True):
        code = _problem(cell, name, values, spec)
        if code is not None and not problems.has_counted(code):
            place, where = found.place(row, number)
            allowed = spec.options["values"].get(name, ())
            problems.add(
                code,
                f"{place} ({name}): {shown_cell(cell)}" if cell else f"{place} ({name})",
                severity=reading.strict if cell else "error",
                item=shown(found.ids[row]),
                found=shown_cell(cell) if cell else "",
                expected=" or ".join(allowed) if allowed else "a value",
                suggestion=nearest(cell[: limits.SHOWN], allowed) if cell else None,
                **where,
            )


def report_count(item: str, count: int, most: int, problems: Problems) -> None:
    """Report an item with more than `most` tuples."""
    if count > most and not problems.has_counted("too-many-tuples"):
        place = f"{shown(item)}: {count:,}"
        problems.add("too-many-tuples", place, item=shown(item), found=f"{count:,}", expected=f"{most:,}")


def _problem(cell: str, name: str, values: Mapping[str, set[str]], spec: FormatSpec) -> str | None:
    if not cell:
        return None if name in spec.options["optional"] else "value-missing"
    return "value-outside-domain" if name in values and cell not in values[name] else None


def write(answers: Tuples, spec: FormatSpec) -> str | bytes:
    """Write a row per tuple, or a list of tuples per item."""
    options, columns = spec.options, answers.columns
    sets = [answers.of_item(row) for row in range(len(answers.ids))]
    if options["file"] == "json":
        return write_records(answers.ids, (_listed(own, columns, options["tuples"]) for own in sets), spec)
    return write_rows(answers.ids, sets, columns, options)


def _listed(own: Iterable[Cells], columns: Cells, form: str) -> list[Any]:
    if form == "lists":
        return [list(one) for one in own]
    return [{name: cell for name, cell in zip(columns, one, strict=True) if cell} for one in own]


TUPLES = Format(
    "tuples",
    "tuples",
    "A set of tuples per item, such as the aspects in a review or the relations in a text: "
    """`[{"id": "a1", "value": [{"aspect": "food", "polarity": "positive"}]}]`, or a table with one row per tuple. """
    "In a table, a row whose other cells are empty is an item without tuples. Whitespace at the start and end of "
    "a value is removed. If an item has the same tuple several times, it counts once.",
    "columns: [aspect, polarity], values: {polarity: [positive, negative]}, file: table, id: id, separator: tab",
    OPTIONS,
    read,
    write,
    suffix_by_file,
    size,
    finish_options,
    leaves_out_empty=True,
)
