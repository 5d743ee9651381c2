"""Read annotators' votes from a JSON file or a table.

JSON: an object that maps item ids to lists of votes. Each vote is a label or a list of labels; null and an empty list
mean no vote. If a `field` is given, the object maps item ids to objects that hold the list under this key, as in the
EXIST data. Annotated spans have the same structure, with a list of offsets as each annotator's vote.

Table (`.csv`: commas, any other extension: tabs): the columns `item`, `annotator` and `label`, with one row per label.
An empty label is not a vote. If the track's format is a table of zeros and ones, its columns can replace `label`, with
one row per vote. For spans, `label` is a list of offsets.
"""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scoring.gold.votes import Vote

COLUMNS = ("item", "annotator", "label")
NO_COLUMN = "(none)"  # label for a row of zeros


class VotesError(Exception):
    """The votes file cannot be read. The message explains why."""


def read_votes(
    path: Path, field: str | None = None, content: bytes | None = None, columns: Sequence[str] = ()
) -> dict[str, list[Vote]]:
    """Read the votes, keyed by item id. In a table, each item has one vote per annotator; missing ones are empty lists.

    Args:
        content: the content of the file, used instead of reading the file.
        columns: columns of zeros and ones that can replace `label` in a table. A row of zeros is read as NO_COLUMN.

    Raises:
        VotesError: the file has a different format. The message names the item or line.
    """
    with _errors():
        text = _text(path, content)
        if path.suffix == ".json":
            return {item: [_vote(item, vote) for vote in votes] for item, votes in _lists_by_item(text, field).items()}
        votes, annotators = _from_table(text, path.suffix == ".csv", columns)
    return {item: [given.get(name, []) for name in annotators] for item, given in votes.items()}


def read_named_votes(
    path: Path, columns: Sequence[str] = (), content: bytes | None = None
) -> dict[str, dict[str, Vote]]:
    """Read a table of votes, keyed by item id and then by the annotator's name. The arguments are as in `read_votes`.

    Raises:
        VotesError: the file is not a table, or has a different format. The message names the line.
    """
    if path.suffix == ".json":
        raise VotesError("a JSON file does not name annotators; use a table with the columns item, annotator and label")
    with _errors():
        votes, _annotators = _from_table(_text(path, content), path.suffix == ".csv", columns)
    return {item: dict(given) for item, given in votes.items()}


def read_marks(path: Path, field: str | None = None, content: bytes | None = None) -> dict[str, list[list[int]]]:
    """Read the offsets that each annotator marked, keyed by item id. In a table, annotators without a row are left out.

    Args:
        content: the content of the file, used instead of reading the file.

    Raises:
        VotesError: the file has a different format. The message names the item.
    """
    with _errors():
        text = _text(path, content)
        if path.suffix == ".json":
            listed = _lists_by_item(text, field)
        else:
            votes, annotators = _from_table(text, path.suffix == ".csv")
            listed = {
                item: [_joined(item, given[name]) for name in annotators if name in given]
                for item, given in votes.items()
            }
    return {item: [_offsets(item, rater) for rater in raters] for item, raters in listed.items()}


@contextmanager
def _errors() -> Iterator[None]:
    """Convert decoding and parsing errors to VotesError."""
    try:
        yield
    except UnicodeDecodeError:
        raise VotesError("it is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError, csv.Error) as error:
        raise VotesError(str(error)) from None


def _text(path: Path, content: bytes | None) -> str:
    return (path.read_bytes() if content is None else content).decode("utf-8-sig")


def _joined(item: str, lists: Sequence[str]) -> list[Any]:
    """Concatenate an annotator's lists of offsets, such as `[10, 11]`."""
    found = [json.loads(text) for text in lists]
    if not all(isinstance(offsets, list) for offsets in found):
        raise VotesError(f"item {item}: expected a list of offsets, such as [10, 11]")
    return [offset for offsets in found for offset in offsets]


def _lists_by_item(text: str, field: str | None) -> dict[str, list[Any]]:
    document = json.loads(text, object_pairs_hook=_object)
    if not isinstance(document, dict):
        raise VotesError("expected an object with an entry for each item")
    lists = {}
    for item, entry in document.items():
        listed = entry.get(field) if field and isinstance(entry, dict) else entry
        if not isinstance(listed, list):
            raise VotesError(f"item {item}: expected a list of votes" + (f" in {field}" if field else ""))
        lists[item] = listed
    return lists


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    document = dict(pairs)
    if len(document) < len(pairs):
        twice = next(name for place, (name, _) in enumerate(pairs) if name in dict(pairs[:place]))
        raise VotesError(f"{twice} appears twice")
    return document


def _vote(item: str, vote: Any) -> Vote:
    labels = [] if vote is None else [vote] if isinstance(vote, str) else vote
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise VotesError(f"item {item}: expected a label or a list of labels")
    return labels


def _offsets(item: str, marked: Any) -> list[int]:
    if not isinstance(marked, list) or not all(type(offset) is int and offset >= 0 for offset in marked):
        raise VotesError(f"item {item}: expected a list of offsets for each annotator")
    return marked


def _from_table(
    text: str, commas: bool, columns: Sequence[str] = ()
) -> tuple[dict[str, dict[str, list[str]]], list[str]]:
    """Return the labels, keyed by item and then annotator, and the names of all annotators."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter="," if commas else "\t", strict=True)
    header = next(rows, [])
    is_wide = bool(columns) and "label" not in header
    wanted = ("item", "annotator", *columns) if is_wide else COLUMNS
    if missing := [name for name in wanted if name not in header]:
        raise VotesError(f"the column {missing[0]} is missing")
    item_at, annotator_at, *label_at = (header.index(name) for name in wanted)
    labels: dict[str, dict[str, list[str]]] = {}
    annotators: set[str] = set()
    for row in filter(None, rows):
        if len(row) != len(header):
            raise VotesError(f"line {rows.line_num}: found {len(row)} cells, expected {len(header)}")
        cells = [row[place] for place in label_at]
        found = _ones(rows.line_num, columns, cells) if is_wide else [cell for cell in cells if cell]
        labels.setdefault(row[item_at], {}).setdefault(row[annotator_at], []).extend(found)
        annotators.add(row[annotator_at])
    return labels, sorted(annotators)


def _ones(line: int, columns: Sequence[str], cells: Sequence[str]) -> list[str]:
    """Return the columns that are 1, or NO_COLUMN if none are. If all cells are empty, there is no vote.

    Otherwise, an empty cell counts as 0.
    """
    if wrong := next((cell for cell in cells if cell not in ("0", "1", "")), None):
        raise VotesError(f"line {line}: {wrong!r} is not 0 or 1")
    if not any(cells):
        return []
    return [name for name, cell in zip(columns, cells, strict=True) if cell == "1"] or [NO_COLUMN]
