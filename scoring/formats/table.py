"""Tables of numbers: one row per item and one column per dimension, as CSV or TSV, with or without a header."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Kind, Values, mapping, schema_of
from scoring.definition.kinds import LARGEST, NUMBER, WORD, WORDS, by_name, either, many, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.decimals import decimals, is_decimal
from scoring.formats.format import Format
from scoring.formats.labels import WITH_POINT, report_decimal_point
from scoring.formats.layout import LAYOUT_OPTIONS, TableRows, read_table, table_suffix, write_table
from scoring.formats.reading import Problems, Reading, check_ids, shown, shown_cell
from scoring.reports.problems import Severity

SAME_AS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
ABSENT = ""


@dataclass(frozen=True, slots=True)
class Domain:
    """The values allowed in a column: the whole numbers in `values` or, if it is empty, any finite number.

    Finite numbers must be between `low` and `high`.
    """

    values: tuple[str, ...] = ("0", "1")
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        return -np.inf if self.low is None else self.low, np.inf if self.high is None else self.high


@dataclass(frozen=True, slots=True)
class Options:
    """A table's dimensions. `columns` are their names, `headers` the names in the file (empty: the same names).

    Columns without their own domain in `domains` use `values`, `low` and `high`. With `numbers`, at least one column
    allows any number.
    """

    columns: tuple[str, ...]
    headers: tuple[str, ...] = ()
    values: tuple[str, ...] = ("0", "1")
    low: float | None = None
    high: float | None = None
    domains: Mapping[str, Domain] = field(default_factory=dict)
    numbers: bool = False
    group: str | None = None
    attributes: tuple[str, ...] = ()
    whole: str | None = None  # the column that must be 1 if one of the parts is 1
    parts: tuple[str, ...] = ()
    level: Severity = "error"  # severity of a part without the whole; a whole without any part is one level lower

    @classmethod
    def of(cls, spec: FormatSpec) -> "Options":
        fields = cls.__dataclass_fields__
        return cls(**{name: value for name, value in spec.options.items() if name in fields})

    @property
    def names(self) -> tuple[str, ...]:
        return self.headers or self.columns

    def further(self, role: str) -> tuple[str, ...]:
        """Return the columns that are read as text."""
        attributes = self.attributes if role == "gold" else ()
        return tuple(dict.fromkeys((*filter(None, [self.group]), *attributes)))

    def domain(self, column: str) -> Domain:
        return self.domains.get(column) or Domain(self.values, self.low, self.high)


def values_of(spec: FormatSpec) -> dict[str, tuple[int, ...]]:
    """Return the values allowed in each column of a table, without the columns that allow any number."""
    options = Options.of(spec)
    return {column: tuple(map(int, options.domain(column).values)) for column in options.columns}


IMPLIES = mapping(
    [
        Key("whole", WORD, "Dimension that the parts imply."),
        Key("parts", WORDS, "Dimensions that can be 1 only where `whole` is 1."),
        Key(
            "level",
            one_of("error", "warning"),
            "How to treat a part without the whole. A whole without any part is treated one level lower: as a "
            "warning, or not at all.",
            "error",
        ),
    ],
    Values,
)
WHOLE_NUMBER = Kind(
    lambda value: value.matching("-?[0-9]{1,9}", "a whole number"),
    {"type": ["integer", "string"], "pattern": "^-?[0-9]{1,9}$", "minimum": -LARGEST, "maximum": LARGEST},
    "whole number",
)
COLUMN_KEYS = (
    Key(
        "kind",
        one_of("number", "ordinal"),
        "Whether the column has any finite number, or one of several ordered values.",
    ),
    Key("name", WORD, "Name of the dimension, if it differs from the column.", None),
    Key("values", many(WHOLE_NUMBER, least=1, each_once=True), "Allowed values.", when=("kind", "ordinal")),
    Key("low", NUMBER, "The smallest number.", None, when=("kind", "number")),
    Key("high", NUMBER, "The largest number.", None, when=("kind", "number")),
)
COLUMN = replace(
    mapping(COLUMN_KEYS, Values),
    schema={
        "oneOf": [
            schema_of(
                replace(one, kind=one_of(kind)) if one.name == "kind" else one
                for one in COLUMN_KEYS
                if one.exists({"kind": kind})
            )
            for kind in ("number", "ordinal")
        ]
    },
)
OPTIONS = (
    *LAYOUT_OPTIONS,
    Key(
        "columns",
        either(WORDS, by_name(either(WORD, COLUMN)), lambda value: not value.is_mapping),
        "Columns of numbers, or a mapping from columns to dimension names, `{HS: hate}`, or to the kind of column: "
        "`{stars: {kind: ordinal, values: [1, 2, 3]}, price: {kind: number, low: 0}}`.",
    ),
    Key(
        "values",
        either(one_of("number", expected="a list of whole numbers, or number"), many(WHOLE_NUMBER, least=1)),
        "Allowed numbers, or `number` for any finite number from `low` to `high`. By default, 0 and 1. A column with a "
        "`kind` has its own values.",
        None,
    ),
    Key("low", NUMBER, "With `values: number`, the smallest number.", None),
    Key("high", NUMBER, "With `values: number`, the largest number.", None),
    Key("group", WORD, "In gold files, the column with the group of each item.", None),
    Key("attributes", WORDS, "In gold files, further text columns that split the items into `slices`.", ()),
    Key("implies", IMPLIES, "Dimension that must be 1 where other dimensions are 1.", None),
)


def finish_options(value: Value, options: Values) -> None:
    """Convert the options to `Options`, without options that are not set."""
    columns, values, implies = options["columns"], options.pop("values"), options.pop("implies")
    domains: dict[str, Domain] = {}
    if isinstance(columns, dict):
        names = [_own_name(header, column) for header, column in columns.items()]
        if len(set(names)) < len(names):
            value.at("columns").invalid("each dimension only once")
        options |= {"columns": tuple(names), "headers": tuple(columns)}
        own = zip(names, columns.values(), strict=True)
        domains = {name: _own_domain(column) for name, column in own if isinstance(column, dict)}
    if values is not None:
        options["values"] = () if values == "number" else values
    if domains:
        options["domains"] = domains
    if values == "number" or not all(domain.values for domain in domains.values()):
        options["numbers"] = True
    options |= implies or {}


def _own_name(header: str, column: str | Values) -> str:
    return column if isinstance(column, str) else column["name"] or header


def _own_domain(column: Values) -> Domain:
    return Domain(column.get("values", ()), column.get("low"), column.get("high"))


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read the columns. `absent` marks empty cells of a gold standard and of optional items.

    `extra` has the columns of the options `group` and `attributes` as text. For runs, it has only the group. A gold
    standard of groups may lack the other columns.
    """
    options = Options.of(spec)
    errors_before = len(reading.report.errors)
    further = options.further(reading.role)
    dispensable = options.names if options.group and reading.role == "gold" else ()
    table = read_table(data, spec.options, tuple(dict.fromkeys(options.names + further)), reading, dispensable)
    if table is None:
        return None
    values, absent = _values(table, options, reading)
    if options.whole and reading.role == "run" and len(reading.report.errors) == errors_before:
        _check_parts(values, absent, table, options, reading)
    check_ids(table.ids, reading)
    if len(reading.report.errors) > errors_before:
        return None
    extra = {name: table.column(name) for name in further}
    return Matrix(table.ids, options.columns, values, absent if absent.any() else None, extra)


Numbers = NDArray[np.int64] | NDArray[np.float64]


def _values(table: TableRows, options: Options, reading: Reading) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return numbers by item and column (0 for empty or invalid cells), and which cells are empty."""
    shape = (len(table.ids), len(options.columns))
    values: Numbers = np.zeros(shape, np.float64) if options.numbers else np.zeros(shape, np.int64)
    absent = np.zeros(shape, np.bool_)
    problems = Problems(reading.report)
    for place, name in enumerate(options.names):
        domain = options.domain(options.columns[place])
        convert = _whole_numbers if domain.values else _decimals
        cells = table.column(name) if name in table.places else [ABSENT] * len(table.ids)
        lacking = ABSENT in cells
        column = None if lacking and reading.role == "run" else convert(cells, domain)
        if column is None:
            column = _judged(name, cells, table, domain, reading, problems)
        values[:, place] = column
        if lacking:
            absent[:, place] = [cell == ABSENT for cell in cells]
    problems.report()
    return values, absent


def _whole_numbers(cells: Sequence[str], domain: Domain) -> NDArray[np.int64] | None:
    """Return the numbers of valid or empty cells, or None if there are other cells."""
    number = {text: int(text) for text in domain.values} | {ABSENT: 0}
    if not set(cells) <= number.keys():
        return None
    return np.fromiter(map(number.__getitem__, cells), np.int64, len(cells))


def _decimals(cells: Sequence[str], domain: Domain) -> NDArray[np.float64] | None:
    """Return the numbers of valid or empty cells, or None if there are other cells."""
    filled = cells if ABSENT not in cells else [cell or "0" for cell in cells]
    numbers = decimals(filled)
    if numbers is None:
        return None
    low, high = domain.bounds
    right = (numbers >= low) & (numbers <= high)
    if filled is not cells:
        right |= np.array([cell == ABSENT for cell in cells])
    return numbers if right.all() else None


def _judged(
    name: str, cells: list[str], table: TableRows, domain: Domain, reading: Reading, problems: Problems
) -> NDArray[np.float64]:
    """Report the invalid cells of a column individually, and return the numbers of the others."""
    numbers = np.zeros(len(cells), np.float64)
    judge = _problem_of_whole_number if domain.values else _problem_of_number
    for place, (cell, item, line) in enumerate(zip(cells, table.ids, table.rows.lines, strict=True)):
        if cell == ABSENT:
            code = None if reading.role == "gold" or item in reading.optional else "value-missing"
        else:
            code = judge(cell, domain)
            numbers[place] = 0 if code else float(cell)
        if code == "value-outside-domain" and WITH_POINT.fullmatch(cell) and _meant(cell, domain):
            report_decimal_point(cell, _meant(cell, domain), problems, line=line, item=shown(item))
            continue
        if code is None or problems.has_counted(code):
            continue
        problems.add(
            code,
            f"line {line} ({name})" if cell == ABSENT else f"line {line} ({name}): {shown_cell(cell)}",
            line=line,
            column=table.places[name] + 1,
            item=shown(item),
            found=shown_cell(cell) if cell else "",
            expected=_expected(domain),
            suggestion=_meant(cell, domain),
        )
    return numbers


def _problem_of_whole_number(cell: str, domain: Domain) -> str | None:
    return None if cell in domain.values else "value-outside-domain"


def _problem_of_number(cell: str, domain: Domain) -> str | None:
    if not is_decimal(cell):
        return "value-not-a-number"
    low, high = domain.bounds
    return None if low <= float(cell) <= high else "value-outside-domain"


def _expected(domain: Domain) -> str:
    if domain.values:
        return " or ".join(domain.values)
    words = ["a finite number"]
    words += [f"from {domain.low:g}"] if domain.low is not None else []
    words += [f"up to {domain.high:g}"] if domain.high is not None else []
    return " ".join(words)


def _meant(cell: str, domain: Domain) -> str | None:
    """Return the value meant by a cell such as ` 1`, `1.0` or `True` or, in a column of numbers, `0,5` or ` 0.5`."""
    if not domain.values:
        bare = cell.strip().replace(",", ".")
        return bare if bare != cell and _problem_of_number(bare, domain) is None else None
    bare = cell.strip().casefold().removesuffix(".0")
    bare = SAME_AS.get(bare, bare)
    return bare if bare in domain.values else None


def _check_parts(
    values: Numbers, absent: NDArray[np.bool_], table: TableRows, options: Options, reading: Reading
) -> None:
    """Report parts without the whole at the declared level, and wholes without any part one level lower."""
    if options.whole is None or not set(options.parts) | {options.whole} <= set(options.columns):
        return
    whole = values[:, options.columns.index(options.whole)] != 0
    part = (values[:, [options.columns.index(name) for name in options.parts]] != 0).any(axis=1)
    problems = Problems(reading.report)
    for row in np.nonzero((whole != part) & ~absent.any(axis=1))[0].tolist():
        line = table.rows.lines[row]
        if part[row]:
            expected = f"{options.whole} 1"
            problems.add("part-without-whole", f"line {line}", severity=options.level, line=line, expected=expected)
        elif options.level == "error":
            problems.add("whole-without-part", f"line {line}", severity="warning", line=line, expected=options.whole)
    problems.report()


def write(answers: Matrix, spec: FormatSpec) -> str:
    """Write the table with empty cells where there is no answer.

    The group column is last, and empty if there are no groups.
    """
    headers: Sequence[str] = spec.options.get("headers") or answers.columns
    whole = [bool(values) for values in values_of(spec).values()] if spec.kind == "table" else []
    cells = [[_cell(*pair) for pair in zip_longest(row, whole)] for row in answers.cells()]
    columns: dict[str, Sequence[Any]] = dict(zip(headers, zip(*cells, strict=True), strict=True))
    if group := spec.options.get("group"):
        columns[group] = answers.extra.get(group, [""] * len(answers.ids))
    return write_table(answers.ids, columns, spec.options)


def _cell(value: Any, whole: bool | None) -> Any:
    """Format a value. Values of an ordinal column have no decimal point."""
    if value is None:
        return ""
    return int(value) if whole else value


TABLE = Format(
    "table",
    "table",
    "Numbers in columns, as CSV or TSV, with one row per item.",
    "separator: tab, id: id, columns: {HS: hate, AG: aggression}, implies: {whole: hate, parts: [aggression]}",
    OPTIONS,
    read,
    write,
    table_suffix,
    finish=finish_options,
)
