"""Reading of annotators' votes from a JSON file or a table.

JSON: an object that maps item ids to lists of votes. Each vote is a label or a list of labels; null and an empty list
mean no vote. With a `field`, the object maps item ids to objects whose key of that name holds the list, as in the EXIST
data. Annotated spans use the same form, with a list of offsets as each annotator's vote.

Table (`.csv`: commas, any other extension: tabs): the columns `item`, `annotator` and `label`, with one row per label.
An empty label is not a vote.
"""

import csv
import json
from pathlib import Path
from typing import Any

from scoring.gold.votes import Vote

COLUMNS = ("item", "annotator", "label")


class VotesError(Exception):
    """The votes file cannot be read. The message explains why."""


def read_votes(path: Path, field: str | None = None, content: bytes | None = None) -> dict[str, list[Vote]]:
    """Read the votes by item id. In a table, each annotator has an index, and missing votes are empty.

    Args:
        content: the content of the file, used instead of reading the file.

    Raises:
        VotesError: the file has another form. The message contains the item or line.
    """
    try:
        text = (path.read_bytes() if content is None else content).decode("utf-8-sig")
        return _from_json(text, field) if path.suffix == ".json" else _from_table(text, path.suffix == ".csv")
    except UnicodeDecodeError:
        raise VotesError("it is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError, csv.Error) as error:
        raise VotesError(str(error)) from None


def read_marks(path: Path, field: str | None = None) -> dict[str, list[list[int]]]:
    """Read the offsets marked by each annotator, by item id.

    Raises:
        VotesError: the file has another form. The message contains the item.
    """
    try:
        listed = _lists_by_item(path.read_text(encoding="utf-8-sig"), field)
    except UnicodeDecodeError:
        raise VotesError("it is not UTF-8") from None
    except (json.JSONDecodeError, RecursionError) as error:
        raise VotesError(str(error)) from None
    return {item: [_offsets(item, rater) for rater in raters] for item, raters in listed.items()}


def _from_json(text: str, field: str | None) -> dict[str, list[Vote]]:
    return {item: [_vote(item, vote) for vote in votes] for item, votes in _lists_by_item(text, field).items()}


def _lists_by_item(text: str, field: str | None) -> dict[str, list[Any]]:
    document = json.loads(text, object_pairs_hook=_object)
    if not isinstance(document, dict):
        raise VotesError("expected an object of items")
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


def _from_table(text: str, commas: bool) -> dict[str, list[Vote]]:
    rows = csv.reader(text.splitlines(), delimiter="," if commas else "\t", strict=True)
    header = next(rows, [])
    if missing := [name for name in COLUMNS if name not in header]:
        raise VotesError(f"the column {missing[0]} is missing")
    item_at, annotator_at, label_at = (header.index(name) for name in COLUMNS)
    labels: dict[str, dict[str, list[str]]] = {}
    annotators: set[str] = set()
    for row in filter(None, rows):
        if len(row) != len(header):
            raise VotesError(f"line {rows.line_num}: found {len(row)} cells, expected {len(header)}")
        given = labels.setdefault(row[item_at], {}).setdefault(row[annotator_at], [])
        given.extend([row[label_at]] if row[label_at] else [])
        annotators.add(row[annotator_at])
    places = sorted(annotators)
    return {item: [by_annotator.get(name, []) for name in places] for item, by_annotator in labels.items()}
