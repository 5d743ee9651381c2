"""All metrics by name. To add a family, add a module and an entry in FAMILIES, or provide a separate package.

A separate package declares its `Metric` in the entry point group `agon.metrics`: `my_metric = "package:MY_METRIC"`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from scoring.answers import AnswerKind
from scoring.definition import MetricSpec, ScorerColumn
from scoring.definition.scorer import NAME as SCORER
from scoring.definition.slices import RIGHT, Slicing, shown_value
from scoring.formats import FORMATS
from scoring.metrics import (
    accuracy,
    annotators,
    correlation,
    cross_entropy,
    curves,
    distance,
    divergence,
    entities,
    entity_coverage,
    entity_forms,
    errors,
    hierarchical_f,
    icm,
    icm_soft,
    kappa,
    meteor,
    multilabel,
    ordinal,
    precision_recall,
    ranked,
    regression,
    rouge,
    span_characters,
    span_f1,
    ssa,
    text_distance,
    text_match,
    translation,
    tuple_credit,
    tuple_numbers,
    tuples,
    unintended_bias,
    verification,
)
from scoring.metrics.combination import Combination, joined
from scoring.metrics.comparison import Comparison, MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import AnswerKinds, Contributions, Heading, Metric, MetricInfo, Part, SomeColumns
from scoring.metrics.slices import in_slice, is_right, kept, named_slices, part_of, placed, restricted
from scoring.metrics.stand_in import in_words, stand_in, with_stand_in
from scoring.reports.nearest import nearest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ENTRY_POINTS = "agon.metrics"
FAMILIES = (
    accuracy,
    kappa,
    precision_recall,
    icm,
    icm_soft,
    cross_entropy,
    divergence,
    errors,
    regression,
    correlation,
    ordinal,
    distance,
    annotators,
    verification,
    curves,
    unintended_bias,
    multilabel,
    hierarchical_f,
    span_f1,
    span_characters,
    entities,
    entity_coverage,
    entity_forms,
    ranked,
    translation,
    rouge,
    meteor,
    text_match,
    text_distance,
    tuples,
    tuple_credit,
    tuple_numbers,
    ssa,
)
METRICS: dict[str, Metric] = {metric.name: metric for family in FAMILIES for metric in family.METRICS}
# The columns of organizers' own scorers, which run in processes of their own (`scoring.own_scorers`). Here, they are
# undefined. `describe` and `value_range` use what task.yaml says about each column.
OWN_SCORER = Metric(
    name=SCORER,
    title="Own scorer",
    short="Own scorer",
    formula="Computed by the organizers' own scoring program",
    source="the organizers' own scoring program",
    compute=lambda _comparison, _spec: None,
    kinds=frozenset(get_args(AnswerKind)),
    numbers=True,
    low=None,
    high=None,
)


def find(name: str) -> Metric | None:
    """Find a built-in metric, or one from an installed package's entry points `agon.metrics`."""
    if name == SCORER:
        return OWN_SCORER
    return METRICS.get(name) or _announced(name)


def needs_texts(spec: MetricSpec) -> bool:
    """Return whether a metric needs the texts of the items. For an unknown metric, return False."""
    metric = find(spec.name)
    return metric is not None and metric.needs_texts


@cache
def _entries() -> "dict[str, EntryPoint]":
    """Return the entry points of installed packages by name. Reading them takes time, so it is done only once."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes a third of the engine's startup time

    found: dict[str, EntryPoint] = {}
    for entry in entry_points(group=ENTRY_POINTS):
        found.setdefault(entry.name, entry)
    return found


@cache
def _announced(name: str) -> Metric | None:
    entry = _entries().get(name)
    if entry is None:
        return None
    metric = entry.load()
    if not isinstance(metric, Metric):
        raise TypeError(
            f"{entry.value} is declared under {ENTRY_POINTS} but is not an instance of scoring.metrics.Metric"
        )
    return replace(metric, name=name)


def names() -> list[str]:
    """Return the names of all metrics, including those of installed packages."""
    return sorted({*METRICS, *_entries()})


class UnknownMetricError(KeyError):
    """There is no metric with this name. The message suggests the most similar name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


def get(name: str) -> Metric:
    """Return the metric with this name.

    Raises:
        UnknownMetricError: there is none.
    """
    metric = find(name)
    if metric is None:
        near = nearest(name, names())
        raise UnknownMetricError(
            f"there is no metric {name}" + (f"; did you mean {near}?" if near else existing_names())
        )
    return metric


def existing_names(kind: str | None = None) -> str:
    """Return the end of a sentence with the names of all metrics, or of those for one kind of answers."""
    suited = [name for name in names() if kind is None or name not in METRICS or kind in METRICS[name].kinds]
    return f"; existing metrics: {', '.join(suited)}"


def compute(comparison: Comparison, spec: MetricSpec) -> float | None:
    """Compute a metric at full precision. Return None if it is undefined.

    Raises:
        ValueError: the metric does not support these answers, or needs a class.
    """
    metric = None if spec.of else _suited(spec, comparison)
    where = None if metric is not None and metric.sees_background else spec.where
    judged = comparison if where is None else restricted(comparison, where)
    if judged is None:
        return None
    if metric is None:
        values = [compute(judged, part) for part in parts_of(spec, judged.gold)]
        return Combination.of(spec, len(values)).score(values) if values else None
    value = metric.compute(judged, spec)
    return value if value is not None and math.isfinite(value) else stand_in(judged, spec)


def contributions(comparison: Comparison, spec: MetricSpec) -> Contributions | None:
    """Return each item's contribution to a metric.

    Return None if the metric is undefined or is not a function of sums over the items.

    Raises:
        ValueError: the metric does not support these answers.
    """
    if not spec.of and (_suited(spec, comparison).contributions is None or not len(comparison.gold)):
        return None
    if spec.where is not None:
        return _contributions_where(comparison, spec, spec.where)
    return _contributions_of_all(comparison, spec)


def _contributions_of_all(comparison: Comparison, spec: MetricSpec) -> Contributions | None:
    """Return the contributions of the comparison's items, even if the metric is limited to a slice."""
    if spec.of:
        of = parts_of(spec, comparison.gold)
        parts = [found for part in of if (found := contributions(comparison, part)) is not None]
        return joined(parts, Combination.of(spec, len(of))) if of and len(parts) == len(of) else None
    per_item = get(spec.name).contributions
    found = None if per_item is None else per_item(comparison, spec)
    return None if found is None else with_stand_in(found, comparison, spec)


def _contributions_where(comparison: Comparison, spec: MetricSpec, where: tuple[str, str]) -> Contributions | None:
    """Return the contributions of a slice's items or, with `@right`, of the items that the run answers correctly.

    With `@right`, return None if the contributions of these items do not add up to the metric.
    """
    if where[0] != RIGHT:
        part = part_of(comparison, where)
        found = None if part is None else _contributions_of_all(part, spec)
        if found is None:
            return None
        rows, items = in_slice(comparison.gold, where), len(comparison.gold)
        return placed(found, rows, items, lacks=where in comparison.lacks)
    whole = _contributions_of_all(comparison, spec)
    if whole is None:
        return None
    found, value = kept(whole, is_right(comparison, where[1])), compute(comparison, spec)
    added_up = float(found.combine(found.values.sum(axis=0)))
    return found if value is not None and math.isclose(added_up, value, rel_tol=1e-9, abs_tol=1e-12) else None


def parts_of(spec: MetricSpec, gold: LoadedGold) -> tuple[MetricSpec, ...]:
    """Return the parts of a combined score or, with `slices`, its only metric in each slice of the gold."""
    name = spec.options.get("slices")
    if name is None:
        return spec.of
    return tuple(replace(spec.of[0], where=(name, value)) for value in named_slices(gold, name))


def _suited(spec: MetricSpec, comparison: Comparison) -> Metric:
    """Return the metric that computes `spec`.

    Raises:
        ValueError: it does not support the comparison's answers, or lacks a class or option.
    """
    metric = get(spec.name)
    if metric.part is Part.CLASS and not spec.part:
        raise ValueError(f"{spec.name} requires a class, such as {spec.name}:YES")
    if lacking := lacking_option(metric, spec):
        raise ValueError(lacking)
    kinds = comparison.kinds(metric.numbers)
    if not kinds & metric.kinds:
        supported, given = listed_formats(metric.kinds), listed_formats(kinds)
        raise ValueError(f"{spec.key} supports {supported} runs; this comparison is for {given} runs")
    if metric.single_label and isinstance(comparison, MatrixComparison) and comparison.has_several_labels:
        raise ValueError(
            f"{spec.key} requires one label per item, but these items have several. Use exact_match_ratio, jaccard "
            "or hamming_loss instead."
        )
    return metric


def lacking_option(metric: Metric, spec: MetricSpec) -> str | None:
    """Return a sentence about an option that the metric requires and `spec` lacks, or None."""
    for name, allowed in metric.options.items():
        if isinstance(allowed, SomeColumns) and allowed.required and name not in spec.options:
            return f"{spec.name} requires the {name} option: {{name: {spec.name}, {name}: COLUMN}}"
    return None


def formats_of(kinds: AnswerKinds) -> list[str]:
    """Return the names of the run formats with these kinds of answers."""
    return sorted(name for name, known in FORMATS.items() if known.answers in kinds)


def listed_formats(kinds: AnswerKinds) -> str:
    """Return the names of these formats as part of a sentence."""
    return " and ".join(formats_of(kinds))


def plain(specs: Iterable[MetricSpec]) -> list[MetricSpec]:
    """Replace combined scores with the metrics that they are built from."""
    return [leaf for spec in specs for leaf in spec.leaves()]


def slices_used(specs: Sequence[MetricSpec]) -> list[str]:
    """Return the names of the slices that the metrics need, each once. One of them can be `right`."""
    combined = [str(name) for spec in _scores(specs) if (name := spec.options.get("slices"))]
    return list(dict.fromkeys([*combined, *(spec.where[0] for spec in plain(specs) if spec.where)]))


def _scores(specs: Iterable[MetricSpec]) -> Iterator[MetricSpec]:
    """Yield the combined scores at all levels."""
    for spec in specs:
        if spec.of:
            yield spec
            yield from _scores(spec.of)


def value_range(spec: MetricSpec) -> tuple[float | None, float | None]:
    """Return the range of values, with None for an unbounded end."""
    if spec.scorer_column is not None:
        return spec.scorer_column.bounds
    if not spec.of:
        metric = get(spec.name)
        is_open = metric.exceeds_high is not None and metric.exceeds_high(spec)
        return metric.low, None if is_open else metric.high
    return Combination.of(spec, len(spec.of)).range([value_range(part) for part in spec.of])


def _describe_combined(spec: MetricSpec, slicings: Mapping[str, Slicing]) -> MetricInfo:
    parts = [describe(part, slicings) for part in spec.of]
    title, slices = str(spec.options["title"] or spec.part), spec.options.get("slices")
    each = f" in each of the slices {_title_of(slices, slicings)}" if slices else ""
    named = ", ".join(part.title for part in parts) + each
    where, short = _where(spec, slicings)
    return MetricInfo(
        key=spec.key,
        title=title + where,
        short=title + short,
        higher_is_better=parts[0].higher_is_better and spec.options["by"] != "gap",
        formula=Combination.of(spec, len(parts)).words(named),
        source="; ".join(dict.fromkeys(describe(part).source for part in plain([spec]))),
    )


def _where(spec: MetricSpec, slicings: Mapping[str, Slicing]) -> tuple[str, str]:
    """Return what a metric's title and short title say about its slice."""
    if spec.where is None:
        return "", ""
    slices, value = spec.where[0], shown_value(spec.where[1])
    title = f" where {value} is correct" if slices == RIGHT else f", {_title_of(slices, slicings)} {value}"
    return title, f" ({value})"


def _title_of(slices: str, slicings: Mapping[str, Slicing]) -> str:
    return slicings[slices].title if slices in slicings else slices


def describe(spec: MetricSpec, slicings: Mapping[str, Slicing] = MappingProxyType({})) -> MetricInfo:
    """Describe a metric for the column heading of a leaderboard. `slicings` are the track's `slices`.

    Raises:
        UnknownMetricError: there is no such metric.
    """
    if spec.of:
        return _describe_combined(spec, slicings)
    if spec.scorer_column is not None:
        return _describe_column(spec, spec.scorer_column)
    metric = get(spec.name)
    ranked = metric.part in (Part.CUTOFF, Part.CUTOFF_OR_ALL)
    heading = metric.heading(spec) if metric.heading else Heading(metric.title, metric.short, metric.formula)
    where, short = _where(spec, slicings)
    alias = f" ({spec.alias})" if spec.alias else ""
    return MetricInfo(
        key=spec.key,
        title=heading.title + (f"{' at ' if ranked else ': '}{spec.part}" if spec.part else "") + alias + where,
        short=heading.short + (f"{'@' if ranked else ' '}{spec.part}" if spec.part else "") + alias + short,
        higher_is_better=metric.higher_is_better,
        formula=heading.formula + in_words(spec),
        source=f"{metric.source}; {metric.signature(spec)}" if metric.signature else metric.source,
    )


def _describe_column(spec: MetricSpec, column: ScorerColumn) -> MetricInfo:
    title = column.title or column.key
    better, formula, source = column.higher_is_better, OWN_SCORER.formula, OWN_SCORER.source
    return MetricInfo(spec.key, title, title, better, formula, source)


def decimals(spec: MetricSpec, otherwise: int) -> int:
    """Return the number of decimal places to show: those of the metric, or those of its track."""
    if spec.scorer_column is not None and spec.scorer_column.decimals is not None:
        return spec.scorer_column.decimals
    return 0 if is_count(spec) else otherwise


def is_count(spec: MetricSpec) -> bool:
    """Return whether the values of a metric are whole numbers."""
    return not spec.of and get(spec.name).is_count
