"""Scores by the language of the items, for tracks with several."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from scoring.definition import MetricSpec, Track
from scoring.items.texts import id_columns, read_texts
from scoring.metrics import compute
from scoring.metrics.comparison import Comparison, MatrixComparison


def read_languages(track: Track, path: Path) -> dict[str, str]:
    """Languages by item id, from a table with the columns of the id and `lang`.

    Raises:
        TextsError: as `read_texts`.
    """
    return read_texts(path, id_columns(track), "lang")


def by_language(
    runs: Mapping[str, Comparison], languages: Mapping[str, str], metrics: Sequence[MetricSpec]
) -> dict[str, Any]:
    """Metrics on the items of each language alone, including what they derive from the gold; all with one gold.

    - `items`: language → number of gold items in it;
    - `scores`: name of a run → language → key of a metric → value, None where the metric is undefined.

    Empty for spans and rankings, and with fewer than two languages.
    """
    one = next(iter(runs.values()), None)
    if not isinstance(one, MatrixComparison):
        return {}
    of_items = np.array([languages.get(item, "") for item in one.gold.answers.ids])
    rows = {code: np.flatnonzero(of_items == code) for code in sorted({*of_items.tolist()} - {""})}
    if len(rows) < 2:
        return {}
    gold = {code: one.gold.select(places) for code, places in rows.items()}
    scores = {
        name: {code: _scores(run.select(rows[code], gold[code]), metrics) for code in rows}
        for name, run in runs.items()
        if isinstance(run, MatrixComparison)
    }
    return {"items": {code: len(places) for code, places in rows.items()}, "scores": scores}


def _scores(run: Comparison, metrics: Sequence[MetricSpec]) -> dict[str, float | None]:
    return {spec.key: compute(run, spec) for spec in metrics}
