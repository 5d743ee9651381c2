"""Precision, recall and F1 of typed entities: strict, by boundaries, by overlap and by type (SemEval-2013, task 9)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from scoring.answers import Rows
from scoring.definition import MetricSpec
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.entity_matching import IOU, MATCHES, sides, sides_by_type
from scoring.metrics.metric import (
    ENTITIES,
    OVER,
    AnyNumber,
    Contributions,
    Example,
    Metric,
    Numbers,
    Options,
    Part,
    Sums,
    number,
    per_row,
    ratios,
)


@dataclass(frozen=True, slots=True)
class Column:
    """Numbers that are counted for each type: the gold row, the type and the number of each entity or surface form."""

    owners: Rows
    kinds: Rows
    numbers: Numbers

    def of_items(self, kind: int | None, items: int) -> Numbers:
        """Return the sum for each item (items,), of one type or, by default, of all types."""
        if kind is None:
            return per_row(self.owners, self.numbers, items)
        kept = self.kinds == kind
        return per_row(self.owners[kept], self.numbers[kept], items)

    def of_types(self, types: int, items: int) -> Numbers:
        """Return the sum for each type (types,): the sum of the items' sums."""
        cells, places = np.unique(self.kinds * items + self.owners, return_inverse=True)
        sums = per_row(places, self.numbers, len(cells))
        return per_row(cells // items, sums, max(types, int(self.kinds.max(initial=0)) + 1))[:types]


def ones(owners: Rows, kinds: Rows) -> Column:
    """Return the column that counts entities."""
    return Column(owners, kinds, np.ones(len(owners)))


def _columns(comparison: EntityComparison, match: str, least: float, apart: bool) -> tuple[Column, ...]:
    """Return the credit of the run entities, their number, and the number of gold entities.

    Args:
        apart: whether entities match only within their type.
    """
    gold, run = comparison.once(sides_by_type if apart else sides)
    credit = MATCHES[match](gold, run, least)
    return Column(run.owners, run.kinds, credit), ones(run.owners, run.kinds), ones(gold.owners, gold.kinds)


Measure = Callable[[Numbers], Numbers]  # takes counts (…, 3)


def precision(counts: Numbers) -> Numbers:
    return ratios(counts[..., 0], counts[..., 1], 0.0)


def recall(counts: Numbers) -> Numbers:
    return ratios(counts[..., 0], counts[..., 2])


def f1(counts: Numbers) -> Numbers:
    values = ratios(2 * counts[..., 0], counts[..., 1] + counts[..., 2])
    return np.where(counts[..., 2] > 0, values, np.nan)


_NO_ENTITIES = "if the gold has no entities"
_NONE_OF_TYPE = f"{_NO_ENTITIES}, or none of the given type"
UNDEFINED: dict[str, str | None] = {"precision": None, "recall": _NONE_OF_TYPE, "f1": _NONE_OF_TYPE}
# Returns the columns that are counted, for all types together or for each type apart. The second one counts the run's
# entities, and the last one those of the gold.
Columns = Callable[[EntityComparison, MetricSpec, bool], tuple[Column, ...]]


def micro_and_macro(
    name: str,
    titles: tuple[str, str],
    formula: str,
    undefined: str | None,
    columns: Columns,
    measure: Measure,
    examples: tuple[Example, Example],
    metric: Callable[..., Metric],
    options: Options | None = None,
) -> tuple[Metric, Metric]:
    """Return the metric that computes a measure over all entities together, and its mean over types.

    Args:
        titles: the title and the short title.
        undefined: when the value over all entities is undefined.
        examples: one for each metric.
        metric: `Metric` with what both have in common, such as the source.
    """
    (title, short), options, (example, macro_example) = titles, options or {}, examples

    def micro(comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        found, kind = columns(comparison, spec, spec.part is not None), None
        if spec.part is not None:
            kind = comparison.types.index(spec.part) if spec.part in comparison.types else -1
        items = len(comparison.gold)
        return Contributions(np.column_stack([column.of_items(kind, items) for column in found]), measure)

    return (
        metric(
            name=name,
            title=title,
            short=short,
            formula=formula,
            undefined=undefined,
            compute=Sums(micro),
            example=example,
            part=Part.TYPE,
            options=options,
        ),
        metric(
            name=f"{name}_macro",
            title=f"{title}, macro",
            short=f"Macro {short}",
            formula=f"mean of {name} over the types in the gold (by default), in the gold or run (`over: seen`, as in "
            "seqeval), or in `classes` (`over: declared`); an undefined value counts as 0",
            undefined=_NO_ENTITIES,
            compute=_Macro(columns, measure),
            example=macro_example,
            options={**OVER, **options},
        ),
    )


@dataclass(frozen=True, slots=True)
class _Macro:
    """A metric that averages a measure over the types that `over` selects."""

    columns: Columns
    measure: Measure

    def __call__(self, comparison: EntityComparison, spec: MetricSpec) -> float | None:
        """Return the mean. Many items with many types never form a table."""
        types, items = len(comparison.gold.entities.types), len(comparison.gold)
        if not types or not items:
            return None
        sums = [column.of_types(types, items) for column in self.columns(comparison, spec, True)]
        value = float(self._mean(np.column_stack(sums), spec))
        return None if np.isnan(value) else value

    def contributions(self, comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        types, items = len(comparison.gold.entities.types), len(comparison.gold)
        if not types:
            return Contributions(np.zeros((items, 1)), lambda sums: np.full(sums.shape[:-1], np.nan))
        columns = self.columns(comparison, spec, True)
        counts = [column.of_items(kind, items) for kind in range(types) for column in columns]
        return Contributions(
            np.column_stack(counts), lambda sums: self._mean(sums.reshape(*sums.shape[:-1], types, -1), spec)
        )

    def _mean(self, by_type: Numbers, spec: MetricSpec) -> Numbers:
        in_gold, in_run = by_type[..., -1] > 0, by_type[..., 1] > 0
        over = spec.options.get("over", "gold")
        held = {"gold": in_gold, "seen": in_gold | in_run}.get(over, np.ones_like(in_gold))
        values = np.where(held, np.nan_to_num(self.measure(by_type)), 0.0)
        return ratios(values.sum(axis=-1), held.sum(axis=-1))


_GOLD = {"1": "PER 0-2, LOC 3-4", "2": "PER 1-4, ORG 5-6"}
_RUN = {"1": "PER 0-2, ORG 3-4", "2": "PER 1-3"}
_example = partial(Example, "entities", _GOLD, _RUN)
_WORDS = {
    "strict": ("", "with the same boundaries and type as a gold entity", "one (PER 0-2)"),
    "exact": (", exact", "with the same boundaries as a gold entity, regardless of type", "two (PER 0-2 and ORG 3-4)"),
    "partial": (
        ", partial",
        "with the same boundaries as a gold entity, regardless of type, plus half of those that only overlap with one",
        "1 + 1 + 1/2",
    ),
    "type": (", by type", "that overlap with a gold entity of the same type", "two (PER 0-2 and PER 1-3)"),
    "iou": (
        ", by IoU",
        "whose IoU (intersection / union) with a gold entity of the same type is at least the value of "
        "`at_least` (0.5 by default)",
        "two (PER 0-2, and PER 1-3, whose IoU with PER 1-4 is 2/3)",
    ),
}
_CREDIT = {"strict": 1.0, "exact": 2.0, "partial": 2.5, "type": 2.0, "iou": 2.0}
_OF_PER = {"strict": 1.0, "exact": 1.0, "partial": 1.5, "type": 2.0, "iou": 2.0}  # for PER alone; LOC and ORG have 0
MEASURES: dict[str, tuple[str, Measure, str, str]] = {
    "precision": ("Entity precision", precision, "P", "matches / run entities; 0 if the run has none"),
    "recall": ("Entity recall", recall, "R", "matches / gold entities; undefined if the gold has none"),
    "f1": ("Entity F1", f1, "F1", "2 · matches / (run entities + gold entities); undefined if the gold has none"),
}
_SOURCE = "Tjong Kim Sang and De Meulder (2003), CoNLL-2003 shared task; seqeval 1.2.2; nervaluate 1.2.1"
_SOURCE_2013 = "Segura-Bedmar et al. (2013), SemEval-2013 task 9; nervaluate 1.2.1"
_SOURCES = {"strict": _SOURCE, "iou": "DeYoung et al. (2020), ERASER, section 5.2: IOU F1"}
_COMPARED_WITH = {"strict": "seqeval 1.2.2, nervaluate 1.2.1", "iou": "an independent token-by-token count"}
_AT_LEAST: Options = {"at_least": AnyNumber(0)}


def _metrics(match: str, measure: str) -> tuple[Metric, Metric]:
    title, function, short, formula = MEASURES[measure]
    words, matches, credit = _WORDS[match]
    whole = {"precision": 3.0, "recall": 4.0, "f1": 3.5}[measure]
    matches_of_per = f"{_OF_PER[match]:g} match" + ("" if _OF_PER[match] == 1 else "es")
    divided = {"precision": "3", "recall": "4", "f1": "((3 + 4) / 2)"}[measure]

    def columns(comparison: EntityComparison, spec: MetricSpec, apart: bool) -> tuple[Column, ...]:
        return comparison.once(_columns, match, number(spec, "at_least", IOU), apart)

    return micro_and_macro(
        f"entity_{measure}" if match == "strict" else f"entity_{measure}_{match}",
        (f"{title}{words}", f"{short}{words}"),
        f"{formula}; matches are run entities {matches}; computed over all items together",
        UNDEFINED[measure],
        columns,
        function,
        (
            _example(_CREDIT[match] / whole, f"the number of matches is {credit}: {_CREDIT[match]:g} / {divided}"),
            _example(
                _OF_PER[match] / 2 / 3,
                f"PER has 2 entities on each side and {matches_of_per}, while LOC and ORG have no "
                f"matches: ({_OF_PER[match]:g} / 2 + 0 + 0) / 3",
            ),
        ),
        partial(
            Metric,
            kinds=ENTITIES,
            source=_SOURCES.get(match, _SOURCE_2013),
            compared_with=_COMPARED_WITH.get(match, "nervaluate 1.2.1"),
            conventions=("Entities", "Entities by IoU") if match == "iou" else ("Entities",),
        ),
        _AT_LEAST if match == "iou" else {},
    )


METRICS = (*(metric for match in MATCHES for measure in MEASURES for metric in _metrics(match, measure)),)
