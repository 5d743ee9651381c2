"""Ranked documents as lists of ids, best first: JSON, or a table with one list per row."""

import re
from collections.abc import Callable, Sequence
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
from scoring.formats.json_options import RECORD_OPTIONS, shape_of, write_records
from scoring.formats.json_records import read_records
from scoring.formats.layout import LAYOUT_OPTIONS, read_table, suffix_by_file, write_table
from scoring.formats.reading import Problems, Reading, check_ids, shown, shown_cell

NO_LIST = "documents-not-a-list"
_DOCUMENT = r"""\s*(?:"[^"]*"|'[^']*'|[0-9]+)\s*"""
LIST = re.compile(rf"\s*\[(?:{_DOCUMENT}(?:,{_DOCUMENT})*|\s*)\]\s*")
ENTRY = re.compile(r""""([^"]*)"|'([^']*)'|([0-9]+)""")
OPTIONS = (
    Key(
        "file", one_of("json", "table"), "Kind of file: JSON, or a table with the lists in one of its columns.", "json"
    ),
    *(replace(one, when=("file", "json")) for one in RECORD_OPTIONS),
    Key("value", WORD, "Column that contains the lists.", "documents", when=("file", "table")),
    *(replace(one, when=("file", "table")) for one in LAYOUT_OPTIONS),
    Key("depth", WHOLE, "Maximum number of documents per query.", 1000),
)


def size(spec: FormatSpec) -> Size:
    depth = int(spec.options["depth"])
    return Size(limits.ENTRIES_AN_ITEM, cells=limits.CELLS_AN_ITEM + 2 * depth, bytes=limits.DOCUMENT_BYTES * depth)


def read(data: bytes, spec: FormatSpec, reading: Reading) -> Ranking | None:
    """Read ranked ids. In a gold file, they are relevant but unordered, and a single id does not need a list."""
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
    if reading.has_errors:
        return None
    lengths = np.fromiter(map(len, lists), np.int64, len(lists))
    starts = np.append(0, np.cumsum(lengths))
    ranks = np.arange(starts[-1]) - np.repeat(starts[:-1], lengths)
    scores = np.ones(len(ranks)) if reading.role == "gold" else -ranks.astype(np.float64)
    return Ranking(ids, [document for own in lists for document in own], scores, starts)


Place = Callable[[int], tuple[str, dict[str, Any]]]
"""Where a query is: its name for messages, and additional fields of a problem."""

Lists = tuple[list[str], list[list[str]], Place]
"""Queries, their documents, and where they are."""


def _of_json(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Lists | None:
    is_gold = reading.role == "gold"
    shape = shape_of(spec, None if is_gold else list[str | int], ["d7", "d2"])
    records = read_records(
        data,
        shape,
        reading,
        strings_in=lambda lists: sum(isinstance(document, str) for own in lists for document in own),
    )
    if records is None:
        return None
    lists = []
    for row, value in enumerate(records.values):
        own = [value] if is_gold and isinstance(value, str) else value
        right = isinstance(own, list) and all(map(_is_document, own))
        lists.append([one if isinstance(one, str) else str(one) for one in own] if right else [])
        if not right:
            records.report_value(row, NO_LIST, '["d7", "d2"]', problems)
    return records.ids, lists, lambda row: (records.name(row), {"item": records.name(row), "path": records.path(row)})


def _is_document(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool) and value >= 0)


def _of_table(data: bytes, spec: FormatSpec, reading: Reading, problems: Problems) -> Lists | None:
    name = spec.options["value"]
    table = read_table(data, spec.options, (name,), reading)
    if table is None:
        return None
    lists = []
    for cell, item, line in zip(table.column(name), table.ids, table.rows.lines, strict=True):
        is_list = LIST.fullmatch(cell) is not None
        is_one = reading.role == "gold" and not is_list and bool(cell.strip()) and not cell.lstrip().startswith("[")
        documents = ["".join(groups) for groups in ENTRY.findall(cell)] if is_list else []
        lists.append([cell.strip()] if is_one else documents)
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
    return table.ids, lists, lambda row: (f"line {lines[row]}", {"line": lines[row], "item": shown(table.ids[row])})


def _report_depth(lists: Sequence[list[str]], place: Place, depth: int, problems: Problems) -> None:
    for row, own in enumerate(lists):
        if len(own) > depth and not problems.has_counted("too-many-documents"):
            (name, fields), found = place(row), str(len(own))
            problems.add("too-many-documents", f"{name}: {found}", found=found, expected=str(depth), **fields)


def _report_twice(lists: Sequence[list[str]], place: Place, problems: Problems) -> None:
    for row, own in enumerate(lists):
        if len({*own}) == len(own):
            continue
        name, fields = place(row)
        seen = set[str]()
        for document in own:
            if document in seen and not problems.has_counted("document-twice"):
                problems.add("document-twice", f"{name}: {shown(document)}", found=shown(document), **fields)
            seen.add(document)


def write(answers: Ranking, spec: FormatSpec) -> str | bytes:
    """Write the best documents first, up to the allowed number. Break ties between scores as trec_eval does."""
    lists = [_best(answers, row)[: spec.options["depth"]] for row in range(len(answers.ids))]
    if spec.options["file"] == "json":
        return write_records(answers.ids, lists, spec)
    cells = [msgspec.json.encode(own).decode() for own in lists]
    return write_table(answers.ids, {spec.options["value"]: cells}, spec.options)


def _best(answers: Ranking, row: int) -> list[str]:
    own = slice(int(answers.starts[row]), int(answers.starts[row + 1]))
    pairs = zip(answers.scores[own].tolist(), answers.documents[own], strict=True)
    return [document for _, document in sorted(pairs, reverse=True)]


ID_LISTS = Format(
    "id-lists",
    "rankings",
    """Ranked documents as lists of ids, best first: `[{"id": "q1", "value": ["d7", "d2"]}]`, or a table with one """
    "list per row. Whole numbers need no quotes: `[7, 2]`. A gold file in this format lists the relevant documents. "
    "For graded relevance, use `trec-qrels`.",
    "file: table, id: post_id, value: preds, separator: tab, quotes: none, depth: 10",
    OPTIONS,
    read,
    write,
    suffix_by_file,
    size,
)
