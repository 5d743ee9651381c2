"""Scores on slices of the items."""

from collections.abc import Mapping, Sequence
from typing import Any

from scoring.definition import MetricSpec
from scoring.items.slices import MANY
from scoring.items.texts import TextsError
from scoring.metrics import LoadedGold, compute
from scoring.metrics.comparison import Comparison
from scoring.metrics.slices import restricted


def names_of_slices(gold: LoadedGold) -> list[str]:
    """Return the names of the gold standard's slicings that have 2 to MANY slices."""
    return [name for name in gold.slice_columns if 2 <= _count(gold, name) <= MANY]


def _count(gold: LoadedGold, name: str) -> int:
    try:
        return len(gold.slices(name))
    except TextsError:  # `scoring.task_folder.folder` reports this before an import
        return 0


def by_slice(runs: Mapping[str, Comparison], metrics: Sequence[MetricSpec]) -> dict[str, dict[str, Any]]:
    """Compute metrics separately for each slice. The result is keyed by the slicing's name.

    All runs must share a gold standard.

    - `items`: slice → number of gold items in it.
    - `scores`: run name → slice → metric key → value, or None if the metric is undefined.
    """
    first = next(iter(runs.values()), None)
    if first is None:
        return {}
    found = {}
    for name in names_of_slices(first.gold):
        items = {value: len(rows) for value, rows in first.gold.slices(name).items()}
        scores = {key: {value: _scores(run, (name, value), metrics) for value in items} for key, run in runs.items()}
        found[name] = {"items": items, "scores": scores}
    return found


def _scores(run: Comparison, where: tuple[str, str], metrics: Sequence[MetricSpec]) -> dict[str, float | None]:
    part = restricted(run, where)
    return {} if part is None else {spec.key: compute(part, spec) for spec in metrics}
