"""Columns of a table of items: the id's columns, and one more, e.g. `text` or that of slices."""

import csv
from collections.abc import Sequence
from pathlib import Path

from scoring.definition import Track
from scoring.definition.files import Files, each_file


def id_columns(track: Track) -> tuple[str, ...]:
    """The columns or the key of the id in a track's run files; its texts use the same names."""
    names = track.format.options.get("id", "id")
    return (names,) if isinstance(names, str) else tuple(names)


class TextsError(Exception):
    """The table of items cannot be read; the text says why."""


def read_texts(
    path: Path, id_columns: Sequence[str], column: str = "text", files: Files | None = None
) -> dict[str, str]:
    """Texts by item id, or the values of another column. Ids of several columns are joined by `_`, as in the runs.

    With a path for each of a run's `files`, all of them are read.

    A `.csv` file has commas and quotes, any other tabs and no quotes. Other columns are ignored.

    Raises:
        TextsError: a column is missing, a row is ragged, an id is repeated, or the file is missing or not UTF-8.
    """
    return {
        prefix + item: text
        for prefix, own in each_file(files, path)
        for item, text in _read_texts(own, id_columns, column).items()
    }


def _read_texts(path: Path, id_columns: Sequence[str], column: str) -> dict[str, str]:
    dialect = {"delimiter": ","} if path.suffix == ".csv" else {"delimiter": "\t", "quoting": csv.QUOTE_NONE}
    texts: dict[str, str] = {}
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = csv.reader(file, **dialect)
            header = next(rows, [])
            if missing := [name for name in (*id_columns, column) if name not in header]:
                raise TextsError(f"{path.name} has no column {missing[0]}; it has {', '.join(header) or 'nothing'}")
            places, text = [header.index(name) for name in id_columns], header.index(column)
            for row in filter(None, rows):
                if len(row) != len(header):
                    raise TextsError(f"{path.name}, line {rows.line_num}: {len(row)} cells, not {len(header)}")
                item = "_".join(row[place] for place in places)
                if item in texts:
                    raise TextsError(f"{path.name}, line {rows.line_num}: the id {item} a second time")
                texts[item] = row[text]
    except (csv.Error, UnicodeDecodeError) as error:
        raise TextsError(f"{path.name}: {error}") from None
    except OSError as error:
        raise TextsError(f"{path.name}: {error.strerror}") from None
    return texts
