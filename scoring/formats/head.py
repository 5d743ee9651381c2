"""Read the first entries of a run: a cheap way to guess which tracks it is for."""

import json
from collections.abc import Collection

from scoring.definition import Track
from scoring.formats import is_zipped, read_run
from scoring.formats.reading import with_line_feeds
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report

HEAD_BYTES = 65_536
HEAD_ENTRIES = 20


def head_of(data: bytes) -> bytes | None:
    """Return the first entries as a file of their own, or None if they cannot be separated from the rest."""
    text = with_line_feeds(data[:HEAD_BYTES].decode("utf-8-sig", errors="ignore"))
    if text.lstrip().startswith("["):
        return _head_of_list(text)
    lines = text.split("\n")
    if len(data) > HEAD_BYTES:
        lines = lines[:-1]  # the last line may be incomplete
    return "\n".join(lines[: HEAD_ENTRIES + 1]).encode() or None


def begins_as(track: Track, head: bytes | None, items: ItemIndex, optional: Collection[str] = ()) -> bool:
    """Return whether a run for this track and these items could start with `head`."""
    if head is None or is_zipped(track):  # a zip cannot be read without its end
        return False
    trial = Report()
    answers = read_run(track, head, trial)
    if answers is None or not trial.ok:
        return False
    rows = items.rows_of(answers.ids).tolist()
    return all(row >= 0 or item in optional for item, row in zip(answers.ids, rows, strict=True))


def _head_of_list(text: str) -> bytes | None:
    """Return a list of the first objects, unchanged, or None if there are none."""
    decoder = json.JSONDecoder()
    start = end = text.index("[") + 1
    for _ in range(HEAD_ENTRIES):
        following = end + len(text[end:]) - len(text[end:].lstrip(", \t\n"))
        if text[following : following + 1] != "{":
            break
        try:
            end = decoder.raw_decode(text, following)[1]
        except (ValueError, RecursionError):  # truncated, or not JSON
            break
    return f"[{text[start:end]}]".encode() if end > start else None
