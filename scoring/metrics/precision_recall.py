"""Precision, recall and F1 of one class, of the positive class, and as macro, micro and weighted averages.

For a class, precision = hits / predicted, recall = hits / actual, F1 = 2 · hits / (predicted + actual). If a class is
never predicted, its precision is 0 or, with `unpredicted: skip`, undefined. If the gold lacks a class, its recall and
F1 are undefined. Macro averages cover the classes in the gold, in the gold or run, or all declared classes, where an
undefined value counts as 0. Weighted averages cover the classes in the gold, weighted by their frequency in the gold.
Micro averages pool the counts of all classes, including classes that only the run has.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.combination import Combination, joined
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import (
    Cells,
    ClassCounts,
    ClassMarks,
    marks,
    marks_of_all_columns,
    positive_marks,
    totals_of_column,
)
from scoring.metrics.metric import (
    BETA,
    BY_HAND,
    LABELS,
    OVER,
    TABLE,
    Contributions,
    Example,
    Metric,
    Numbers,
    Options,
    Part,
    heading_of_f_beta,
    number,
    ratios,
)

Score = Callable[[ClassCounts, MetricSpec], Numbers]  # (…, classes), NaN where undefined
# Takes the classes' scores (…, classes) and their weights (…, classes), and returns averages (…).
Average = Callable[[Numbers, Cells], Numbers]
Select = Callable[[MatrixComparison, MetricSpec], ClassMarks | None]


def _precision(counts: ClassCounts, spec: MetricSpec) -> Numbers:
    return ratios(counts.hits, counts.predicted, np.nan if _skips(spec) else 0.0)


def _recall(counts: ClassCounts, spec: MetricSpec) -> Numbers:
    return ratios(counts.hits, counts.actual, np.nan)


def _f1(counts: ClassCounts, spec: MetricSpec) -> Numbers:
    square = number(spec, "beta", 1.0) ** 2
    values = ratios((1 + square) * counts.hits, counts.predicted + square * counts.actual, 0.0)
    return np.where(counts.actual > 0, values, np.nan)


def _skips(spec: MetricSpec) -> bool:
    """Return whether a class that is never predicted has no value. Only precision has this option."""
    return spec.options.get("unpredicted") == "skip"


def _mean(values: Numbers, weights: Cells) -> Numbers:
    """Return the mean over the classes that have a value and whose weight is not 0."""
    return _weighted_mean(values, np.sign(weights))


def _weighted_mean(values: Numbers, weights: Cells) -> Numbers:
    defined = ~np.isnan(values)
    return ratios(np.where(defined, values * weights, 0.0).sum(axis=-1), (defined * weights).sum(axis=-1), np.nan)


def _only(values: Numbers, weights: Cells) -> Numbers:
    """Return the score of the only class, or NaN if there is none."""
    return values[..., 0] if values.shape[-1] else np.full(values.shape[:-1], np.nan)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """A metric: how it selects classes, scores each of them, and averages the scores."""

    select: Select
    score: Score
    average: Average

    def __call__(self, comparison: MatrixComparison, spec: MetricSpec) -> float | None:
        chosen = self.select(comparison, spec)
        return None if chosen is None else self.of_totals(chosen.totals(), spec)

    def of_totals(self, totals: ClassCounts, spec: MetricSpec) -> float | None:
        """Return the score of these counts (classes,), or None if it is undefined."""
        value = float(self._value(totals, spec))
        return None if np.isnan(value) else value

    def contributions(self, comparison: MatrixComparison, spec: MetricSpec) -> Contributions | None:
        chosen = self.select(comparison, spec)
        if chosen is None:
            return None
        classes = len(chosen.classes)

        def combine(sums: Numbers) -> Numbers:
            counts = sums.reshape(*sums.shape[:-1], 3, classes)
            return self._value(ClassCounts(*np.moveaxis(counts, -2, 0)), spec)

        return Contributions(np.hstack(chosen.per_item()).astype(np.float64), combine)

    def _value(self, counts: ClassCounts, spec: MetricSpec) -> Numbers:
        values = self.score(counts, spec)
        over = spec.options.get("over", "gold")
        if over == "gold":
            return self.average(values, counts.actual)
        if not _skips(spec):
            values = np.nan_to_num(values, nan=0.0)
        return self.average(values, counts.actual + counts.predicted if over == "seen" else np.ones_like(values))


def _every(comparison: MatrixComparison, spec: MetricSpec) -> ClassMarks:
    every = marks(comparison, spec.part)
    if spec.options.get("over") == "declared" and comparison.run.dtype == np.bool_:  # without the hierarchy's parents
        return every.only(np.isin(every.classes, comparison.gold.matrix.columns))
    return every


_MACRO_F1 = _Scorer(_every, _f1, _mean)


def _per_column(comparison: MatrixComparison, spec: MetricSpec) -> list[MetricSpec]:
    return [MetricSpec("f1_macro", column, spec.options) for column in comparison.gold.matrix.columns]


def _f1_macro_mean(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    columns = comparison.gold.matrix.columns
    values = [_MACRO_F1.of_totals(totals_of_column(comparison, column), spec) for column in columns]
    defined = [value for value in values if value is not None]
    return sum(defined) / len(defined) if defined else None


def _f1_macro_mean_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    parts = [_MACRO_F1.contributions(comparison, column) for column in _per_column(comparison, spec)]
    columns = [part for part in parts if part is not None]
    return joined(columns, Combination.mean([1.0] * len(columns), skips=True))


def _ones(comparison: MatrixComparison) -> tuple[Numbers, Numbers]:
    """Return where gold and run are both 1, and on how many of the two sides a cell is 1, both (items, columns)."""
    gold = comparison.gold
    known, columns = ~gold.absent, len(gold.tree.classes)
    truth = (gold.values == 1) & known
    run = (comparison.run[:, :columns] == 1) & ~comparison.absent[:, :columns] & known
    return (truth & run).astype(np.float64), truth.astype(np.float64) + run


def _mean_positive_f1(hits: Numbers, marked: Numbers, empty: str) -> Numbers:
    """Return the mean F1 over the last axis. `empty` decides how a column without any 1 counts."""
    values = ratios(2 * hits, marked, {"zero": 0.0, "one": 1.0}.get(empty, np.nan))
    return _mean(values, np.ones_like(values))


def _f1_positive_mean(comparison: MatrixComparison, spec: MetricSpec) -> float | None:
    hits, marked = comparison.once(_ones)
    return float(_mean_positive_f1(hits.sum(axis=0), marked.sum(axis=0), spec.options.get("empty", "zero")))


def _f1_positive_mean_contributions(comparison: MatrixComparison, spec: MetricSpec) -> Contributions:
    hits, marked = comparison.once(_ones)
    columns, empty = hits.shape[1], spec.options.get("empty", "zero")

    def combine(sums: Numbers) -> Numbers:
        return _mean_positive_f1(sums[..., :columns], sums[..., columns:], empty)

    return Contributions(np.hstack([hits, marked]), combine)


_SKLEARN = "scikit-learn, precision_recall_fscore_support"
_DETESTS = "Ariza-Casabona et al. (2022), DETESTS, section 4"
_HATEVAL = "Basile et al. (2019), HatEval, section 4.2"
_RATIO_OF_F_BETA = "(1 + β²) · hits / (predicted + β² · actual), β = {}"
_RATIOS = {"precision": "hits / predicted", "recall": "hits / actual", "f1": "2 · hits / (predicted + actual)"}
_UNPREDICTED = "0 if the class is never predicted (undefined with `unpredicted: skip`)"
_WITHOUT_CLASS = {"precision": _UNPREDICTED} | dict.fromkeys(("recall", "f1"), "undefined if the gold lacks the class")
_WITHOUT_LABELS = {"precision": "0 if nothing is predicted (undefined with `unpredicted: skip`)"} | dict.fromkeys(
    ("recall", "f1"), "undefined if the gold has no labels"
)
_NO_LABELS = "if the gold has no labels"
_UNDEFINED = {
    "": "if the gold lacks the class",
    "_positive": "if no gold value is 1, or the run answers no gold items",
    "_macro": _NO_LABELS,
    "_macro_all": "if the run answers no gold items",
    "_micro": _NO_LABELS,
    "_weighted": _NO_LABELS,
}
_UNDEFINED_PRECISION = _UNDEFINED | {
    "": "only with `unpredicted: skip`, if the run lacks the class",
    "_positive": "if the run answers no gold items or, with `unpredicted: skip`, never predicts 1",
    "_macro": f"{_NO_LABELS} or, with `unpredicted: skip`, if no class has a value",
    "_micro": "only with `unpredicted: skip`, if the run has no labels",
}
_COMPARED_WITH = {
    "": "PyEvALL 0.2.11",
    "_positive": "the scorer of DETESTS 2022",
    "_macro": "PyEvALL 0.2.11, scikit-learn",
    "_macro_all": BY_HAND,
    "_micro": "scikit-learn",
    "_weighted": "scikit-learn",
}
_CONVENTIONS = ("Items", "Classes")
_SKIPPED = "; 0 for a class that is never predicted (left out of the mean with `unpredicted: skip`)"
_OVER = (
    "over the classes in the gold (by default), in the gold or run (`over: seen`), or in the format (`over: declared`)"
)

_GOLD = {"1": "a", "2": "a", "3": "a", "4": "b"}
_RUN = {"1": "a", "2": "a", "3": "b", "4": "b"}
_OF_A = {
    "precision": (1.0, "both items predicted as {} are correct"),
    "recall": (2 / 3, "two of the three {} items are found"),
    "f1": (0.8, "2 · 2 / (2 + 3)"),
}
_PAIRS = {"1": "x 1, y 1", "2": "x 1, y 0"}
_RUN_PAIRS = {"1": "x 1, y 1", "2": "x 0, y 0"}
_OF_PAIRS = {
    "precision_macro_all": (0.75, "2/2 for value 1 and 1/2 for value 0: (1 + 1/2) / 2"),
    "recall_macro_all": (5 / 6, "2/3 for value 1 and 1/1 for value 0: (2/3 + 1) / 2"),
    "f1_macro_all": (11 / 15, "4/5 for value 1 and 2/3 for value 0: (4/5 + 2/3) / 2"),
}
_OF_ALL = {
    "precision_macro": (0.75, "2/2 for a and 1/2 for b: (1 + 1/2) / 2"),
    "precision_micro": (0.75, "three of four predictions are correct"),
    "precision_weighted": (0.875, "2/2 for a and 1/2 for b: (3 · 1 + 1 · 1/2) / 4"),
    "recall_macro": (5 / 6, "2/3 for a and 1/1 for b: (2/3 + 1) / 2"),
    "recall_micro": (0.75, "three of four items are correct"),
    "recall_weighted": (0.75, "2/3 for a and 1/1 for b: (3 · 2/3 + 1 · 1) / 4"),
    "f1_macro": (11 / 15, "4/5 for a and 2/3 for b: (4/5 + 2/3) / 2"),
    "f1_micro": (0.75, "2 · 3 / (4 + 4)"),
    "f1_weighted": (23 / 30, "4/5 for a and 2/3 for b: (3 · 4/5 + 1 · 2/3) / 4"),
}


def _example(name: str, part: Part) -> Example:
    if part is Part.COLUMN:
        return Example("labels", _GOLD, _RUN, *_OF_ALL[name])
    if part is Part.NONE:
        return Example("table", _PAIRS, _RUN_PAIRS, *_OF_PAIRS[name])
    value, why = _OF_A[name.removesuffix("_positive")]
    if part is Part.CLASS:
        return Example("labels", _GOLD, _RUN, value, why.format("`a`"), part="a")
    gold, run = ({item: f"a {int(label == 'a')}" for item, label in side.items()} for side in (_GOLD, _RUN))
    return Example("table", gold, run, value, why.format("`a 1`"))


def _family(name: str, title: str, short: str, score: Score) -> tuple[Metric, ...]:
    options: Options = {"precision": {"unpredicted": ("zero", "skip")}, "f1": BETA}.get(name, {})
    ratio, empty, small = _RATIOS[name], _WITHOUT_CLASS[name], title if title.isupper() else title.lower()
    skipped = _SKIPPED if name == "precision" else ""

    def metric(suffix: str, title: str, short: str, formula: str, source: str, scorer: _Scorer, part: Part) -> Metric:
        return Metric(
            name=f"{name}{suffix}",
            title=title,
            short=short,
            formula=formula,
            source=source,
            undefined=(_UNDEFINED_PRECISION if name == "precision" else _UNDEFINED)[suffix],
            compared_with=_COMPARED_WITH[suffix],
            conventions=_CONVENTIONS,
            compute=scorer,
            example=_example(f"{name}{suffix}", part),
            kinds={Part.CLASS: LABELS, Part.COLUMN: LABELS | TABLE}.get(part, TABLE),
            part=part,
            options={**options, **(OVER if suffix == "_macro" else {})},
            counts_outside=name != "recall",
            heading=heading_of_f_beta(title, short, formula, ratio, _RATIO_OF_F_BETA) if name == "f1" else None,
        )

    return (
        metric(
            "",
            title,
            short,
            f"{ratio}; {empty}",
            f"PyEvALL 0.2.11; {_SKLEARN}",
            _Scorer(lambda comparison, spec: marks(comparison, None).of(spec.part), score, _only),
            Part.CLASS,
        ),
        metric(
            "_positive",
            f"{title} of the positive class",
            f"{short} pos.",
            f"{ratio} for class 1, pooled over all columns if no column is given; {empty}",
            f"{_DETESTS}; {_SKLEARN}",
            _Scorer(lambda comparison, spec: positive_marks(comparison, spec.part), score, _only),
            Part.COLUMN_OR_ALL,
        ),
        metric(
            "_macro",
            f"Macro {small}",
            f"Macro {short}",
            f"mean of {ratio} {_OVER}{skipped or '; 0 if the gold lacks the class'}",
            f"PyEvALL 0.2.11; {_HATEVAL}; {_SKLEARN}",
            _Scorer(_every, score, _mean),
            Part.COLUMN,
        ),
        metric(
            "_macro_all",
            f"Macro {small} over all columns",
            f"Macro {short}",
            f"mean of {ratio} over the values in the gold, with counts pooled over all columns{skipped}",
            f"Vargas et al. (2023), SSA, table 4; {_SKLEARN}",
            _Scorer(lambda comparison, _: marks_of_all_columns(comparison), score, _mean),
            Part.NONE,
        ),
        metric(
            "_micro",
            f"Micro {small}",
            f"Micro {short}",
            f"{ratio}, with counts pooled over all classes; {_WITHOUT_LABELS[name]}",
            _SKLEARN,
            _Scorer(lambda comparison, spec: marks(comparison, spec.part).pooled(), score, _only),
            Part.COLUMN,
        ),
        metric(
            "_weighted",
            f"Weighted {small}",
            f"Weighted {short}",
            f"mean of {ratio} over the classes in the gold, weighted by their frequency in the gold{skipped}",
            _SKLEARN,
            _Scorer(_every, score, _weighted_mean),
            Part.COLUMN,
        ),
    )


METRICS = (
    *_family("precision", "Precision", "P", _precision),
    *_family("recall", "Recall", "R", _recall),
    *_family("f1", "F1", "F1", _f1),
    Metric(
        name="f1_macro_mean",
        title="Mean of macro F1 over the columns",
        short="Mean F1",
        formula="mean of macro F1 over the table's columns; a column's macro F1 is the mean over the values in the "
        "gold (by default), in the gold or run (`over: seen`), or all allowed values (`over: declared`); 0 for a value "
        "that the gold lacks",
        source="Basile et al. (2019), SemEval-2019 Task 5 (HatEval), section 4.2",
        compared_with="the scorer of HatEval 2019",
        conventions=_CONVENTIONS,
        compute=_f1_macro_mean,
        contributions=_f1_macro_mean_contributions,
        example=Example(
            kind="table",
            gold={"1": "HS 1, TR 1", "2": "HS 0, TR 0"},
            run={"1": "HS 1, TR 0", "2": "HS 0, TR 0"},
            value=2 / 3,
            why="1 for HS and (0 + 2/3) / 2 = 1/3 for TR: (1 + 1/3) / 2",
        ),
        kinds=TABLE,
        options=OVER,
        counts_outside=True,
    ),
    Metric(
        name="f1_positive_mean",
        title="Mean F1 of class 1 over the columns",
        short="Macro F1",
        formula="mean over the table's columns of 2 · items with 1 in both / (items with 1 in the run + items with "
        "1 in the gold); a column with no 1 on either side counts as 0 (as 1 with `empty: one`; it is "
        "left out with `empty: skip`)",
        source="scikit-learn, f1_score of a matrix of labels, average='macro', zero_division=0",
        undefined="only with `empty: skip`, if neither side has a 1 in any column",
        compared_with="scikit-learn",
        conventions=_CONVENTIONS,
        compute=_f1_positive_mean,
        contributions=_f1_positive_mean_contributions,
        example=Example(
            kind="table",
            gold={"1": "joy 1, fear 1", "2": "joy 1, fear 0", "3": "joy 0, fear 0"},
            run={"1": "joy 1, fear 0", "2": "joy 0, fear 0", "3": "joy 1, fear 0"},
            value=1 / 4,
            why="2 · 1 / (2 + 2) = 1/2 for joy and 0 for fear: (1/2 + 0) / 2",
        ),
        kinds=TABLE,
        options={"empty": ("zero", "one", "skip")},
    ),
)
