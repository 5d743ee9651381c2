"""Tables of numbers: one row per item and one column per dimension, as CSV or TSV, with or without a header."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring import limits
from scoring.answers import Matrix
from scoring.definition import FormatSpec
from scoring.definition.keys import Key, Kind, Values, mapping, schema_of
from scoring.definition.kinds import LARGEST, NAMES, NUMBER, WORD, by_name, either, many, one_of
from scoring.definition.yaml_values import Value
from scoring.formats.decimals import decimals, is_decimal
from scoring.formats.delimited import Rows
from scoring.formats.format import Format
from scoring.formats.labels import WITH_POINT, report_decimal_point
from scoring.formats.layout import TableRows, table_suffix, write_table
from scoring.formats.reading import Problems, Reading, are_too_many, check_ids, shown, shown_cell
from scoring.formats.row_numbers import NUMBERED_OPTIONS, read_items, repeats_texts
from scoring.reports.nearest import nearest
from scoring.reports.problems import Severity

SAME_AS = {"true": "1", "yes": "1", "false": "0", "no": "0"}
ABSENT = ""
LONGEST_NUMBER = 80  # characters of a cell in which a number is looked for
WRAPPED = re.compile(r"(?:[a-z]+\.)?(?:[a-z]+[0-9]*)?[\[(]{1,2}([^\[\](),]+)[\])]{1,2}")  # [1], tensor(1), np.int64(1)
MANY_COLUMNS = 50  # tables with more columns are read row by row
LISTED_NAMES = 12  # maximum number of value names that a problem lists


@dataclass(frozen=True, slots=True)
class Domain:
    """The values allowed in a column: the whole numbers in `values` or, if it is empty, any finite number.

    Such a number must be between `low` and `high`.
    """

    values: tuple[str, ...] = ("0", "1")
    low: float | None = None
    high: float | None = None

    @property
    def bounds(self) -> tuple[float, float]:
        return -np.inf if self.low is None else self.low, np.inf if self.high is None else self.high

    @property
    def numbers(self) -> dict[str, int]:
        """The number for the text of each of the `values`, and 0 for empty cells."""
        return {text: int(text) for text in self.values} | {ABSENT: 0}


PROBABILITY = Domain(values=(), low=0, high=1)


@dataclass(frozen=True, slots=True)
class Options:
    """A table's dimensions.

    `columns` are their names, and `headers` are the names in the file (empty if they are the same).

    Columns that are not in `domains` use `values`, `low` and `high`. If `numbers` is True, at least one column allows
    any number.
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
    # Severity if a part is 1 but the whole is not. If the whole is 1 but no part is, the severity is one level lower.
    level: Severity = "error"
    optional: tuple[str, ...] = ()  # columns that a file may lack
    probabilities: Mapping[str, str] = field(default_factory=dict)  # dimension → header of its probabilities

    @classmethod
    def of(cls, spec: FormatSpec) -> "Options":
        fields = cls.__dataclass_fields__
        return cls(**{name: value for name, value in spec.options.items() if name in fields})

    @property
    def names(self) -> tuple[str, ...]:
        return self.headers or self.columns

    @property
    def optional_names(self) -> tuple[str, ...]:
        """The names in the file of the columns that it may lack."""
        return tuple(name for name, column in zip(self.names, self.columns, strict=True) if column in self.optional)

    def further(self, role: str) -> tuple[str, ...]:
        """Return the columns that are read as text."""
        attributes = self.attributes if role == "gold" else ()
        return tuple(dict.fromkeys((*filter(None, [self.group]), *attributes)))

    def domain(self, column: str) -> Domain:
        return self.domains.get(column) or Domain(self.values, self.low, self.high)


def values_of(spec: FormatSpec) -> dict[str, tuple[int, ...]]:
    """Return the values allowed in each column of a table. For columns that allow any number, the tuple is empty."""
    options = Options.of(spec)
    return {column: tuple(map(int, options.domain(column).values)) for column in options.columns}


IMPLIES = mapping(
    [
        Key("whole", WORD, "Dimension that must be 1 where any of the `parts` is 1."),
        Key("parts", NAMES, "Dimensions that can be 1 only where `whole` is 1."),
        Key(
            "level",
            one_of("error", "warning"),
            "How to handle a part without the whole. A whole without any of its parts is handled one level lower: "
            "as a warning if this option is `error`, and not at all if it is `warning`.",
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
        "Whether the column contains any finite number (`number`) or one of several ordered values (`ordinal`).",
    ),
    Key("name", WORD, "Name of the dimension. Defaults to the name of the column.", None),
    Key("values", many(WHOLE_NUMBER, least=1, each_once=True), "Allowed values.", when=("kind", "ordinal")),
    Key("low", NUMBER, "Smallest allowed number.", None, when=("kind", "number")),
    Key("high", NUMBER, "Largest allowed number.", None, when=("kind", "number")),
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
LIST_OPTION = Key(
    "list",
    WORD,
    "Column with an item's values as a list in square brackets, such as `[0.2, 0.8]`, in the order of the columns "
    "or classes. If omitted, each value has its own column.",
    None,
)
OPTIONS = (
    *NUMBERED_OPTIONS,
    LIST_OPTION,
    Key(
        "columns",
        either(NAMES, by_name(either(WORD, COLUMN), most=limits.CLASSES), lambda value: not value.is_mapping),
        "List of the numeric columns, or a mapping. A mapping can rename columns to dimensions, `{HS: hate}`, or "
        "set the kind of each column: `{stars: {kind: ordinal, values: [1, 2, 3]}, price: {kind: number, low: 0}}`.",
    ),
    Key(
        "values",
        either(one_of("number", expected='a list of whole numbers, or the word "number"'), many(WHOLE_NUMBER, least=1)),
        "Allowed numbers, or `number` for any finite number from `low` to `high`. Defaults to 0 and 1. Does not "
        "apply to columns with a `kind`, which have their own values.",
        None,
    ),
    Key("low", NUMBER, "Only for `values: number`. Smallest allowed number.", None),
    Key("high", NUMBER, "Only for `values: number`. Largest allowed number.", None),
    Key(
        "optional",
        NAMES,
        "Columns that a file may lack, for example because the languages of a run's `files` have different columns. "
        "Nothing is scored in a column that a gold file lacks. In a column that only a run lacks, all of its items are "
        "unanswered.",
        (),
    ),
    Key("group", WORD, "In gold files, the column that assigns each item to a group.", None),
    Key("attributes", NAMES, "In gold files, additional text columns that can be used as `slices`.", ()),
    Key(
        "probabilities",
        by_name(WORD),
        "Optional columns with the probability, from 0 to 1, that a value is 1: `{hate: hate_probability}`. A run "
        "must have all of these columns or none. They do not affect scores. For runs that have them, the results "
        "analysis shows ROC curves.",
        {},
    ),
    Key("implies", IMPLIES, "Requires one dimension to be 1 wherever certain other dimensions are 1.", None),
)


def finish_options(value: Value, options: Values) -> None:
    """Convert the options to the fields of `Options`, leaving out options that are not set."""
    columns, values, implies = options["columns"], options.pop("values"), options.pop("implies")
    domains: dict[str, Domain] = {}
    if isinstance(columns, dict):
        names = [column if isinstance(column, str) else column["name"] or header for header, column in columns.items()]
        if len(set(names)) < len(names):
            value.at("columns").invalid("each dimension only once")
        options |= {"columns": tuple(names), "headers": tuple(columns)}
        domains = {
            name: Domain(own.get("values", ()), own.get("low"), own.get("high"))
            for name, own in zip(names, columns.values(), strict=True)
            if isinstance(own, dict)
        }
    _check_probabilities(value, options)
    _check_optional(value, options)
    if values is not None:
        options["values"] = () if values == "number" else values
    if domains:
        options["domains"] = domains
    if values == "number" or not all(domain.values for domain in domains.values()):
        options["numbers"] = True
    options |= implies or {}


def _check_optional(value: Value, options: Values) -> None:
    """Report optional columns that do not exist or whose absence would not be noticed."""
    known = set(options["columns"])
    unknown = [(place, name) for place, name in enumerate(options["optional"]) if name not in known]
    for place, name in unknown[: limits.LISTED]:  # because finding similar names takes time
        expected = f"one of the columns {', '.join(options['columns'])}"
        value.at("optional", place).invalid(expected, nearest(name, options["columns"]))
    if options["optional"] and (options["header"] == "none" or options["list"]):
        value.at("optional").invalid("no columns, because they require a header and do not work with list")


def _check_probabilities(value: Value, options: Values) -> None:
    """Report probabilities of unknown dimensions, and probabilities in files whose columns have no names."""
    given: dict[str, str] = options["probabilities"]
    headers = {*(options.get("headers") or options["columns"]), *options.get("id", ())}
    for name, header in given.items():
        if name not in options["columns"]:
            value.at("probabilities", name).invalid(f"one of the columns {', '.join(options['columns'])}")
        elif header in headers or list(given.values()).count(header) > 1:
            value.at("probabilities", name).invalid("a separate column")
    if given and (options["header"] != "required" or options["list"]):
        value.at("probabilities").invalid(
            "no probabilities, because they require header: required and do not work with list"
        )


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Matrix | None:
    """Read the columns into a `Matrix`.

    Its `absent` marks empty cells, which gold standards and optional items may have. Its `extra` holds the columns
    named by `group` and `attributes` as text (in runs, only `group`). If a gold standard has a group column, all other
    columns may be missing.
    """
    options = Options.of(spec)
    further = options.further(reading.role)
    dispensable = options.names if options.group and reading.role == "gold" else options.optional_names
    lists: str | None = spec.options.get("list")
    own = (lists,) if lists else options.names
    likely = tuple(options.probabilities.values()) if reading.role == "run" else ()
    wanted = tuple(dict.fromkeys(own + further + likely))
    table = read_items(data, spec.options, wanted, reading, (*dispensable, *likely))
    if table is not None and lists:
        table = _unfolded(table, lists, options.names, further, reading)
    if table is None:
        return None
    values, absent = _values(table, options, reading)
    probabilities = _probabilities(table, options, reading) if likely else None
    if options.whole and reading.role == "run" and not reading.has_errors:
        _check_parts(values, absent, table, options, reading)
    check_ids(table.ids, reading)
    if reading.has_errors:
        return None
    extra = {name: table.column(name) for name in further}
    return Matrix(table.ids, options.columns, values, absent if absent.any() else None, extra, probabilities)


def _probabilities(table: TableRows, options: Options, reading: Reading) -> NDArray[np.float64] | None:
    """Return the probabilities with shape (items, columns), or None if the file has no columns for them."""
    headers = tuple(options.probabilities.values())
    lacking = tuple(header for header in headers if header not in table.places)
    if len(lacking) == len(headers):
        return None
    if lacking:
        expected = ", ".join(headers)
        reading.report.error(
            "header-column-missing", line=1, expected=expected, places=tuple(map(shown, lacking)), count=len(lacking)
        )
        return None
    found = np.full((len(table.ids), len(options.columns)), np.nan)
    problems, strict = Problems(reading.report), replace(reading, optional=())
    for name, header in options.probabilities.items():
        cells = table.column(header)
        column = None if ABSENT in cells else _decimals(cells, PROBABILITY)
        if column is None:
            column = _judged(header, cells, table, PROBABILITY, strict, problems)
        found[:, options.columns.index(name)] = column
    problems.report()
    return found


def _unfolded(
    table: TableRows, lists: str, names: Sequence[str], further: Sequence[str], reading: Reading
) -> TableRows | None:
    """Return a table with a column for each value in the lists, or for each annotator.

    If a cell does not contain a list of the right length, report an error and return None.
    """
    cells, own, kept = table.column(lists), [*names, *further], [table.column(name) for name in further]
    if are_too_many(len(cells) * len(own), limits.CELLS, reading.report):
        return None
    problems, flat = Problems(reading.report), list[str]()
    for row, cell in enumerate(cells):
        places = range(len(names)) if reading.annotators is None else reading.annotators.get(table.ids[row])
        if places is None:  # an unknown id, which is reported with the other ids
            values: list[str] | None = [ABSENT] * len(names)
        elif reading.annotators is None:
            values = _values_of_list(cell, len(names))
        else:
            values = _values_of_annotators(cell, places, len(names))
        if values is not None:
            flat += values
            flat += [column[row] for column in kept]
        elif not problems.has_counted("values-not-a-list"):
            line, found = table.rows.lines[row], shown_cell(cell)
            problems.add(
                "values-not-a-list",
                f"line {line}: {found}",
                line=line,
                column=table.places[lists] + 1,
                item=shown(table.ids[row]),
                found=found,
                expected=_listed([names[place] for place in places or ()]),
            )
    if problems.report():
        return None
    rows = Rows(flat, len(own), table.rows.lines)
    return TableRows(rows, table.ids, {name: place for place, name in enumerate(own)}, table.places[lists])


def _values_of_list(cell: str, count: int) -> list[str] | None:
    """Return the values in a list such as `[0.2, 0.8]`, or None if the cell is not a list of `count` values."""
    bare = cell.strip()
    if not (bare.startswith("[") and bare.endswith("]")) or bare.count(",") != count - 1:
        return None
    inner = bare[1:-1].replace(", ", ",").strip()
    values = inner.split(",")
    return values if len(inner.split(maxsplit=1)) < 2 else [value.strip() for value in values]


def _values_of_annotators(cell: str, places: Sequence[int], columns: int) -> list[str] | None:
    """Return the values of a list with one value per annotator, each in its annotator's column of `columns`.

    Return None if the cell is not a list of this length, or if a value is empty.
    """
    values = [] if not places and "".join(cell.split()) == "[]" else _values_of_list(cell, len(places))
    if values is None or ABSENT in values:
        return None
    row = [ABSENT] * columns
    for place, value in zip(places, values, strict=True):
        row[place] = value
    return row


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(shown, names[:LISTED_NAMES])) + ", …" * (len(names) > LISTED_NAMES)


Numbers = NDArray[np.int64] | NDArray[np.float64]


def _values(table: TableRows, options: Options, reading: Reading) -> tuple[Numbers, NDArray[np.bool_]]:
    """Return the numbers (0 for empty or invalid cells) and which cells are empty, both with shape (items, columns)."""
    shape = (len(table.ids), len(options.columns))
    values: Numbers = np.zeros(shape, np.float64) if options.numbers else np.zeros(shape, np.int64)
    absent = np.zeros(shape, np.bool_)
    if len(options.columns) > MANY_COLUMNS and _are_read_by_row(table, options, values):
        return values, absent
    problems = Problems(reading.report)
    for place, name in enumerate(options.names):
        domain = options.domain(options.columns[place])
        if name not in table.places and options.columns[place] in options.optional:
            absent[:, place] = True
            continue
        cells = table.column(name) if name in table.places else [ABSENT] * len(table.ids)
        lacking = ABSENT in cells
        column = None if lacking and not _may_lack(reading) else _converted(cells, domain, domain.numbers)
        if column is None:
            column = _judged(name, cells, table, domain, reading, problems)
        values[:, place] = column
        if lacking:
            absent[:, place] = [cell == ABSENT for cell in cells]
    problems.report()
    return values, absent


def _are_read_by_row(table: TableRows, options: Options, values: Numbers) -> bool:
    """Fill `values` row by row, which is faster for many columns, because the cells of a column are far apart.

    Return False if any cell is empty or invalid, or if the columns differ in their domains or are in another order.
    """
    domains = {options.domain(column) for column in options.columns}
    places = [table.places.get(name, -1) for name in options.names]
    first, last = places[0], places[-1] + 1
    if len(domains) > 1 or places != list(range(first, last)):
        return False
    (domain,) = domains
    numbers, width, cells = domain.numbers, table.rows.width, table.rows.cells
    for row, start in enumerate(range(0, len(values) * width, width)):
        own = cells[start + first : start + last]
        found = None if ABSENT in own else _converted(own, domain, numbers)
        if found is None:
            return False
        values[row] = found
    return True


def _may_lack(reading: Reading) -> bool:
    """Return whether cells may be empty: in gold standards, or for annotators who did not rate the item."""
    return reading.role == "gold" or reading.annotators is not None


def _converted(cells: Sequence[str], domain: Domain, numbers: Mapping[str, int]) -> Numbers | None:
    """Return the numbers in valid or empty cells, or None if there are any other cells.

    `numbers` are the domain's, which take long to find for each of many columns.
    """
    if not domain.values:
        return _decimals(cells, domain)
    try:
        return np.fromiter(map(numbers.__getitem__, cells), np.int64, len(cells))
    except KeyError:
        return None


def _decimals(cells: Sequence[str], domain: Domain) -> NDArray[np.float64] | None:
    """Return the numbers in valid or empty cells, or None if there are any other cells."""
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
    """Report each invalid cell in a column, and return the column's numbers (0 for empty or invalid cells)."""
    numbers = np.zeros(len(cells), np.float64)
    for place, (cell, item, line) in enumerate(zip(cells, table.ids, table.rows.lines, strict=True)):
        if cell == ABSENT:
            code = None if _may_lack(reading) or item in reading.optional else "value-missing"
        else:
            code = _problem_of(cell, domain)
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
            column=table.column_number(name),
            item=shown(item),
            found=shown_cell(cell) if cell else "",
            expected=_expected(domain),
            suggestion=_meant(cell, domain),
        )
    return numbers


def _problem_of(cell: str, domain: Domain) -> str | None:
    if domain.values:
        return None if cell in domain.values else "value-outside-domain"
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
    """Return the value that a cell stands for: ` 1`, `1.0`, `True` and `tensor(1)`, and for numbers `0,5` and `50%`."""
    match = WRAPPED.fullmatch(cell.strip()) if len(cell) <= LONGEST_NUMBER else None
    bare = match[1].strip() if match else cell.strip()
    if not domain.values:
        bare = bare.replace(",", ".").replace("\u2212", "-")
        if bare.endswith("%") and is_decimal(bare[:-1].strip()):
            bare = f"{float(bare[:-1]) / 100:.12g}"
        return bare if bare != cell and _problem_of(bare, domain) is None else None
    bare = whole[1] if (whole := WITH_POINT.fullmatch(bare)) else bare.casefold()
    bare = SAME_AS.get(bare, bare)
    return bare if bare in domain.values else None


def _check_parts(
    values: Numbers, absent: NDArray[np.bool_], table: TableRows, options: Options, reading: Reading
) -> None:
    """Report parts without the whole with the declared severity, and a whole without any part one level lower."""
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


def write(answers: Matrix, spec: FormatSpec) -> str | bytes:
    """Write the table, with empty cells for missing answers.

    If the format has a group column, it comes last, and its cells are empty if the groups are not known.
    """
    headers: Sequence[str] = spec.options.get("headers") or answers.columns
    whole = [bool(values) for values in values_of(spec).values()] if spec.kind == "table" else []
    cells = [[_cell(*pair) for pair in zip_longest(row, whole)] for row in answers.cells()]
    if lists := spec.options.get("list"):
        columns: dict[str, Sequence[Any]] = {lists: [f"[{', '.join(map(str, row))}]" for row in cells]}
    else:
        columns = dict(zip(headers, zip(*cells, strict=True), strict=True))
    if answers.absent is not None:
        for name, header, absent in zip(answers.columns, headers, answers.absent.T, strict=True):
            if name in spec.options.get("optional", ()) and absent.all():
                del columns[header]
    if answers.probabilities is not None:
        for name, header in spec.options.get("probabilities", {}).items():
            columns[header] = answers.probabilities[:, answers.columns.index(name)].tolist()
    if group := spec.options.get("group"):
        columns[group] = answers.extra.get(group, [""] * len(answers.ids))
    return write_table(answers.ids, columns, spec.options)


def _cell(value: Any, whole: bool | None) -> Any:
    """Format a value. Whole numbers have no decimal point."""
    if value is None:
        return ""
    return int(value) if whole else value


TABLE = Format(
    "table",
    "table",
    "CSV or TSV file with numeric columns and one row per item. In gold files, a cell is empty if the item has no "
    "answer in this column, for example because one of its annotators skipped it. Such cells are not scored. In a "
    "`list`, leave its place empty: `[1, , 0]`.",
    "separator: tab, id: id, columns: {HS: hate, AG: aggression}, implies: {whole: hate, parts: [aggression]}",
    OPTIONS,
    read,
    write,
    table_suffix,
    finish=finish_options,
    has_texts=repeats_texts,
)
