"""How large a run may be for each of its items: generous, and still a bound on what a hostile file costs."""

from dataclasses import dataclass

from scoring import limits
from scoring.definition import FormatSpec


@dataclass(frozen=True, slots=True)
class Size:
    """Of each item: lines or objects, cells or values, and bytes."""

    entries: int
    cells: int
    bytes: int


def size_of_columns(spec: FormatSpec) -> Size:
    """With an answer for each class or column."""
    columns = len(spec.options.get("classes") or spec.options.get("columns") or ())
    return Size(
        entries=limits.ENTRIES_AN_ITEM,
        cells=limits.CELLS_AN_ITEM + 4 * columns,
        bytes=limits.BYTES_AN_ITEM + limits.CELL_BYTES * columns,
    )
