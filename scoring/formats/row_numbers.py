"""Tables with one row per item, whose rows may have no ids: then, the order of the rows says which item is meant."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scoring.definition.keys import Key
from scoring.definition.kinds import WORD, one_of
from scoring.formats.layout import LAYOUT_OPTIONS, TableRows, read_columns, read_table
from scoring.formats.reading import Problems, Reading, are_several_times, shown
from scoring.reports.problems import Severity

NUMBERED_OPTIONS = (
    Key(
        "ids",
        one_of("column", "numbers"),
        "Where item ids come from: a column, or the order of the rows, whose numbers start at 1. With `numbers`, a run "
        "must have exactly one row for each item.",
        "column",
    ),
    Key(
        "same_text",
        WORD,
        "Optional column with the items' texts. A row is an error if its text is not the item's text in the track's "
        "`texts`, so that rows in another order are found.",
        None,
        when=("ids", "numbers"),
    ),
    *(replace(key, when=("ids", "column")) if key.name == "id" else key for key in LAYOUT_OPTIONS),
)


def repeats_texts(options: Mapping[str, Any]) -> bool:
    """Return whether the rows of a table repeat the items' texts."""
    return options.get("same_text") is not None


def read_items(
    data: bytes, options: Mapping[str, Any], columns: Sequence[str], reading: Reading, dispensable: Collection[str] = ()
) -> TableRows | None:
    """Read a table with a row per item. The arguments are those of `read_table`, and `options` has NUMBERED_OPTIONS.

    If a run without ids has more or fewer rows than items, report it and return None.
    """
    if options.get("ids") != "numbers":
        return read_table(data, options, columns, reading, dispensable)
    text = options["same_text"] if reading.role == "run" else None
    names = columns if text is None else tuple(dict.fromkeys([*columns, text]))
    found = read_columns(data, {**options, "id": ()}, names, reading, (*dispensable, *([text] if text else [])))
    if found is None or not _has_all_rows(len(found[0]), reading):
        return None
    rows, places = found
    table = TableRows(rows, [str(number) for number in range(1, len(rows) + 1)], places)
    if text in places and reading.texts is not None:
        _compare_texts(table, str(text), reading.texts, reading)
    return table


def _has_all_rows(count: int, reading: Reading) -> bool:
    """Return whether there is a row for each item. If not, report it, because no one knows which rows are missing."""
    expected = count if reading.numbered is None or reading.role == "gold" else reading.numbered
    if are_several_times(count, reading):
        return False
    if count not in (expected, expected + len(reading.optional)):
        if reading.has_errors:  # about rows that were left out
            return False
        may_lack = reading.missing_allowed and count < expected
        severity: Severity = "warning" if may_lack else reading.strict
        reading.report.add(severity, "row-count", found=f"{count:,}", expected=f"{expected:,}")
        return severity == "warning"
    return True


def _compare_texts(table: TableRows, column: str, texts: Mapping[str, str], reading: Reading) -> None:
    """Report rows whose text is not that of the item with this number, ignoring blanks."""
    problems = Problems(reading.report)
    for item, line, cell in zip(table.ids, table.rows.lines, table.column(column), strict=True):
        expected = texts.get(item)
        is_other = expected is not None and cell.split() != expected.split()
        if is_other and not problems.has_counted("row-text"):
            own = {"line": line, "item": item, "found": shown(cell), "expected": shown(expected)}
            problems.add("row-text", f"line {line}", severity=reading.strict, **own)
    problems.report()
