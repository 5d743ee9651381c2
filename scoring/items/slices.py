"""The slice of each item, from a column of the gold standard or of an item table."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Answers, Matrix
from scoring.definition import Track
from scoring.definition.files import Files
from scoring.definition.slices import Slicing
from scoring.items.texts import TextsError, id_columns, read_texts

MANY = 50  # maximum number of values in a column; if there were more, slices could identify individual items

Words = NDArray[np.object_]  # one string per item


@dataclass(frozen=True, slots=True)
class SliceColumn:
    """The source of a split's slices: a column of a file or, if `file` is None, of the gold standard."""

    rules: Slicing
    file: Path | None
    ids: tuple[str, ...]  # id columns of the file
    files: Files | None = None  # files of the track's runs

    def values(self, answers: Answers) -> Words:
        """Return the slice of each gold item, or an empty string for items without a slice.

        Raises:
            TextsError: the column cannot be read.
        """
        return _grouped(self._cells(answers), self.rules)

    def _cells(self, answers: Answers) -> Words:
        if self.rules.files:
            return np.array([item.partition("/")[0] for item in answers.ids], object)
        if self.file is None:
            return gold_column(answers, self.rules.column)
        known = read_texts(self.file, self.ids, self.rules.column, self.files)
        return np.array([known.get(item, "") for item in answers.ids], object)


def slice_columns(track: Track, split: str) -> dict[str, SliceColumn]:
    """Return the slice columns by name, leaving out those that have tables only for other splits."""
    files = track.files_in(split)
    return {
        name: SliceColumn(slicing, slicing.items.get(split), id_columns(track), files)
        for name, slicing in track.slices.items()
        if not slicing.items or split in slicing.items
    }


def gold_column(answers: Answers, column: str) -> Words:
    """Return a column of the gold standard as text."""
    known = [*answers.columns, *answers.extra] if isinstance(answers, Matrix) else []
    if not isinstance(answers, Matrix) or column not in known:
        raise TextsError(f"the gold has no column {column}; its columns are {', '.join(known) or 'none'}")
    if column in answers.extra:
        return np.array(answers.extra[column], object)
    place = answers.columns.index(column)
    cells: Words = np.array([_text(cell) for cell in answers.values[:, place].tolist()], object)
    if answers.absent is not None:
        cells[answers.absent[:, place]] = ""
    return cells


def file_cells(path: Path, ids: Sequence[str], column: str, files: Files | None = None) -> list[str]:
    """Return the distinct cells in a column of an item table."""
    return [*dict.fromkeys(read_texts(path, ids, column, files=files).values())]


def slices_of(cells: Sequence[str], rules: Slicing) -> list[str]:
    """Return the slices of these cells, sorted."""
    return sorted({*_grouped(np.array([*cells, ""], object), rules).tolist()} - {""})


def _text(cell: Any) -> str:
    return str(int(cell)) if isinstance(cell, bool) or cell == int(cell) else f"{cell:g}"


def _grouped(cells: Words, rules: Slicing) -> Words:
    if rules.at_least is not None:
        return np.array([_half(cell, rules.at_least, rules.column) for cell in cells.tolist()], object)
    merged = {value: name for name, values in rules.merge.items() for value in values}
    return np.array([merged.get(cell, cell) for cell in cells.tolist()], object) if merged else cells


def _half(cell: str, bound: float, column: str) -> str:
    if not cell:
        return ""
    try:
        return f">={bound:g}" if float(cell) >= bound else f"<{bound:g}"
    except ValueError:
        raise TextsError(
            f"{column} has the value {cell}, which is not a number, but at_least requires numbers"
        ) from None
