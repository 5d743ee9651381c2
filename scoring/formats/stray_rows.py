"""Rows and cells that are no answers: empty rows, header lines, quotation marks and separators at the ends of lines.

Each is reported as one problem with its fix. The rest of the file is then read as if it had been fixed, so that its
other problems are reported, too. Files without such rows cost next to nothing.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from scoring.formats.decimals import is_decimal
from scoring.formats.delimited import Rows, is_header, split
from scoring.formats.reading import Problems, Reading, shown
from scoring.reports.problems import Severity

HEADER = "header-line"


def without_empty_rows(rows: Rows, text: str, separator: str, reading: Reading) -> Rows:
    """Leave out rows without any content, with a warning."""
    if rows.widths is None and not text.startswith(separator) and f"\n{separator}" not in text and '\n""' not in text:
        return rows
    return _without(rows, lambda row: not "".join(row).strip(), "empty-row", "warning", reading)


def without_repeated_header(rows: Rows, text: str, reading: Reading) -> Rows:
    """Leave out rows below the header that repeat it, as in files that were joined, with an error."""
    line = text[: text.find("\n")]
    if f"\n{line}\n" not in text and not text.endswith(f"\n{line}"):
        return rows
    header, below = rows.first, rows.without_first()
    below = _without(below, lambda row: row == header, HEADER, "error", reading)
    return Rows.of([header, *below.lists()], [rows.lines[0], *below.lines])


def without_unwanted_header(rows: Rows, order: Sequence[str], options: Mapping[str, Any], reading: Reading) -> Rows:
    """Leave out a header in a file that should not have one, with an error."""
    if not _begins_with_header(rows, order, options, reading):
        return rows
    report_header(rows.lines[0], rows.first, reading)
    return rows.without_first()


def report_header(line: int, cells: Sequence[str], reading: Reading) -> None:
    """Report a line with names of columns."""
    found = shown(" ".join(cells))
    reading.report.error(HEADER, line=line, found=found, places=(f"line {line}: {found}",))


def _begins_with_header(rows: Rows, order: Sequence[str], options: Mapping[str, Any], reading: Reading) -> bool:
    """Return whether the first row has the names of columns, or is a header with other names.

    The latter is known only if there is one row more than items, and the cells of the first row do not occur below.
    """
    first, names = [cell.strip().casefold() for cell in rows.first], [name.casefold() for name in order]
    if len(rows) < 2 or (len(first) != len(order) and rows.widths is None):
        return False
    places = [order.index(name) for name in options["id"] if order.index(name) < len(first)]
    if reading.items is not None:
        item = "_".join(rows.first[place] for place in places)
        if item in reading.items or item in reading.optional:
            return False
        if any(is_header([first[place]], [names[place], *options["aliases"]]) for place in places):
            return True
        if rows.widths is not None or len(rows) != len(reading.items) + 1:
            return False
        others = [place for place in range(rows.width) if place not in places]
        below = rows.without_first()
        return not any(is_decimal(first[at]) or rows.first[at] in below.column(at) for at in others)
    return all(cell in names for cell in first)


def without_trailing_separators(rows: Rows, width: int | None, options: Mapping[str, Any], reading: Reading) -> Rows:
    """Leave out empty cells at the ends of rows.

    `width` is the number of columns, or None if the header names them. If the header has the same empty cells, they are
    extra columns, and otherwise an error.
    """
    first = rows.first
    named = len(first)
    while named > 1 and not first[named - 1].strip():
        named -= 1
    wanted = named if width is None else width
    if rows.widths is None and rows.width <= wanted:
        return rows
    lists = rows.lists()
    longer = [number for number, row in enumerate(lists) if len(row) > wanted]
    if not longer or any("".join(row[wanted:]).strip() for row in lists):
        return rows
    severity: Severity | None = "error"
    if width is None and rows.widths is None:
        is_free = reading.role == "gold" or options["extra_columns"] == "ignore"
        severity = None if is_free else "error" if options["extra_columns"] == "reject" else "warning"
    problems = Problems(reading.report)
    for number in longer if severity else ():
        line, found = rows.lines[number], f"{len(lists[number])} cells"
        problems.add(
            "trailing-separator",
            f"line {line}",
            severity=severity or "error",
            line=line,
            found=found,
            expected=f"{wanted} cells" if wanted != 1 else "1 cell",
        )
    problems.report()
    return Rows.of([row[:wanted] for row in lists], rows.lines)


def without_quotes(rows: Rows, options: Mapping[str, Any], reading: Reading) -> Rows:
    """Remove the quotation marks around cells in a file whose format has none, with an error.

    This applies if the first two rows have them around all cells, and no item's id begins with one.
    """
    if options["quotes"] == "csv" or not _is_quoted(rows.first[0]):
        return rows
    lists = rows.lists()
    if not all(_is_quoted(cell) for row in lists[:2] for cell in row if cell):
        return rows
    if reading.items is not None and any(item.startswith('"') for item in reading.items.ids):
        return rows
    line, found = rows.lines[0], shown(rows.first[0])
    reading.report.error("quoted-cells", line=line, found=found, expected=shown(found.strip('"')))
    return Rows.of([[_unquoted(cell) for cell in row] for row in lists], rows.lines)


def without_line_quotes(rows: Rows, separator: str, width: int, reading: Reading) -> Rows:
    """Split rows that are a single quoted cell with the whole line, with an error.

    `width` is the number of cells that a row should have.
    """
    if width < 2 or rows.width != 1 or rows.widths is not None or not all(separator in cell for cell in rows.cells):
        return rows
    if any("\n" in cell for cell in rows.cells):
        return rows
    parts = split("\n".join(rows.cells), separator, True, reading.report)
    if parts is None:
        return rows
    whole = rows.cells[0]
    reading.report.error("quoted-lines", line=rows.lines[0], found=shown(f'"{whole}"'), expected=shown(whole))
    return replace(parts, lines=rows.lines)


def _is_quoted(cell: str) -> bool:
    return len(cell) > 1 and cell[0] == cell[-1] == '"'


def _unquoted(cell: str) -> str:
    return cell[1:-1].replace('""', '"') if _is_quoted(cell) else cell


def _without(
    rows: Rows, is_stray: Callable[[list[str]], bool], code: str, severity: Severity, reading: Reading
) -> Rows:
    """Leave out stray rows and report them."""
    problems, kept = Problems(reading.report), list[tuple[list[str], int]]()
    for row, line in zip(rows.lists(), rows.lines, strict=True):
        if not is_stray(row):
            kept.append((row, line))
        elif not problems.has_counted(code):
            found = shown(" ".join(row))
            place = f"line {line}: {found}" if found.strip() else f"line {line}"
            problems.add(code, place, severity=severity, line=line, found=found.strip() or None)
    problems.report()
    return Rows.of([row for row, _ in kept], [line for _, line in kept]) if problems.has(code) else rows
