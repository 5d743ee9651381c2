"""Run formats, one file a format; a new one is its file and one line here."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

from scoring import limits
from scoring.answers import Answers
from scoring.definition import FormatSpec, Track
from scoring.definition.yaml_values import Keys
from scoring.formats import json_labels, json_soft, spans, table, table_labels, table_soft, trec
from scoring.formats.reading import Reading, Role, collector_paused
from scoring.formats.size import Size, size_of_columns
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report


@dataclass(frozen=True, slots=True)
class Format:
    """A way to write answers: how task.yaml gives its options, how a file is read, and how large a run may be."""

    read_options: Callable[[Keys], dict[str, Any]]
    read: Callable[[bytes, FormatSpec, Reading], Answers | None]
    size: Callable[[FormatSpec], Size] = size_of_columns


FORMATS = {
    "json-labels": Format(json_labels.read_options, json_labels.read),
    "json-soft": Format(json_soft.read_options, json_soft.read),
    "table": Format(table.read_options, table.read),
    "table-labels": Format(table_labels.read_options, table_labels.read),
    "table-soft": Format(table_soft.read_options, table_soft.read),
    "spans": Format(spans.read_options, spans.read, spans.size),
    "trec-run": Format(trec.read_run_options, trec.read_run, trec.size),
    "trec-qrels": Format(trec.read_judgement_options, trec.read_judgements),
}


def size_of(spec: FormatSpec) -> Size:
    """How large a run may be for each of its items."""
    return FORMATS[spec.kind].size(spec)


def read_answers(
    track: Track,
    data: bytes,
    *,
    role: Role,
    spec: FormatSpec,
    items: ItemIndex | None,
    lenient: bool,
    report: Report,
    optional: Collection[str] = (),
    text_lengths: Mapping[str, int] | None = None,
) -> Answers | None:
    """Read a run file or a gold file; its rows stay in the file's order.

    Args:
        items: ids that a run must hold; None leaves missing and unknown ids unjudged (gold).
        optional: ids that a run may hold too, all of them or none.
        text_lengths: characters of each item's text, to judge offsets by.
        lenient: keep what the official scorers tolerate (missing items or labels, labels outside the domain, inner
            classes, wrong sums) as warnings; labels unknown to the format become further columns.

    Returns:
        None when the report got an error.
    """
    inner = frozenset(name for name, children in (track.hierarchy or {}).items() if children)
    reading = Reading(
        role=role,
        report=report,
        items=items,
        optional=dict.fromkeys(optional),  # a set that keeps its order
        lenient=lenient,
        missing_allowed=track.missing == "default",
        inner_classes=inner,
        text_lengths=text_lengths,
        **_bounds(spec, None if items is None or lenient else len(items) + len(optional)),
    )
    with collector_paused():
        try:
            return FORMATS[spec.kind].read(data, spec, reading)
        except MemoryError:
            report.error("too-much-memory")
            return None


def _bounds(spec: FormatSpec, items: int | None) -> dict[str, int]:
    """How many lines or objects, and how many cells or values, a run of so many items may have.

    A gold standard and a lenient reading (`items` is None) have only the bounds of any file.
    """
    if items is None:
        return {}
    size = size_of(spec)
    return {
        "most_entries": min(limits.LINES, limits.ENTRIES_FREE + size.entries * items),
        "most_cells": min(limits.CELLS, limits.CELLS_FREE + size.cells * items),
    }
