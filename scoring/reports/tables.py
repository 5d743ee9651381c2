"""Tables as text for a terminal, with four decimals, and as CSV, at full precision. Undefined cells are empty."""

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

CellValue = str | int | float | None


@dataclass(frozen=True, slots=True)
class TextTable:
    """A title, column headings and rows of cells. The first column holds the row names."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[CellValue, ...], ...]

    def as_text(self) -> str:
        """Return aligned columns, with names left-aligned and numbers right-aligned."""
        lines = [list(self.head), *([_shown(cell) for cell in row] for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        body = ("  ".join(_aligned(line, widths)).rstrip() for line in lines)
        return "\n".join([self.title, *body])

    def as_csv(self) -> str:
        """Return the table as CSV without the title, with numbers at full precision."""
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([self.head, *self.rows])
        return text.getvalue()


def square(title: str, names: Sequence[str], cells: Iterable[Sequence[CellValue]]) -> TextTable:
    """Create a table whose rows and columns have the same names."""
    return TextTable(title, ("", *names), tuple((name, *row) for name, row in zip(names, cells, strict=True)))


def _shown(cell: CellValue) -> str:
    if isinstance(cell, float):
        return f"{cell:.4f}"
    return "" if cell is None else str(cell)


def _aligned(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    first, *others = zip(line, widths, strict=True)
    return [first[0].ljust(first[1]), *(text.rjust(width) for text, width in others)]
