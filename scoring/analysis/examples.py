"""The answers of several runs to example items, which have no gold answer."""

from collections.abc import Mapping
from typing import Any

from scoring import limits
from scoring.definition import Track
from scoring.items.texts import TextsError, id_columns, read_texts
from scoring.metrics.comparison import Comparison, MatrixComparison


def examples(track: Track, split: str, runs: Mapping[str, Comparison]) -> dict[str, Any]:
    """Return the examples of a table track and each run's answers to them, as plain values for JSON.

    - `columns`: the columns to show.
    - `items`: for each example, its `id` and its `cells` in these columns.
    - `answers`: run → for each example, the run's value in each of the format's columns, or None if it has none.

    Items with a gold answer are left out. The result is empty if the track has no examples for this split.
    """
    path = track.examples.items.get(split) if track.examples else None
    tables = {name: run for name, run in runs.items() if isinstance(run, MatrixComparison)}
    if track.examples is None or path is None or not tables:
        return {}
    try:
        files = track.files_in(split)
        cells = [read_texts(path, id_columns(track), column, files) for column in track.examples.columns]
    except TextsError:
        return {}
    gold = next(iter(tables.values())).gold
    listed = list(cells[0]) if cells else []
    found = zip(listed, gold.index.rows_of(listed).tolist(), strict=True)
    rows = [(item, row) for item, row in found if row >= 0 and gold.absent[row].all()][: limits.EXAMPLES]
    return {
        "columns": list(track.examples.columns),
        "items": [{"id": item, "cells": [column[item] for column in cells]} for item, _row in rows],
        "answers": {name: [_answer(run, row) for _item, row in rows] for name, run in tables.items()},
    }


def _answer(run: MatrixComparison, row: int) -> list[float | None]:
    known = len(run.gold.tree.classes)
    pairs = zip(run.run[row, :known].tolist(), run.absent[row, :known].tolist(), strict=True)
    return [None if is_absent else value for value, is_absent in pairs]
