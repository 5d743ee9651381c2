"""Ranked documents as lists of ids, best first: JSON, or a table with a list in each row."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np

from scoring import limits
from scoring.answers import Ranking
from scoring.definition import FormatSpec
from scoring.definition.keys import Key
from scoring.definition.kinds import WHOLE, WORD, one_of
from scoring.formats.format import Format, Size
from scoring.formats.json_records import RECORD_OPTIONS, read_records, records_suffix, shape_of, write_records
from scoring.formats.json_text import MISSING, in_json
from scoring.formats.layout import LAYOUT_OPTIONS, read_table, table_suffix, write_table
from scoring.formats.reading import Problems, Reading, check_ids, shown, shown_cell

NO_LIST = "documents-not-a-list"
_QUOTED = r"""\s*(?:"[^"]*"|'[^']*')\s*"""
LIST = re.compile(rf"\s*\[(?:{_QUOTED}(?:,{_QUOTED})*|\s*)\]\s*")
ENTRY = re.compile(r""""([^"]*)"|'([^']*)'""")
OPTIONS = (
    Key("file", one_of("json", "table"), "JSON, or a table with the list in one of its columns.", "json"),
    *(replace(one, when=("file", "json")) for one in RECORD_OPTIONS),
    Key("value", WORD, "The column of the lists.", "documents", when=("file", "table")),
    *(replace(one, when=("file", "table")) for one in LAYOUT_OPTIONS),
    Key("depth", WHOLE, "How many documents a query may have.", 1000),
)


def size(spec: FormatSpec) -> Size:
    """The greatest size of a run, for each query."""
    depth = int(spec.options["depth"])
    return Size(limits.ENTRIES_AN_ITEM, cells=limits.CELLS_AN_ITEM + 2 * depth, bytes=limits.DOCUMENT_BYTES * depth)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read ranked ids. In a gold file they are the relevant documents, in any order; one may be without a list."""
    errors_before = len(reading.report.errors)
    problems = Problems(reading.report)
    found = (_of_json if spec.options["file"] == "json" else _of_table)(data, spec, reading, problems)
    if found is None:
        problems.report()
        return None
    ids, lists, place = found
    if reading.role == "run":
        _report_depth(lists, place, spec.options["depth"], problems)
    _report_twice(lists, place, problems)
    problems.report()
    check_ids(ids, reading)
    if len(reading.report.errors) > errors_before:
        return None
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    starts = np.append(0, np.cumsum(lengths))
    ranks = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    scores = np.ones(len(ranks)) if reading.role == "gold" else -ranks.astype(np.float64)
    return Ranking(ids, [document for own in lists for document in own], scores, starts)


Lists = tuple[list[str], list[list[str]], Callable[[int], str]]  # queries, documents, how messages name a query


def _of_json(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Lists | None:
    is_gold = reading.role == "gold"
    shape = shape_of(spec, None if is_gold else list[str])
    records = read_records(data, shape, reading, strings_in=lambda values: sum(map(len, values)))
    if records is None:
        return None
    names = records.places or [shown(item) for item in records.ids]
    if records.typed:
        return records.ids, records.values, names.__getitem__
    lists = []
    for row, value in enumerate(records.values):
        own = [value] if is_gold and isinstance(value, str) else value
        right = isinstance(own, list) and all(isinstance(one, str) for one in own)
        lists.append(own if right else [])
        if not right and value is not MISSING and not problems.has_counted(NO_LIST):
            text = in_json(value)
            problems.add(
                NO_LIST,
                f"{names[row]}: {text}",
                path=records.path(row),
                item=names[row],
                found=text,
                expected='["d7", "d2"]',
            )
    return records.ids, lists, names.__getitem__


def _of_table(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Lists | None:
    name = spec.options["value"]
    table = read_table(data, spec.options, (name,), reading)
    if table is None:
        return None
    lists = []
    for cell, item, line in zip(table.column(name), table.ids, table.rows.lines, strict=True):
        is_list = LIST.fullmatch(cell) is not None
        is_one = reading.role == "gold" and not is_list and bool(cell.strip()) and not cell.lstrip().startswith("[")
        lists.append([cell.strip()] if is_one else [first or second for first, second in ENTRY.findall(cell)])
        if not is_list and not is_one and not problems.has_counted(NO_LIST):
            problems.add(
                NO_LIST,
                f"line {line}: {shown_cell(cell)}",
                line=line,
                item=shown(item),
                found=shown_cell(cell),
                expected="['d7', 'd2']",
            )
    lines = table.rows.lines
    return table.ids, lists, lambda row: f"line {lines[row]}"


def _report_depth(lists: Sequence[list[str]], place: Callable[[int], str], depth: int, problems: Problems) -> None:
    for row, own in enumerate(lists):
        if len(own) > depth and not problems.has_counted("too-many-documents"):
            name, found = place(row), str(len(own))
            problems.add("too-many-documents", f"{name}: {found}", item=name, found=found, expected=str(depth))


def _report_twice(lists: Sequence[list[str]], place: Callable[[int], str], problems: Problems) -> None:
    for row, own in enumerate(lists):
        if len({*own}) == len(own):
            continue
        seen = set[str]()
        for document in own:
            if document in seen and not problems.has_counted("document-twice"):
                problems.add(
                    "document-twice", f"{place(row)}: {shown(document)}", item=place(row), found=shown(document)
                )
            seen.add(document)


def write(answers: Ranking, spec: FormatSpec) -> str:
    """Write the best documents first, at most as many as allowed; equal ones in trec_eval's order."""
    lists = [_best(answers, row)[: spec.options["depth"]] for row in range(len(answers.ids))]
    if spec.options["file"] == "json":
        return write_records(answers.ids, lists, spec)
    cells = [msgspec.json.encode(own).decode() for own in lists]
    return write_table(answers.ids, {spec.options["value"]: cells}, spec.options)


def _best(answers: Ranking, row: int) -> list[str]:
    own = slice(int(answers.starts[row]), int(answers.starts[row + 1]))
    pairs = zip(answers.scores[own].tolist(), answers.documents[own], strict=True)
    return [document for _, document in sorted(pairs, reverse=True)]


def suffix(options: Mapping[str, Any]) -> str:
    """The extension of such files."""
    return records_suffix(options) if options["file"] == "json" else table_suffix(options)


ID_LISTS = Format(
    "id-lists",
    "rankings",
    """Ranked documents as lists of ids, best first: `[{"id": "q1", "value": ["d7", "d2"]}]`, or a table with such a """
    "list in each row. A gold file in this format lists the relevant documents; `trec-qrels` has degrees of relevance.",
    "file: table, id: post_id, value: preds, separator: tab, quotes: none, depth: 10",
    OPTIONS,
    read,
    write,
    suffix,
    size,
)
