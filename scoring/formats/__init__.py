"""Run formats, one file a format; a new one is its file and a word in the table below."""

from collections.abc import Collection, Mapping
from pathlib import Path

from scoring import limits
from scoring.answers import AnswerKind, Answers
from scoring.definition import FormatSpec, Track
from scoring.formats.conll import CONLL
from scoring.formats.format import Format, Size
from scoring.formats.json_labels import JSON_LABELS
from scoring.formats.json_soft import JSON_SOFT
from scoring.formats.reading import Reading, collector_paused
from scoring.formats.spans import SPANS
from scoring.formats.table import TABLE
from scoring.formats.table_labels import TABLE_LABELS
from scoring.formats.table_soft import TABLE_SOFT
from scoring.formats.trec import TREC_QRELS, TREC_RUN
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report

FORMATS: dict[str, Format] = {
    known.name: known
    for known in (JSON_LABELS, JSON_SOFT, TABLE, TABLE_LABELS, TABLE_SOFT, SPANS, CONLL, TREC_RUN, TREC_QRELS)
}


def answer_kind(track: Track) -> AnswerKind:
    """What the runs of a track say."""
    return FORMATS[track.format.kind].answers


def size_of(spec: FormatSpec) -> Size:
    """How large a run may be for each of its items."""
    return FORMATS[spec.kind].size(spec)


def write_run(track: Track, answers: Answers, path: Path) -> None:
    """Write `answers` as a run file of the track, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = FORMATS[track.format.kind].write(answers, track.format)
    path.write_text(text, encoding="utf-8", newline="")


def suffix(track: Track) -> str:
    """What the names of a track's run files end in."""
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
) -> Answers | None:
    """Read a run file; its rows stay in the file's order.

    Args:
        items: ids that the run must hold; None leaves missing and unknown ids unjudged.
        optional: ids that the run may hold too, all of them or none.
        lenient: keep what the official scorers tolerate (missing items or labels, labels outside the domain, inner
            classes, wrong sums) as warnings; labels unknown to the format become further columns.
        text_lengths: characters of each item's text, to judge offsets by; of entities, its tokens.

    Returns:
        None when the report got an error.
    """
    expected = None if items is None or lenient else len(items) + len(optional)
    reading = Reading(
        role="run",
        report=report,
        items=items,
        optional=dict.fromkeys(optional),  # a set that keeps its order
        lenient=lenient,
        missing_allowed=track.missing == "default",
        inner_classes=_inner_classes(track),
        text_lengths=text_lengths,
        **_bounds(track.format, expected),
    )
    return _read(data, track.format, reading)


def read_gold(track: Track, data: bytes, spec: FormatSpec, report: Report) -> Answers | None:
    """Read a gold file, which is written as `spec` says; None when the report got an error."""
    return _read(data, spec, Reading(role="gold", report=report, inner_classes=_inner_classes(track)))


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
