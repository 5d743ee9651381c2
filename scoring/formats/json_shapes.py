"""JSON of another shape than a list of objects: recognize it, report it with an example, and convert it.

The converted records are read like those of a valid file, so that their other problems are reported, too.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

from scoring.formats.delimited import SEPARATORS
from scoring.formats.json_text import (
    MISSING,
    RepeatedKeys,
    parse,
    parse_good_lines,
    parse_lines,
    parse_lists,
    parse_sequence,
)
from scoring.formats.reading import Reading, shown
from scoring.reports.nearest import nearest
from scoring.reports.problems import Report

KEYS_COMPARED = 50  # maximum number of keys compared with a missing one

JSON_KEY = re.compile(r"""["']\s?:""")  # the end of a key, in text that may be damaged JSON
SEVERAL_LISTS = {False: "json-several-lists", True: "json-list-for-lines"}  # by whether lists are not allowed at all
DEPTH = 3  # levels of objects around the list

Record = dict[str, Any]


def parse_document(text: str, lines: bool, id_key: str, reading: Reading, example: str) -> object:
    """Parse a list or, if `lines`, one object per line. If the file has the other layout, report it and parse that.

    If it is not JSON, report the problem and return MISSING. If only a few lines are not, these are MISSING.
    `example` is the beginning of a valid file.
    """
    report = reading.report
    start = text.lstrip()[:1]
    if lines and start == "[" and (listed := parse(text, Report())) is not MISSING:
        report.error("json-list-for-lines", line=1)
        return listed
    trial = Report()
    document = parse_lines(text, trial) if lines else parse(text, trial)
    if start == "[" and (lines or document is MISSING) and len(parts := parse_lists(text)) > 1:
        report.error(SEVERAL_LISTS[lines], line=1, found=str(len(parts)), expected=example)
        return list(chain.from_iterable(parts))
    if document is MISSING and start == "{":
        sequence, has_commas, is_indented = parse_sequence(text)
        by_line = "json-lines-indented" if is_indented else "json-lines-commas" if has_commas else None
        code = by_line if lines else "json-lines-for-list"
        if sequence and code is not None:
            report.error(code, line=1)
            return sequence
    if lines and document is MISSING:
        found = Report()
        documents, broken = parse_good_lines(text, found)
        if documents:
            report.extend(found)
            reading.other_ids.extend(_ids_in(broken, id_key))
            return documents
    if document is MISSING and _is_table(text):
        report.error("table-for-json", line=1, expected=example)
        return MISSING
    report.extend(trial)
    return document


def _is_table(text: str) -> bool:
    """Return whether a text that is not JSON has several lines, and cells in the first one."""
    first, *others = text.strip().split("\n", 2)
    is_json = first.startswith(("{", "[")) or JSON_KEY.search(first)
    return not is_json and bool(others) and any(separator in first for separator in SEPARATORS if separator != " ")


def _ids_in(broken: Sequence[str], id_key: str) -> list[str]:
    """Return the ids in lines that are not JSON, which are not missing."""
    wanted = re.compile(re.escape(json.dumps(id_key, ensure_ascii=False)) + r'\s{0,5}:\s{0,5}"([^"\\]{1,200})"')
    return [found[1] for line in broken if (found := wanted.search(line))]


def as_records(
    document: object, keys: Sequence[str], constants: Mapping[str, str], reading: Reading, example: str
) -> object:
    """Convert an object that contains the records in some other way to a list, and report it. Return others unchanged.

    Args:
        keys: the keys of the id and the value.
        constants: the keys and values that all records must have.
        example: the beginning of a valid file.
    """
    inner = _joined(document, reading) if isinstance(document, list) else document
    if not isinstance(inner, dict) or isinstance(inner, RepeatedKeys):
        return document
    if keys[0] in inner and not isinstance(inner[keys[0]], dict | list):
        return document
    has_ids = reading.items is not None and any(item in reading.items for item in inner)
    of_ids = _by_id(inner, keys, reading)
    ways = [_columns(inner, keys), of_ids] if has_ids else [_wrapped(inner), _columns(inner, keys), of_ids]
    for code, found, records in ways:
        if records:
            reading.report.error(code, found=found, expected=example)
            return [{**constants, **record} for record in records] if code == "json-by-id" else records
    return document


Converted = tuple[str, str | None, list[Record]]


def _joined(entries: Sequence[object], reading: Reading) -> object:
    """Return a single entry, or one object if each entry is an object with only an item's id as its key."""
    if len(entries) == 1:
        return entries[0]
    joined: Record = {}
    for entry in entries:
        if not isinstance(entry, dict) or len(entry) != 1 or reading.items is None or next(iter(entry)) in joined:
            return None
        joined.update(entry)
    return joined if any(item in (reading.items or ()) for item in joined) else None


def _wrapped(document: Record, depth: int = 0) -> Converted:
    """Return the only list of objects in an object such as `{"predictions": [{"id": …}]}`, or an empty list."""
    if len(document) == 1 and depth < DEPTH and isinstance(inner := next(iter(document.values())), dict):
        code, found, records = _wrapped(inner, depth + 1)
        return code, f"{shown(next(iter(document)))}.{found}" if found else None, records
    lists = [(key, value) for key, value in document.items() if isinstance(value, list) and value]
    is_one = len(lists) == 1 and all(isinstance(entry, dict) for entry in lists[0][1])
    return "json-wrapped", shown(lists[0][0]) if is_one else None, lists[0][1] if is_one else []


def _columns(document: Record, keys: Sequence[str]) -> Converted:
    """Return the rows of a table such as `{"id": ["1", "2"], "value": ["A", "B"]}`, in any layout of pandas."""
    columns = document
    if {"columns", "data"} <= document.keys() and isinstance(document["columns"], list):
        rows = document["data"] if isinstance(document["data"], list) else []
        names = list(map(str, document["columns"]))
        if set(keys) <= set(names) and all(isinstance(row, list) and len(row) == len(names) for row in rows):
            return "json-columns", "columns", [dict(zip(names, row, strict=True)) for row in rows]
    if all(isinstance(entry, dict) and keys[0] in entry for entry in document.values()):
        return "json-columns", "rows", list(document.values())
    if not set(keys) <= document.keys():
        return "json-columns", None, []
    cells = {name: list(one.values()) if isinstance(one, dict) else one for name, one in columns.items()}
    if not all(isinstance(one, list) for one in cells.values()) or len(set(map(len, cells.values()))) != 1:
        return "json-columns", None, []
    return "json-columns", "columns", [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]


def _by_id(document: Record, keys: Sequence[str], reading: Reading) -> Converted:
    """Return the records in an object with an entry for each id, such as `{"1": "A", "2": "B"}`."""
    if reading.items is not None and not any(item in reading.items for item in document):
        return "json-by-id", None, []
    if reading.items is None and keys[1] in document:
        return "json-by-id", None, []
    inner = keys[1]
    records = [
        {keys[0]: item, inner: entry[inner] if isinstance(entry, dict) and inner in entry else entry}
        for item, entry in document.items()
    ]
    return "json-by-id", None, records


def names_of_keys(entries: Sequence[object], needed: Sequence[str], reading: Reading) -> dict[str, str]:
    """Map the keys of the first entry to the needed keys that they stand for, such as `ID` to `id`.

    A single other key stands for the value if only the value is missing.
    """
    first = next((entry for entry in entries if isinstance(entry, dict)), {})
    lacking = [key for key in needed if key not in first]
    others = [key for key in first if key not in needed][:KEYS_COMPARED]
    names: dict[str, str] = {}
    for key in lacking:
        same = [other for other in others if other.strip().casefold() == key.casefold()]
        near = same[0] if same else nearest(key, others)
        if near is not None and near not in names:
            names[near] = key
    if needed[0] in lacking and needed[0] not in names.values():
        ids = [other for other in others if other not in names and _is_item(first[other], reading)]
        names.update({ids[0]: needed[0]} if len(ids) == 1 else {})
    left, rest = [key for key in lacking if key not in names.values()], [one for one in others if one not in names]
    left = [key for key in left if key in needed[:2]] or left  # fixed values can be missing next to misnamed keys
    if len(left) == len(rest) == 1 and (left[0] != needed[0] or _is_item(first[rest[0]], reading)):
        names[rest[0]] = left[0]
    return names


def _is_item(value: object, reading: Reading) -> bool:
    return reading.items is not None and isinstance(value, str | int) and str(value) in reading.items


def example_of(record: Record, lines: bool) -> str:
    """Return the beginning of a valid file for messages."""
    text = json.dumps(record, ensure_ascii=False)
    return text if lines else f"[{text}, …]"
