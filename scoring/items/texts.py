"""Read an item table: its id columns and one other column, such as `text` or a slice column."""

import csv
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TextIO

from scoring.definition import Track
from scoring.definition.files import Files, each_file

SEPARATORS = ",;\t"
ASCII_BLANKS = re.compile(r"[ \t\n\r\f\v]+")
TABS: dict[str, Any] = {"delimiter": "\t", "quoting": csv.QUOTE_NONE}


def id_columns(track: Track) -> tuple[str, ...]:
    """Return the names of the id columns or id key in a track's run files. The track's texts use the same names."""
    names = track.format.options.get("id", "id")
    return (names,) if isinstance(names, str) else tuple(names)


def tokens_of(text: str) -> list[str]:
    """Split a text at spaces, tabs and line breaks. Other blanks, such as no-break spaces, may be part of a token."""
    return text.split() if text.isascii() else ASCII_BLANKS.sub(" ", text).strip(" ").split(" ")


class TextsError(Exception):
    """The item table cannot be read. The message explains why."""


def read_texts(
    path: Path, id_columns: Sequence[str], column: str = "text", files: Files | None = None
) -> dict[str, str]:
    """Map item ids to texts, or to the values of a different column.

    Ids from several columns are joined by `_`, as in runs.

    If there is a path for each of a run's `files`, all of them are read. `.csv` files use quotes and commas, or
    semicolons or tabs if the header does. Other files use tabs and no quotes. Additional columns are ignored.

    Raises:
        TextsError: a column is missing, a row has too few or too many cells, an id is repeated, or the file is missing
            or not UTF-8.
    """
    tables = ((prefix, _read_texts(own, id_columns, column)) for prefix, own in each_file(files, path))
    return {prefix + item: text for prefix, table in tables for item, text in table.items()}


def _dialect(file: TextIO) -> dict[str, Any]:
    """Return the options for reading a file with quotes. Its header determines the separator."""
    header = file.readline()
    file.seek(0)
    return {"delimiter": max(SEPARATORS, key=header.count)}


def _read_texts(path: Path, id_columns: Sequence[str], column: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, **_dialect(file) if path.suffix == ".csv" else TABS)
            header = next(rows, [])
            if missing := [name for name in (*id_columns, column) if name not in header]:
                known = ", ".join(header) or "nothing"
                raise TextsError(f"{path.name} has no column {missing[0]}; its columns are {known}")
            places, text = [header.index(name) for name in id_columns], header.index(column)
            for row in filter(None, rows):
                if len(row) != len(header):
                    raise TextsError(
                        f"{path.name}, line {rows.line_num}: found {len(row)} cells, expected {len(header)}"
                    )
                item = "_".join(row[place] for place in places)
                if item in texts:
                    raise TextsError(f"{path.name}, line {rows.line_num}: the id {item} appears a second time")
                texts[item] = row[text]
    except (csv.Error, UnicodeDecodeError) as error:
        raise TextsError(f"{path.name}: {error}") from None
    except OSError as error:
        raise TextsError(f"{path.name}: {error.strerror}") from None
    return texts
