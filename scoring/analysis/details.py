"""Details about the scores of one or several runs, as plain values that are stored with the scores.

They contain only counts and shares, which do not identify any item. Run pages show them while the gold standard is
hidden and teams can still upload runs. A run's weights can give chosen items a step each on its ROC curve, and an
upward step would reveal a positive item. Therefore, each segment between two points of a curve covers at least
CELLS_A_SEGMENT judged cells and at least 1 / SEGMENTS of them. A curve thus reveals at most SEGMENTS - 1 counts of
positive cells. As with scores and confusion matrices, only limits on runs bound what comparing many runs reveals.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

import numpy as np

from scoring.analysis.confusion import (
    ClassLine,
    LabelFrequencies,
    by_class,
    by_type,
    class_names,
    confusion,
    labels,
)
from scoring.analysis.field import disagreement, missed_by_all, right
from scoring.analysis.slices import by_slice, names_of_slices
from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics.comparison import Comparison, EntityComparison, MatrixComparison
from scoring.metrics.curves import Curve, area_under, roc, roc_of_probabilities
from scoring.metrics.loaded_gold import LoadedGold

CLASSES = 40  # columns with more values are measurements, not classes
COLUMNS = 200  # tables and soft labels with more columns have no details by column; no page could show them
SEGMENTS = 10  # maximum number of segments of a curve
CELLS_A_SEGMENT = 10  # minimum number of judged cells in each segment of a curve
DECIMALS = 4  # decimal places of the coordinates
BEST = (3, 5, 10)  # for each number k, count the items that all of the k best runs miss


def details(comparison: Comparison, metrics: Sequence[MetricSpec]) -> dict[str, Any]:
    """Compute the details that apply to the track's kind of answers, as plain values for JSON.

    - `classes`: for each judged column (None: the labels themselves), the lines of `by_class` as dicts, and the
      `confusion` with its `classes` and `counts`, or None if items have several labels. For entities, the lines
      come from `by_type`. The list is empty if there are more than COLUMNS columns.
    - `curves`: for each class or column with weights, its `roc` as a list of (x, y) with DECIMALS decimals and at most
      SEGMENTS segments, or None if the gold standard lacks positives or negatives. The list is empty if there are more
      than COLUMNS classes.
    - `probabilities`: if a run of tables has probabilities, its `roc` as above, and the exact area under the whole
      curve, `auc`. Both are over all columns with probabilities together.
    - `slices`: for each slicing's name, `items` and `scores` by slice, as `analysis.slices.by_slice` returns them for
      one run.
    """
    found = by_slice({"run": comparison}, metrics)
    slices = {name: slicing | {"scores": slicing["scores"]["run"]} for name, slicing in found.items()}
    return _parts(comparison) | ({"slices": slices} if slices else {})


def _parts(comparison: Comparison) -> dict[str, Any]:
    """Return the classes or curves, or neither, as for spans and rankings."""
    if isinstance(comparison, EntityComparison):
        return {"classes": [_of_lines(None, by_type(comparison), None)]}
    if not isinstance(comparison, MatrixComparison):
        return {}
    columns: Sequence[str | None] = comparison.gold.matrix.columns
    columns = columns if len(columns) <= COLUMNS else ()
    if comparison.gold.values.dtype.kind == "f":
        return {"curves": [_curves(comparison, name) for name in columns if name is not None]}
    if comparison.gold.values.dtype == np.bool_:
        columns = [None]
    found: dict[str, Any] = {"classes": [lines for column in columns if (lines := _classes(comparison, column))]}
    if curve := roc_of_probabilities(comparison):
        found["probabilities"] = {"roc": _points(curve), "auc": area_under(curve)}
    return found


def field_details(runs: Mapping[str, Comparison]) -> dict[str, Any]:
    """Compare several runs, ordered from best to worst. Leave out parts that do not apply.

    - `labels`: `classes`, number of `items`, `counts` and `together` for the gold standard, as in
      `analysis.confusion.LabelFrequencies`, with `answers` if some answers are missing. `sizes` has the numbers of
      items with 0, 1, … labels, not counting labels that have others below them in the hierarchy, nor items for which
      an answer is missing. `slices` maps each slicing's name to slice → `items` and `counts`, and if some answers are
      missing, `answers` and `answers_where`.
    - `difficulty`: the numbers of items that 0, 1, …, all of the runs answered correctly.
    - `missed`: for each k in BEST, the items that all of the k best runs answered incorrectly. `runs` are the runs'
      names; `best`, `missed` and `judged` are numbers; `by_answer` maps a gold answer to (missed, judged); and `same`
      maps an incorrect answer to the number of items to which all of these runs gave it.
    - `disagreement`: for each pair of run names, the share of items that the two runs answer differently.
    """
    names = list(runs)
    if not names:
        return {}
    found: dict[str, Any] = {}
    gold = runs[names[0]].gold
    if isinstance(gold.answers, Matrix) and len(gold.answers.columns) <= CLASSES:
        found["labels"] = _labels(gold, gold.answers)
    with suppress(ValueError):  # raised for weights and rankings, whose answers are neither correct nor incorrect
        hits = np.sum([right(comparison) for comparison in runs.values()], axis=0)
        found["difficulty"] = np.bincount(hits, minlength=len(names) + 1).tolist()
        found["missed"] = [_missed(runs, names[:best]) for best in BEST if best <= len(names)]
        found["disagreement"] = {
            str(name): dict(zip(names, shares, strict=True)) for name, *shares in disagreement(runs).rows
        }
    return found


def _labels(gold: LoadedGold, answers: Matrix) -> dict[str, Any]:
    held = labels(answers)
    counts = {
        name: {
            value: _counts_in_slice(labels(answers.select(rows, [""] * len(rows))))
            for value, rows in gold.slices(name).items()
        }
        for name in names_of_slices(gold)
    }
    found = {
        "classes": held.classes,
        "items": held.items,
        "counts": held.counts.tolist(),
        "together": held.together.tolist(),
        "sizes": _sizes(answers, gold.parents),
        "slices": counts,
    }
    return found if held.is_complete else found | {"answers": held.answers.tolist()}


def _counts_in_slice(held: LabelFrequencies) -> dict[str, Any]:
    found = {"items": held.items, "counts": held.counts.tolist()}
    if held.is_complete:
        return found
    return found | {"answers": held.answers.tolist(), "answers_where": held.answers_where.tolist()}


def _sizes(answers: Matrix, parents: Collection[str]) -> list[int]:
    """Return the numbers of items with 0, 1, … labels, not counting parents of other labels. Return [] for weights.

    Items for which an answer is missing are left out, because the number of their labels is unknown.
    """
    if answers.values.dtype.kind == "f":
        return []
    own = [place for place, name in enumerate(answers.columns) if name not in parents]
    complete = answers.present[:, own].all(axis=1)
    return list(np.bincount((answers.values[complete][:, own] == 1).sum(axis=1)).tolist())


def _missed(runs: Mapping[str, Comparison], names: Sequence[str]) -> dict[str, Any]:
    missed = missed_by_all({name: runs[name] for name in names})
    return {
        "best": len(names),
        "runs": list(names),
        "missed": len(missed.items),
        "judged": missed.judged,
        "by_answer": dict(missed.by_answer),
        "same": dict(missed.same),
    }


def _classes(comparison: MatrixComparison, column: str | None) -> dict[str, Any] | None:
    if len(class_names(comparison, column)) > CLASSES:
        return None
    lines = by_class(comparison, column)
    shown = None
    with suppress(ValueError):  # raised for several labels per item
        matrix = confusion(comparison, column)
        shown = {"classes": matrix.classes, "counts": matrix.counts.tolist()}
    return _of_lines(column, lines, shown)


def _of_lines(column: str | None, lines: Sequence[ClassLine], confusion: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"column": column, "lines": [asdict(line) for line in lines], "confusion": confusion}


def _curves(comparison: MatrixComparison, name: str) -> dict[str, Any]:
    curve = roc(comparison, name)
    return {"name": name, "roc": None if curve is None else _points(curve)}


def _points(curve: Curve) -> list[tuple[float, float]]:
    """Return the first point, the last, and those between them that leave enough cells in every segment."""
    cells = int(curve.said[-1])
    least = max(CELLS_A_SEGMENT, -(-cells // SEGMENTS))  # rounded up
    kept = [0]
    while (place := int(np.searchsorted(curve.said, curve.said[kept[-1]] + least))) < len(curve.said) - 1:
        if cells - curve.said[place] < least:
            break
        kept.append(place)
    kept.append(len(curve.said) - 1)
    x, y = (along[kept].round(DECIMALS).tolist() for along in (curve.x, curve.y))
    return list(zip(x, y, strict=True))
