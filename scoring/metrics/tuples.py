"""Precision, recall and F1 of sets of tuples, and exact match of each item's whole set."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import TupleComparison
from scoring.metrics.entities import Measure, f1, precision, recall
from scoring.metrics.metric import (
    TUPLES,
    Contributions,
    Example,
    Mean,
    Metric,
    Numbers,
    Options,
    Part,
    SomeColumns,
    Sums,
    ratios,
)

Cells = tuple[str, ...]
CASE: Options = {"case": ("keep", "ignore")}


def column_places(columns: Cells, chosen: str | None) -> list[int]:
    """Return the indexes of the columns named in `chosen` (joined by `+`), or by default those of all columns.

    Raises:
        ValueError: there is no such column.
    """
    names = columns if chosen is None else (chosen,) if chosen in columns else chosen.split("+")
    if missing := [name for name in names if name not in columns]:
        raise ValueError(f"there is no column {missing[0]}; the columns are {', '.join(columns)}")
    return [columns.index(name) for name in names]


def sides(
    comparison: TupleComparison, places: list[int], spec: MetricSpec
) -> tuple[list[tuple[int, Cells]], list[tuple[int, Cells]]]:
    """Return the distinct tuples of these columns in the gold and in the run, sorted, each with its item's row."""
    gold = comparison.gold.tuples
    owners = np.repeat(np.arange(len(gold.ids)), np.diff(gold.starts)).tolist()
    ignores_case = spec.options.get("case") == "ignore"

    def chosen(rows: list[Cells], owners: list[int]) -> list[tuple[int, Cells]]:
        kept = (tuple(row[place] for place in places) for row in rows)
        if ignores_case:
            kept = (tuple(map(str.casefold, row)) for row in kept)
        return sorted({*zip(owners, kept, strict=True)})

    return chosen(gold.rows, owners), chosen(comparison.rows, comparison.owners.tolist())


def _owners(pairs: list[tuple[int, Cells]]) -> NDArray[np.intp]:
    return np.fromiter((owner for owner, _ in pairs), np.intp, len(pairs))


def _counts(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
    """Return counts (items, 3): the numbers of shared tuples, of run tuples, and of gold tuples."""
    gold, run = sides(comparison, column_places(comparison.gold.tuples.columns, spec.part), spec)
    both, items = set(gold), len(comparison.gold)
    counted = [_owners([pair for pair in run if pair in both]), _owners(run), _owners(gold)]
    return np.column_stack([np.bincount(own, minlength=items) for own in counted]).astype(np.float64)


def _counts_by_value(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
    """Return the counts (items, 3 · values) for each value that the column named by `by` has in the gold."""
    columns = comparison.gold.tuples.columns
    by = column_places(columns, spec.options["by"])
    gold, run = sides(comparison, by + column_places(columns, spec.part), spec)
    values = {value: place for place, value in enumerate(sorted({cells[0] for _, cells in gold}))}
    counts = np.zeros((len(comparison.gold), len(values), 3))
    both = set(gold)
    for at, pairs in enumerate(([pair for pair in run if pair in both], run, gold)):
        known = [pair for pair in pairs if pair[1][0] in values]
        places = np.array([values[cells[0]] for _, cells in known], np.intp)
        np.add.at(counts, (_owners(known), places, np.intp(at)), 1)
    return counts.reshape(len(counts), -1)


def _macro(measure: Measure) -> Sums:
    def combine(sums: Numbers) -> Numbers:
        counts = sums.reshape(*sums.shape[:-1], -1, 3)
        held = counts[..., 2] > 0
        values: Numbers = np.where(held, measure(counts), 0.0)
        return ratios(values.sum(axis=-1), held.sum(axis=-1))

    return Sums(lambda comparison, spec: Contributions(comparison.once(_counts_by_value, spec), combine))


def _by_item(measure: Measure) -> Mean:
    """Return the metric that averages a measure over items.

    An item counts as 1 if both sides are empty, and as 0 if only one of them is.
    """

    def values(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
        counts = comparison.once(_counts, spec)
        found: Numbers = np.where(counts[:, 2] > 0, np.nan_to_num(measure(counts)), 0.0)
        found[~counts[:, 1:].any(axis=1)] = 1.0
        return found

    return Mean(values)


@Mean
def _exact(comparison: TupleComparison, spec: MetricSpec) -> Numbers:
    both, run, gold = comparison.once(_counts, spec).T
    same: Numbers = ((both == run) & (both == gold)).astype(np.float64)
    return same


def item_tuple_f1(comparison: TupleComparison) -> Numbers:
    """Return the F1 of each item's tuples, which is 1 if both sides are empty."""
    return _by_item(f1).values(comparison, MetricSpec("tuple_f1_items"))


tuple_example = partial(
    Example,
    "tuples",
    {"1": "food good, staff bad", "2": "price bad", "3": ""},
    {"1": "food good, staff good, room bad", "2": "price bad", "3": ""},
)
MEASURES: dict[str, tuple[str, Measure, str, str]] = {
    "precision": ("Tuple precision", precision, "P", "{} / tuples in the run, 0 if the run has none"),
    "recall": ("Tuple recall", recall, "R", "{} / tuples in the gold, undefined if the gold has none"),
    "f1": ("Tuple F1", f1, "F1", "2 · {} / (tuples in the run + tuples in the gold), undefined if the gold has none"),
}
_NO_TUPLES = "if the gold has no tuples"
UNDEFINED: dict[str, str | None] = {"precision": None, "recall": _NO_TUPLES, "f1": _NO_TUPLES}
_metric = partial(Metric, kinds=TUPLES, part=Part.COLUMNS, compared_with="scikit-learn", conventions=("Tuples",))
_SETS = "an item's tuples form a set; if columns are given, tuples with the same values in these columns count once"
_CASE = "with `case: ignore`, differences in case are ignored"
_SOURCE = "sklearn.metrics.precision_recall_fscore_support on a 0/1 column for each tuple"
_ABSA = "Cai et al. (2021), ACOS, ACL: exact match of quads; Zhang et al. (2021), EMNLP"


def _metrics(measure: str) -> tuple[Metric, Metric, Metric]:
    title, function, short, formula = MEASURES[measure]
    divided = {"precision": "2 / 4", "recall": "2 / 3", "f1": "2 · 2 / (4 + 3)"}[measure]
    ofs = {"precision": (1 / 2, 1 / 2), "recall": (1.0, 1 / 2), "f1": (2 / 3, 1 / 2)}[measure]
    own = {"precision": 1 / 3, "recall": 1 / 2, "f1": 2 / 5}[measure]
    return (
        _metric(
            name=f"tuple_{measure}",
            title=title,
            short=short,
            formula=f"{formula.format('tuples in both')}; computed over all items together; {_SETS}; {_CASE}",
            source=f"{_ABSA}; {_SOURCE}, average=micro",
            undefined=UNDEFINED[measure],
            compute=Sums(lambda comparison, spec: Contributions(comparison.once(_counts, spec), function)),
            example=tuple_example(
                {"precision": 2 / 4, "recall": 2 / 3, "f1": 4 / 7}[measure],
                f"two tuples (`food good` and `price bad`) are in both the gold and the run: {divided}",
            ),
            options=CASE,
        ),
        _metric(
            name=f"tuple_{measure}_macro",
            title=f"{title}, macro",
            short=f"Macro {short}",
            formula=f"mean of tuple_{measure} over the gold's values in the column that the `by` option names, each "
            f"computed on the tuples with that value; {_CASE}",
            source=f"{_SOURCE}, average=macro over the values of the gold",
            undefined=_NO_TUPLES,
            compute=_macro(function),
            example=tuple_example(
                sum(ofs) / 2,
                f"with `by: y` (the second column), the value is {ofs[0]:.4g} for `good` and {ofs[1]:.4g} for `bad`",
                options={"by": "y"},
            ),
            options={"by": SomeColumns(required=True, listed=True), **CASE},
        ),
        _metric(
            name=f"tuple_{measure}_items",
            title=f"{title}, mean over items",
            short=f"{short} by item",
            formula=f"mean over items of the item's tuple_{measure}, which is 1 if neither the gold nor the run has "
            f"tuples, and 0 if only one of them does; {_CASE}",
            source=f"{_SOURCE}, average=samples"
            + ("" if measure == "f1" else "; if one side is empty, sklearn uses its zero_division"),
            compute=_by_item(function),
            example=tuple_example((own + 2) / 3, f"the value is {own:.4g} for item 1 and 1 for items 2 and 3"),
            options=CASE,
        ),
    )


METRICS = (
    *(metric for measure in MEASURES for metric in _metrics(measure)),
    _metric(
        name="tuple_exact_match",
        title="Exact match of tuples",
        short="EM of tuples",
        formula=f"items with the same set of tuples in the gold and the run / gold items; {_CASE}",
        source="sklearn.metrics.accuracy_score on a 0/1 column for each tuple",
        compute=_exact,
        example=tuple_example(2 / 3, "in items 2 and 3, the run's set is the same as the gold's: 2 / 3"),
        options=CASE,
    ),
)
