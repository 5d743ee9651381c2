"""Split delimited text into rows of cells: separators, quotes, line ends, headers. Cells are not interpreted."""

import csv
import io
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, repeat

from scoring.formats.reading import Problems, Reading, pieces, shown, shown_cell
from scoring.reports.nearest import nearest
from scoring.reports.problems import Report, Severity

SEPARATORS = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "spaces"}
INDEX_NAMES = ("", "Unnamed: 0")  # names that pandas gives to a column of row numbers
FIRST_LINE = 10_000  # maximum number of characters of the first line that are searched for a separator
COLUMNS_COMPARED = 50  # maximum number of missing names, and of column names that are compared with each of them
LISTS = re.compile(r"\[[^\[\]]*\]")  # in a cell, which may have other separators inside
RESUMED = 5  # lines with wrong quotes after which a file is still read with quotes
CSV_ERRORS = {"field larger": "cell-too-long", "unexpected end": "quote-open"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The cells of all rows in one list, the number of cells in the first row, and the line where each row begins.

    `widths` (cells per row) is set only if rows differ in length. In that case, there are no columns.
    """

    cells: list[str]
    width: int
    lines: Sequence[int]
    widths: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(self.lines)

    @property
    def first(self) -> list[str]:
        return self.cells[: self.width]

    def column(self, place: int) -> list[str]:
        return self.cells[place :: self.width]

    @classmethod
    def of(cls, lists: Sequence[Sequence[str]], lines: Sequence[int]) -> "Rows":
        """Return rows with these cells. Without any row, the width is 0."""
        widths = array("q", map(len, lists))
        flat = list(chain.from_iterable(lists))
        return cls(flat, widths[0] if lists else 0, lines, widths if len(set(widths)) > 1 else None)

    def lists(self) -> list[list[str]]:
        """Return the cells of each row."""
        ends = list(accumulate(repeat(self.width, len(self)) if self.widths is None else self.widths))
        return [self.cells[start:end] for start, end in zip([0, *ends], ends, strict=False)]

    def without_first(self) -> "Rows":
        widths = None if self.widths is None else self.widths[1:]
        return Rows(self.cells[self.width :], self.width, self.lines[1:], widths)


def split(text: str, separator: str, quoted: bool, report: Report) -> Rows | None:
    """Split text into rows, skipping blank lines.

    If `quoted`, remove the quotes around cells. All other characters are kept.

    Returns:
        The rows, or None if there are none. Lines whose quotes are wrong are reported, and read without quotes.
    """
    return split_plain(text, separator, quoted) or _split_patiently(text, separator, quoted, report)


def split_plain(text: str, separator: str, quoted: bool = True) -> Rows | None:
    """Split text that has no quotes or blank lines and whose rows are equally long. Return None for any other text."""
    if quoted and '"' in text:
        return None
    cells, separators, count = list[str](), set[int](), 0
    for piece in pieces(text.rstrip("\n")):
        lines = piece.split("\n")
        separators.update(map(str.count, lines, repeat(separator)))
        if "" in lines or len(separators) > 1 or max(map(len, lines)) > csv.field_size_limit():
            return None
        cells += separator.join(lines).split(separator)
        count += len(lines)
    return Rows(cells, separators.pop() + 1, range(1, count + 1))


def _split_patiently(text: str, separator: str, quoted: bool, report: Report) -> Rows | None:
    """Split text with quotes, blank lines or rows of different lengths.

    After a line whose quotes are wrong, read on with the next line. After several such lines, no quotes are removed.
    """
    found = _Split([], array("q"), array("q"))
    start, line = 0, 1
    for attempt in range(RESUMED + 1):
        rest = text[start:] if start else text
        broken = found.read(rest, line, separator, quoted and attempt < RESUMED, report)
        if broken is None:
            break
        for _ in range(broken - line):
            start = text.index("\n", start) + 1
        end = text.find("\n", start)
        found.add(text[start : end if end >= 0 else len(text)].replace('"', "").split(separator), broken)
        start, line = end + 1, broken + 1
        if end < 0:
            break
    if not found.cells:
        report.error("empty-file")
        return None
    widths = found.widths
    return Rows(found.cells, widths[0], found.lines, widths if len(set(widths)) > 1 else None)


@dataclass(frozen=True, slots=True)
class _Split:
    """The rows that have been read: all cells, and each row's number of cells and first line."""

    cells: list[str]
    widths: "array[int]"
    lines: "array[int]"

    def add(self, row: list[str], line: int) -> None:
        self.cells.extend(row)
        self.widths.append(len(row))
        self.lines.append(line)

    def read(self, text: str, line: int, separator: str, quoted: bool, report: Report) -> int | None:
        """Read rows, the first one from this line. Report the first line with wrong quotes, and return its number."""
        reader = csv.reader(
            io.StringIO(text, newline=""),
            delimiter=separator,
            strict=True,
            quoting=csv.QUOTE_MINIMAL if quoted else csv.QUOTE_NONE,
        )
        first = line
        try:
            for row in reader:
                if row:
                    self.add(row, line)
                line = reader.line_num + first
        except csv.Error as error:
            code = next((code for start, code in CSV_ERRORS.items() if str(error).startswith(start)), "quote-misplaced")
            report.error(code, line=line)
            return line
        return None


def is_header(first: Sequence[str], names: Sequence[str]) -> bool:
    """Return whether any cell in the first line is a column name, ignoring case and spaces."""
    known = {name.casefold() for name in names}
    return any(cell.strip().casefold() in known for cell in first)


def separator_of(text: str, separator: str, names: Sequence[str], width: int, report: Report) -> str:
    """Return the separator that the first line uses. If it is not the expected one, report an error.

    Another separator is recognized if it splits the line into `width` cells, or if several of them are column names.
    """
    line = text.lstrip("\n")[:FIRST_LINE].split("\n", 1)[0]
    if width < 2 or separator in line or line.startswith(("{", "[")):  # JSON has no separator
        return separator
    known = {name.casefold() for name in names}
    for other, name in SEPARATORS.items():
        cells = [cell.strip(' "').casefold() for cell in LISTS.sub("[]", line).split(other)]
        if len(cells) == width or (other != " " and sum(cell in known for cell in cells) > 1):
            report.error(
                "wrong-separator", line=1, found=name, expected=SEPARATORS.get(separator, shown_cell(separator))
            )
            return other
    return separator


def find_columns(
    header: Sequence[str], needed: Sequence[str], separator: str, extra_columns: str, reading: Reading
) -> dict[str, int] | None:
    """Return the index of each needed column in a header.

    If a column is missing or repeated, report it. Return None only if no other column could be meant.
    """
    wanted = set(needed)
    counts = Counter(cell for cell in header if cell in wanted)
    lacking = [name for name in needed if name not in counts]
    twice = sorted(name for name in wanted if counts[name] > 1)
    further = [cell for cell in header if cell not in wanted]
    if twice:
        reading.report.error("header-column-twice", line=1, places=tuple(twice), count=len(twice))
    meant = _columns_meant(lacking[:COLUMNS_COMPARED], further)
    if lacking == [*needed[:1]] and header[0] in INDEX_NAMES:
        reading.report.error("index-without-name", line=1, found=shown_cell(header[0]), expected=lacking[0])
        meant = {lacking[0]: header[0]}
    elif lacking:
        reading.report.error(
            "header-column-missing",
            line=1,
            found=shown(separator.join(header)),
            expected=separator.join(needed).replace("\t", r"\t"),
            suggestion=", ".join(f"{shown_cell(cell)} → {name}" for name, cell in meant.items()) or None,
            places=tuple(lacking),
            count=len(lacking),
        )
    elif further and reading.role == "run" and extra_columns != "ignore":
        severity: Severity = "error" if extra_columns == "reject" else "warning"
        if further == header[:1] and further[0] in INDEX_NAMES:
            reading.report.add(severity, "index-column", line=1, found=shown_cell(further[0]))
            return indexes_of(header, needed)
        places = tuple(map(shown, further[: reading.report.listed]))
        reading.report.add(
            severity, "extra-columns", line=1, expected=", ".join(needed), count=len(further), places=places
        )
    if not meant and len(lacking) == len(further) == 1:
        meant = {lacking[0]: further[0]}  # only to find more problems
    if len(meant) < len(lacking):
        return None
    indexes = indexes_of(header, [meant.get(name, name) for name in needed])
    return {name: indexes[meant.get(name, name)] for name in needed}


def indexes_of(header: Sequence[str], names: Iterable[str]) -> dict[str, int]:
    """Return the index of the first column with each name."""
    wanted = list(names)
    first = dict.fromkeys(wanted, -1)
    for at, cell in enumerate(header):
        if first.get(cell) == -1:
            first[cell] = at
    return {name: first[name] for name in wanted}


def _columns_meant(lacking: Sequence[str], further: Sequence[str]) -> dict[str, str]:
    """Map missing columns to other columns with a similar name. No column is meant twice."""
    meant: dict[str, str] = {}
    for name in lacking:
        cell = nearest(name, [cell for cell in further[:COLUMNS_COMPARED] if cell not in meant.values()])
        if cell is not None:
            meant[name] = cell
    return meant


def of_width(rows: Rows, width: int) -> tuple[Rows, list[list[str]]]:
    """Return the rows with `width` cells, and the cells of the others."""
    cells, lines, others, start = list[str](), array("q"), list[list[str]](), 0
    for own, line in zip(rows.widths or [rows.width] * len(rows), rows.lines, strict=True):
        row = rows.cells[start : start + own]
        start += own
        if own == width:
            cells += row
            lines.append(line)
        else:
            others.append(row)
    return Rows(cells, width, lines), others


def check_widths(rows: Rows, width: int, report: Report) -> bool:
    """Return whether all rows have `width` cells, and report those that do not."""
    if rows.widths is None and rows.width == width:
        return True
    problems = Problems(report)
    for cells, line in zip(rows.widths or [rows.width] * len(rows), rows.lines, strict=True):
        if cells != width:
            found = f"{cells} cells" if cells != 1 else "1 cell"
            problems.add("ragged-row", f"line {line}: {found}", line=line, found=found, expected=f"{width} cells")
    return not problems.report()
