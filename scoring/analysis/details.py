"""Details of scores as plain values, to store with them: of one run, and of several.

Counts and shares only, from which no item can be identified.
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

CLASSES = 40  # with more values than this, they are measurements, not classes
POINTS = 200  # points of a curve: more cannot be seen
DECIMALS = 4  # of the coordinates
BEST = (3, 5, 10)  # numbers of best runs whose common errors are counted


def details(comparison: Comparison, metrics: Sequence[MetricSpec]) -> dict[str, Any]:
    """The details that apply to such answers, as JSON.

    - `classes`: for each judged column (None: the labels themselves) the lines of `by_class` as dicts, and the
      `confusion` with its `classes` and `counts`, or None if items have several labels; for entities the lines are
      those of `by_type`;
    - `curves`: for each class or column with weights its `roc` and `precision_recall` as lists of (x, y), of at most
      POINTS points and DECIMALS decimals, or None if the gold lacks positives or negatives;
    - `slices`: by name of the slices, `items` and `scores` by slice, as `analysis.slices.by_slice` for one run.
    """
    return _parts(comparison) | _slices(comparison, metrics)


def _parts(comparison: Comparison) -> dict[str, Any]:
    """The parts; empty for spans and rankings."""
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
    """What several runs, best first, say about items and each other; parts that do not apply are left out.

    - `labels`: `classes`, number of `items`, `counts` and `together` of the gold, as in `analysis.LabelFrequencies`;
    - `difficulty`: the number of items that 0, 1, ... all of the runs got right;
    - `missed`: for each number in BEST, the items that all of the best runs got wrong: `best`, their names as `runs`,
      `missed`, `judged`, and `by_answer`, which maps the gold's answer to (missed, judged);
    - `disagreement`: the share of items that two runs answer differently, by the names of both.
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
    with suppress(ValueError):  # weights and rankings are neither right nor wrong
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
    except ValueError:  # several labels per item
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
    """The first, the last, and evenly spaced ones in between."""
    if curve is None:
        return None
    kept = distinct(np.linspace(0, len(curve.x) - 1, min(len(curve.x), POINTS)).round().astype(np.intp))
    x, y = (along[kept].round(DECIMALS).tolist() for along in (curve.x, curve.y))
    return list(zip(x, y, strict=True))
