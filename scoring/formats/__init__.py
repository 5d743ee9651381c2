"""Run formats, one per module. To add a format, add a module and an entry in the table below."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from scoring import limits
from scoring.answers import AnswerKind, Answers
from scoring.definition import FormatSpec, Track
from scoring.definition.files import each_file
from scoring.formats.brat import BRAT
from scoring.formats.brat_relations import BRAT_RELATIONS
from scoring.formats.conll import CONLL
from scoring.formats.format import Format, Size
from scoring.formats.id_lists import ID_LISTS
from scoring.formats.json_labels import JSON_LABELS
from scoring.formats.json_soft import JSON_SOFT
from scoring.formats.reading import Reading, collector_paused
from scoring.formats.several import read_several
from scoring.formats.spans import SPANS, TYPED_SPANS
from scoring.formats.table import TABLE
from scoring.formats.table_labels import TABLE_LABELS
from scoring.formats.table_soft import TABLE_SOFT
from scoring.formats.table_texts import TABLE_TEXTS
from scoring.formats.texts import JSON_TEXTS, TEXT_LINES
from scoring.formats.trec import TREC_QRELS, TREC_RUN
from scoring.formats.tuples import TUPLES
from scoring.items.annotators import Annotators
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (
        JSON_LABELS,
        JSON_SOFT,
        TABLE,
        TABLE_LABELS,
        TABLE_SOFT,
        SPANS,
        TYPED_SPANS,
        CONLL,
        BRAT,
        BRAT_RELATIONS,
        TREC_RUN,
        TREC_QRELS,
        ID_LISTS,
        TEXT_LINES,
        JSON_TEXTS,
        TABLE_TEXTS,
        TUPLES,
    )
}


T = TypeVar("T")


def by_file(known: Mapping[str, T]) -> dict[str, dict[str, T]]:
    """Group a mapping keyed by item id into one mapping per file, keyed by the ids within the file."""
    found: dict[str, dict[str, T]] = {}
    for item, one in known.items():
        value, _, own = item.partition("/")
        found.setdefault(value, {})[own] = one
    return found


def answer_kind(track: Track) -> AnswerKind:
    return FORMATS[track.format.kind].answers


def size_of(spec: FormatSpec) -> Size:
    """Return the maximum size of a run per item."""
    return FORMATS[spec.kind].size(spec)


def write_run(track: Track, answers: Answers, path: Path) -> None:
    """Write `answers` as a run file for the track, creating missing folders."""
    if track.files is not None and track.files.field in str(path):
        for prefix, own in each_file(track.files, path):
            rows = [row for row, item in enumerate(answers.ids) if item.startswith(prefix)]
            ids = [answers.ids[row].removeprefix(prefix) for row in rows]
            write_run(replace(track, files=None), answers.select(np.array(rows, np.intp), ids), own)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    content = FORMATS[track.format.kind].write(answers, track.format)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def is_zipped(track: Track) -> bool:
    """Return whether a run for the track is a zip with a file for each item."""
    return FORMATS[track.format.kind].is_zip


def in_tokens(track: Track) -> bool:
    """Return whether the offsets in a track's runs count tokens instead of characters."""
    return FORMATS[track.format.kind].in_tokens


def has_texts(spec: FormatSpec) -> bool:
    """Return whether a file in this format repeats the annotated texts."""
    return FORMATS[spec.kind].has_texts(spec.options)


def suffix(track: Track) -> str:
    """Return the file extension of a track's runs."""
    return FORMATS[track.format.kind].suffix(track.format.options)


def read_run(
    track: Track,
    data: bytes,
    report: Report,
    *,
    items: ItemIndex | None = None,
    optional: Collection[str] = (),
    lenient: bool = False,
    text_lengths: Mapping[str, int] | None = None,
    texts: Mapping[str, str] | None = None,
    annotators: Annotators | None = None,
) -> Answers | None:
    """Read a run file. The rows keep the file's order.

    Args:
        items: the ids that the run must have. None disables the check of ids.
        optional: additional ids of which the run must have all or none.
        lenient: accept with warnings everything that the official evaluators accept: missing items or labels, labels
            outside the domain, inner classes, and incorrect sums. Unknown labels become additional columns.
        text_lengths: the number of characters in each item's text (tokens, for `conll`), to check offsets.
        texts: the items' texts, to compare them with the annotated texts in the file.
        annotators: the annotators of each item, for lists with one value per annotator.

    Returns:
        The answers, or None if an error was reported.
    """
    files = track.files
    if files is not None:
        lengths = None if text_lengths is None else by_file(text_lengths)
        own_texts = None if texts is None else by_file(texts)
        further = by_file(dict.fromkeys(optional))
        own_annotators = None if annotators is None else by_file(annotators)

        def read_part(value: str, content: bytes, own: Report) -> Answers | None:
            return read_run(
                replace(track, files=None),
                content,
                own,
                items=None if items is None else items.by_file.get(value, ItemIndex([])),
                optional=further.get(value, {}),
                lenient=lenient,
                text_lengths=None if lengths is None else lengths.get(value, {}),
                texts=None if own_texts is None else own_texts.get(value, {}),
                annotators=None if own_annotators is None else own_annotators.get(value, {}),
            )

        return read_several(data, files, report, read_part, needs_all=files.missing == "reject" and not lenient)
    expected = None if items is None or lenient else len(items) + len(optional)
    reading = Reading(
        role="run",
        report=report,
        items=items,
        optional=dict.fromkeys(optional),  # an ordered set
        lenient=lenient,
        missing_allowed=track.missing == "default",
        inner_classes=_inner_classes(track),
        text_lengths=text_lengths,
        texts=texts,
        annotators=annotators,
        numbered=None if items is None else len(items),
        **_bounds(track.format, expected),
    )
    return _read(data, track.format, reading)


def is_numbered(spec: FormatSpec) -> bool:
    """Return whether the items in a file have no ids, but are numbered in the order of the file."""
    return bool(spec.options.get("ids") == "numbers")


def read_gold(
    track: Track,
    data: bytes,
    spec: FormatSpec,
    report: Report,
    annotators: Annotators | None = None,
    items: ItemIndex | None = None,
    texts: Mapping[str, str] | None = None,
) -> Answers | None:
    """Read a gold file in the format `spec`. Return None if an error was reported.

    Args:
        annotators, texts: as in `read_run`.
        items: the track's items, if known. Only their number is used, and only if `is_numbered(spec)`.
    """
    files = track.files
    if files is not None:
        own_annotators = None if annotators is None else by_file(annotators)
        own_texts = by_file(texts or {})

        def read_part(value: str, content: bytes, own: Report) -> Answers | None:
            of_file = None if own_annotators is None else own_annotators.get(value, {})
            own_items = None if items is None else items.by_file.get(value)
            return read_gold(replace(track, files=None), content, spec, own, of_file, own_items, own_texts.get(value))

        return read_several(data, files, report, read_part, needs_all=True)
    reading = Reading(
        role="gold",
        report=report,
        inner_classes=_inner_classes(track),
        annotators=annotators,
        texts=texts,
        numbered=None if items is None else len(items),
    )
    return _read(data, spec, reading)


def _inner_classes(track: Track) -> frozenset[str]:
    return frozenset(name for name, children in (track.hierarchy or {}).items() if children)


def _read(data: bytes, spec: FormatSpec, reading: Reading) -> Answers | None:
    with collector_paused():
        try:
            return FORMATS[spec.kind].read(data, spec, reading)
        except MemoryError:
            reading.report.error("too-much-memory")
            return None


def _bounds(spec: FormatSpec, items: int | None) -> dict[str, int]:
    """Return the maximum number of lines or objects, and of cells or values, for a run with this number of items.

    For gold and lenient reading, `items` is None, and only the limits for any file apply.
    """
    if items is None:
        return {}
    size = size_of(spec)
    return {
        "most_entries": min(limits.LINES, limits.ENTRIES_FREE + size.entries * items),
        "most_cells": min(limits.CELLS, limits.CELLS_FREE + size.cells * items),
    }
