"""Answers written as run files, in every format that can be read: what is read back is what was written."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from scoring.answers import Answers, Matrix, Ranking, Spans
from scoring.definition import FormatSpec, Track
from scoring.formats.layout import layout_of
from scoring.formats.trec import DEPTH

TAG = "agon"  # of the system, in the last field of a TREC run


def write_run(track: Track, answers: Answers, path: Path) -> None:
    """Write `answers` as a run file of the track, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = WRITERS[track.format.kind](answers, track.format)
    path.write_text(text, encoding="utf-8", newline="")


def suffix(track: Track) -> str:
    """What the names of a track's run files end in."""
    options = track.format.options
    if track.format.kind.startswith("table") or options.get("file") == "table":
        return ".tsv" if options.get("separator") == "\t" else ".csv"
    if track.format.kind.startswith("json") or options.get("file") == "json":
        return ".jsonl" if options.get("lines") else ".json"
    return ".txt"


def _json_labels(answers: Matrix, spec: FormatSpec) -> str:
    names = _names(answers)
    return _records(answers.ids, names if spec.options.get("multi") else (own[0] for own in names), spec)


def _json_soft(answers: Matrix, spec: FormatSpec) -> str:
    shares = (
        {name: share for name, share, lacks in zip(answers.columns, row, absent, strict=True) if not lacks}
        for row, absent in zip(answers.values.tolist(), _absent(answers), strict=True)
    )
    return _records(answers.ids, shares, spec)


def _table(answers: Matrix, spec: FormatSpec) -> str:
    """Empty where there is no answer. The group of each item stands last, empty too where the answers have none."""
    headers: Sequence[str] = spec.options.get("headers") or answers.columns
    rows = zip(answers.values.tolist(), _absent(answers), strict=True)
    cells = [["" if lacks else value for value, lacks in zip(row, absent, strict=True)] for row, absent in rows]
    columns: dict[str, Sequence[Any]] = dict(zip(headers, zip(*cells, strict=True), strict=True))
    if group := spec.options.get("group"):
        columns[group] = answers.extra.get(group, [""] * len(answers.ids))
    return _rows(answers.ids, columns, spec)


def _table_labels(answers: Matrix, spec: FormatSpec) -> str:
    between = spec.options.get("between", " ")
    return _rows(answers.ids, {spec.options.get("label", "label"): list(map(between.join, _names(answers)))}, spec)


def _spans(answers: Spans, spec: FormatSpec) -> str:
    """Spans as the format has them: offset by offset, or as pairs of where each begins and ends."""
    options = spec.options
    lists: list[list[Any]] = [
        answers.offsets(row)
        if options.get("spans", "offsets") == "offsets"
        else [[begin, end - (options.get("end") == "inclusive")] for begin, end in answers.pairs(row)]
        for row in range(len(answers.ids))
    ]
    file = options.get("file", "plain")
    if file == "json":
        return _records(answers.ids, lists, spec)
    if file == "plain":
        return "".join(f"{item}\t{json.dumps(own)}\n" for item, own in zip(answers.ids, lists, strict=True))
    if options.get("spans") != "rows":
        return _rows(answers.ids, {options["value"]: list(map(json.dumps, lists))}, spec)
    rows = [(item, *pair) for item, own in zip(answers.ids, lists, strict=True) for pair in own or [("", "")]]
    ids, starts, stops = zip(*rows, strict=True)
    return _rows(ids, {options["start"]: starts, options["stop"]: stops}, spec)


def _trec_run(answers: Ranking, spec: FormatSpec) -> str:
    """The best documents first, as many as a run may have; of equal ones the order that trec_eval gives them."""
    depth = spec.options.get("depth", DEPTH)
    lines = []
    for item, documents in zip(answers.ids, _documents(answers), strict=True):
        best = sorted(documents, key=lambda document: (document[1], document[0]), reverse=True)[:depth]
        lines += [f"{item} Q0 {name} {rank} {score} {TAG}\n" for rank, (name, score) in enumerate(best, 1)]
    return "".join(lines)


def _judgements(answers: Ranking, _: FormatSpec) -> str:
    pairs = zip(answers.ids, _documents(answers), strict=True)
    return "".join(f"{item} 0 {name} {score:.0f}\n" for item, documents in pairs for name, score in documents)


def _documents(answers: Ranking) -> Iterator[list[tuple[str, float]]]:
    scored = list(zip(answers.documents, answers.scores.tolist(), strict=True))
    return (scored[start:stop] for start, stop in pairwise(answers.starts.tolist()))


def _names(answers: Matrix) -> list[list[str]]:
    """The labels of each item."""
    return [
        [name for name, holds in zip(answers.columns, row, strict=True) if holds] for row in answers.values.tolist()
    ]


def _absent(answers: Matrix) -> list[list[bool]]:
    absent: list[list[bool]] = (
        np.zeros(answers.values.shape, bool) if answers.absent is None else answers.absent
    ).tolist()
    return absent


def _records(ids: Sequence[str], values: Iterable[Any], spec: FormatSpec) -> str:
    """A JSON object an item: in a list, or each in its line."""
    id_key, value_key = spec.options.get("id", "id"), spec.options.get("value", "value")
    constants = spec.options.get("constants", {})
    records = ({**constants, id_key: item, value_key: value} for item, value in zip(ids, values, strict=True))
    lines = [json.dumps(record, ensure_ascii=False) for record in records]
    return "\n".join([*lines, ""]) if spec.options.get("lines") else "[\n" + ",\n".join(lines) + "\n]\n"


def _rows(ids: Sequence[str], columns: Mapping[str, Sequence[Any]], spec: FormatSpec) -> str:
    """A line an item. An id of several columns is taken apart from the right: only its first part may hold `_`."""
    layout = layout_of(spec.options)
    parts = zip(*(item.rsplit("_", len(layout.id) - 1) for item in ids), strict=True)
    known = {**dict(zip(layout.id, parts, strict=True)), **columns}
    order = layout.order or tuple(known)
    text = io.StringIO()
    writer = csv.writer(text, delimiter=layout.separator, lineterminator="\n")
    if layout.header == "required":
        writer.writerow(order)
    writer.writerows(zip(*(known[name] for name in order), strict=True))
    return text.getvalue()


WRITERS: Mapping[str, Callable[[Any, FormatSpec], str]] = {
    "json-labels": _json_labels,
    "json-soft": _json_soft,
    "table": _table,
    "table-labels": _table_labels,
    "table-soft": _table,
    "spans": _spans,
    "trec-run": _trec_run,
    "trec-qrels": _judgements,
}
