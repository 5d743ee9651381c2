"""Details of the scores of one run or several runs, as plain values that are stored with the scores.

They contain only counts and shares, which do not identify any item.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from scoring.analysis.confusion import ClassLine, by_class, by_type, confusion, labels
from scoring.analysis.field import disagreement, missed_by_all, right
from scoring.analysis.slices import by_slice
from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics.comparison import Comparison, EntityComparison, MatrixComparison
from scoring.metrics.curves import Curve, precision_recall, roc
from scoring.metrics.distinct import distinct

CLASSES = 40  # columns with more values are measurements, not classes
POINTS = 200  # points of a curve: more would not be visible
DECIMALS = 4  # decimals of the coordinates
BEST = (3, 5, 10)  # numbers of best runs for which common errors are counted


def details(comparison: Comparison, metrics: Sequence[MetricSpec]) -> dict[str, Any]:
    """Compute the details that apply to the track's kind of answers, as JSON.

    - `classes`: for each judged column (None: the labels themselves) the lines of `by_class` as dicts, and the
      `confusion` with its `classes` and `counts`, or None if items have several labels. For entities, the lines
      come from `by_type`.
    - `curves`: for each class or column with weights, its `roc` and `precision_recall` as lists of (x, y) with at most
      POINTS points and DECIMALS decimals, or None if the gold standard lacks positives or negatives.
    - `slices`: for each slice name, `items` and `scores` by slice, as `analysis.slices.by_slice` returns for one run.
    """
    return _parts(comparison) | _slices(comparison, metrics)


def _parts(comparison: Comparison) -> dict[str, Any]:
    """Return the classes or curves. Spans and rankings have none."""
    if isinstance(comparison, EntityComparison):
        return {"classes": [_of_lines(None, by_type(comparison), None)]}
    if not isinstance(comparison, MatrixComparison):
        return {}
    if comparison.gold.values.dtype.kind == "f":
        return {"curves": [_curves(comparison, name) for name in comparison.gold.matrix.columns]}
    columns = [None] if comparison.gold.values.dtype == np.bool_ else comparison.gold.matrix.columns
    return {"classes": [found for column in columns if (found := _classes(comparison, column))]}


def _slices(comparison: Comparison, metrics: Sequence[MetricSpec]) -> dict[str, Any]:
    found = by_slice({"run": comparison}, metrics)
    return {"slices": {name: one | {"scores": one["scores"]["run"]} for name, one in found.items()}} if found else {}


def field_details(runs: Mapping[str, Comparison]) -> dict[str, Any]:
    """Compare several runs, ordered from best to worst. Parts that do not apply are left out.

    - `labels`: `classes`, number of `items`, `counts` and `together` of the gold standard, as in
      `analysis.LabelFrequencies`.
    - `difficulty`: the number of items that 0, 1, ... all of the runs answered correctly.
    - `missed`: for each number in BEST, the items that all of the best runs answered incorrectly. `runs` are their
    names,
      `best`, `missed` and `judged` are numbers, and `by_answer` maps a gold answer to (missed, judged).
    - `disagreement`: for each pair of run names, the share of items that the two runs answer differently.
    """
    names = list(runs)
    if not names:
        return {}
    found: dict[str, Any] = {}
    gold = runs[names[0]].gold.answers
    if isinstance(gold, Matrix) and len(gold.columns) <= CLASSES:
        held = labels(gold)
        found["labels"] = {
            "classes": held.classes,
            "items": held.items,
            "counts": held.counts.tolist(),
            "together": held.together.tolist(),
        }
    with suppress(ValueError):  # raised for weights and rankings, whose answers are not correct or incorrect
        hits = np.sum([right(comparison) for comparison in runs.values()], axis=0)
        found["difficulty"] = np.bincount(hits, minlength=len(names) + 1).tolist()
        found["missed"] = [_missed(runs, names[:best]) for best in BEST if best <= len(names)]
        found["disagreement"] = {
            str(name): dict(zip(names, shares, strict=True)) for name, *shares in disagreement(runs).rows
        }
    return found


def _missed(runs: Mapping[str, Comparison], names: Sequence[str]) -> dict[str, Any]:
    missed = missed_by_all({name: runs[name] for name in names})
    return {
        "best": len(names),
        "runs": list(names),
        "missed": len(missed.items),
        "judged": missed.judged,
        "by_answer": dict(missed.by_answer),
    }


def _classes(comparison: MatrixComparison, column: str | None) -> dict[str, Any] | None:
    lines = by_class(comparison, column)
    if len(lines) > CLASSES:
        return None
    try:
        matrix = confusion(comparison, column)
    except ValueError:  # raised for several labels per item
        shown = None
    else:
        shown = {"classes": matrix.classes, "counts": matrix.counts.tolist()}
    return _of_lines(column, lines, shown)


def _of_lines(column: str | None, lines: Sequence[ClassLine], confusion: Mapping[str, Any] | None) -> dict[str, Any]:
    names = ("name", "gold", "run", "both", "precision", "recall", "f1")
    shown = [{name: getattr(line, name) for name in names} for line in lines]
    return {"column": column, "lines": shown, "confusion": confusion}


def _curves(comparison: MatrixComparison, name: str) -> dict[str, Any]:
    return {
        "name": name,
        "roc": _points(roc(comparison, name)),
        "precision_recall": _points(precision_recall(comparison, name)),
    }


def _points(curve: Curve | None) -> list[tuple[float, float]] | None:
    """Return the first point, the last point, and evenly spaced points in between."""
    if curve is None:
        return None
    kept = distinct(np.linspace(0, len(curve.x) - 1, min(len(curve.x), POINTS)).round().astype(np.intp))
    x, y = (along[kept].round(DECIMALS).tolist() for along in (curve.x, curve.y))
    return list(zip(x, y, strict=True))
