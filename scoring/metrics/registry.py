"""All metrics by name. To add a family, add a module and an entry in FAMILIES, or provide a separate package.

A separate package declares its `Metric` under the entry points `agon.metrics`: `my_metric = "package:MY_METRIC"`.
"""

import math
from collections.abc import Iterable
from dataclasses import replace
from functools import cache

import numpy as np

from scoring.definition import MetricSpec, Track
from scoring.definition.slices import RIGHT
from scoring.formats import FORMATS, answer_kind
from scoring.formats.table import values_of
from scoring.metrics import (
    accuracy,
    annotators,
    correlation,
    cross_entropy,
    curves,
    divergence,
    entities,
    entity_coverage,
    entity_forms,
    errors,
    hierarchical_f,
    icm,
    icm_soft,
    kappa,
    multilabel,
    ordinal,
    precision_recall,
    ranked,
    rouge,
    span_f1,
    ssa,
    text_distance,
    text_match,
    translation,
    unintended_bias,
    verification,
)
from scoring.metrics.combination import NAMES, Combination, joined
from scoring.metrics.comparison import Comparison, MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import AnswerKinds, AnyNumber, Contributions, Metric, MetricInfo, Part
from scoring.metrics.slices import in_slice, is_right, kept, part_of, placed, restricted
from scoring.reports.nearest import nearest

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
    correlation,
    ordinal,
    annotators,
    verification,
    curves,
    unintended_bias,
    multilabel,
    hierarchical_f,
    span_f1,
    entities,
    entity_coverage,
    entity_forms,
    ranked,
    translation,
    rouge,
    text_match,
    text_distance,
    ssa,
)
METRICS: dict[str, Metric] = {metric.name: metric for family in FAMILIES for metric in family.METRICS}


def find(name: str) -> Metric | None:
    """Find the metric with that name, built in or from the entry point `agon.metrics` of an installed package."""
    return METRICS.get(name) or _announced(name)


def needs_texts(spec: MetricSpec) -> bool:
    """Whether a metric needs the texts of the items. False for an unknown metric."""
    metric = find(spec.name)
    return metric is not None and metric.needs_texts


@cache
def _announced(name: str) -> Metric | None:
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes a third of the time that the engine may start in

    for entry in entry_points(group=ENTRY_POINTS, name=name):
        metric = entry.load()
        if not isinstance(metric, Metric):
            raise TypeError(f"{entry.value} is declared under {ENTRY_POINTS} but is not a scoring.metrics.Metric")
        return replace(metric, name=name)
    return None


def names() -> list[str]:
    """Return the names of all metrics, including those of installed packages."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as in `_announced`

    return sorted({*METRICS, *entry_points(group=ENTRY_POINTS).names})


class UnknownMetricError(KeyError):
    """There is no metric with that name. The message suggests the most similar name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would quote it


def get(name: str) -> Metric:
    """Return the metric with that name. Raise UnknownMetricError if it does not exist."""
    metric = find(name)
    if metric is None:
        near = nearest(name, names())
        raise UnknownMetricError(f"there is no metric {name}" + (f"; did you mean {near}?" if near else _all_names()))
    return metric


def _all_names() -> str:
    return f"; existing metrics: {', '.join(names())}"


def compute(comparison: Comparison, spec: MetricSpec) -> float | None:
    """Compute a metric at full precision. Return None if it is undefined.

    Raises:
        ValueError: the metric does not support such answers, or needs a class.
    """
    if spec.of:
        values = [compute(comparison, part) for part in parts_of(spec, comparison.gold)]
        if not values:
            return None
        combine = Combination.of(spec, len(values))
        combined = float(combine(np.array([np.nan if one is None else one for one in values])))
        return combined if math.isfinite(combined) else None
    metric = _suited(spec, comparison)
    judged = comparison if spec.where is None or metric.sees_background else restricted(comparison, spec.where)
    value = None if judged is None else metric.compute(judged, spec)
    return value if value is not None and math.isfinite(value) else None


def contributions(comparison: Comparison, spec: MetricSpec) -> Contributions | None:
    """Return each item's contribution to a metric.

    Return None if the metric is undefined, or is not a function of sums over the items.

    Raises:
        ValueError: the metric does not support such answers.
    """
    if spec.of:
        of = parts_of(spec, comparison.gold)
        parts = [found for part in of if (found := contributions(comparison, part)) is not None]
        return joined(parts, Combination.of(spec, len(of))) if of and len(parts) == len(of) else None
    metric = _suited(spec, comparison)
    if metric.contributions is None or not len(comparison.gold):
        return None
    if spec.where is not None:
        return _contributions_where(comparison, metric, spec, spec.where)
    result: Contributions | None = metric.contributions(comparison, spec)
    return result


def _contributions_where(
    comparison: Comparison, metric: Metric, spec: MetricSpec, where: tuple[str, str]
) -> Contributions | None:
    """Return the contributions of a slice's items or, with `@right`, of the items that the run answers correctly.

    Return None for `@right` if the contributions of these items do not add up to the metric.
    """
    assert metric.contributions is not None
    if where[0] != RIGHT:
        part = part_of(comparison, where)
        found = None if part is None else metric.contributions(part, spec)
        if found is None:
            return None
        rows, items = in_slice(comparison.gold, where), len(comparison.gold)
        return placed(found, rows, items, lacks=where in comparison.lacks)
    whole = metric.contributions(comparison, spec)
    if whole is None:
        return None
    found, value = kept(whole, is_right(comparison, where[1])), compute(comparison, spec)
    added_up = float(found.combine(found.values.sum(axis=0)))
    return found if value is not None and math.isclose(added_up, value, rel_tol=1e-9, abs_tol=1e-12) else None


def parts_of(spec: MetricSpec, gold: LoadedGold) -> tuple[MetricSpec, ...]:
    """Return the parts of a combined score or, with `slices`, its one metric in each slice of the gold."""
    name = spec.options.get("slices")
    if name is None:
        return spec.of
    if name not in gold.slice_columns:
        raise ValueError(f"there are no slices {name}; existing slices: {', '.join(gold.slice_columns) or 'none'}")
    return tuple(replace(spec.of[0], where=(name, value)) for value in gold.slices(name))


def _suited(spec: MetricSpec, comparison: Comparison) -> Metric:
    """Return the metric if it supports such answers."""
    metric = get(spec.name)
    if metric.part is Part.CLASS and not spec.part:
        raise ValueError(f"{spec.name} needs a class, such as {spec.name}:YES")
    kinds = comparison.kinds(metric.numbers)
    if not kinds & metric.kinds:
        raise ValueError(
            f"{spec.key} supports {_listed(metric.kinds)} runs; this comparison is for {_listed(kinds)} runs"
        )
    if metric.single_label and isinstance(comparison, MatrixComparison) and comparison.has_several_labels:
        raise ValueError(
            f"{spec.key} needs one label per item, but these items have several."
            " exact_match_ratio, jaccard and hamming_loss support several labels."
        )
    return metric


def formats_of(kinds: AnswerKinds) -> list[str]:
    """Return the run formats with such answers."""
    return sorted(name for name, known in FORMATS.items() if known.answers in kinds)


def _listed(kinds: AnswerKinds) -> str:
    return " and ".join(formats_of(kinds))


def plain(specs: Iterable[MetricSpec]) -> list[MetricSpec]:
    """Return the metrics, with combined scores replaced by their parts."""
    return [part for spec in specs for part in spec.of or (spec,)]


def value_range(spec: MetricSpec) -> tuple[float | None, float | None]:
    """Return the range of values, with None for an unbounded end."""
    ranges = [(metric.low, metric.high) for metric in (get(part.name) for part in plain([spec]))]
    return Combination.of(spec, len(ranges)).range(ranges) if spec.of else ranges[0]


def _describe_combined(spec: MetricSpec) -> MetricInfo:
    parts = [describe(part) for part in spec.of]
    title, slices = str(spec.options["title"] or spec.part), spec.options.get("slices")
    named = ", ".join(part.title for part in parts) + (f" in each of the slices {slices}" if slices else "")
    return MetricInfo(
        key=spec.key,
        title=title,
        short=title,
        higher_is_better=parts[0].higher_is_better and spec.options["by"] != "gap",
        formula=Combination.of(spec, len(parts)).words(named),
        source="; ".join(dict.fromkeys(part.source for part in parts)),
    )


def describe(spec: MetricSpec) -> MetricInfo:
    """Describe a metric for the column heading of a leaderboard. Raise KeyError if the metric is unknown."""
    if spec.of:
        return _describe_combined(spec)
    metric = get(spec.name)
    ranked = metric.part in (Part.CUTOFF, Part.CUTOFF_OR_ALL)
    slices, value = spec.where or ("", "")
    where = "" if not slices else f" where {value} is correct" if slices == RIGHT else f", {slices} {value}"
    return MetricInfo(
        key=spec.key,
        title=metric.title + (f"{' at ' if ranked else ': '}{spec.part}" if spec.part else "") + where,
        short=metric.short
        + (f"{'@' if ranked else ' '}{spec.part}" if spec.part else "")
        + (f" ({value})" * bool(slices)),
        higher_is_better=metric.higher_is_better,
        formula=metric.formula,
        source=f"{metric.source}; {metric.signature(spec)}" if metric.signature else metric.source,
    )


def validate(spec: MetricSpec, track: Track) -> str | None:
    """Return the problem of a metric in a track's definition as one sentence, or None."""
    if spec.of:
        of = spec.of
        if spec.options["columns"] and (track.files is None or spec.options["slices"] != track.files.name):
            return f"{spec.key} can have columns only for the files of a run: set slices: to their name"
        if (name := spec.options["slices"]) is not None:
            if error := _validate_slices(name, track):
                return error
            if of[0].where is not None:
                return f"{spec.key} is computed in each of the slices {name}: remove @{'='.join(of[0].where)}"
            of = tuple(replace(part, where=(name, "")) for part in of)
        return next(filter(None, (validate(part, track) for part in of)), None) or _validate_combined(spec)
    metric = find(spec.name)
    if metric is None:
        return f"there is no metric {spec.name}{_all_names()}"
    if answer_kind(track) not in metric.kinds:
        return f"{spec.name} supports {_listed(metric.kinds)} runs, not {track.format.kind}"
    if metric.single_label and track.format.options.get("multi"):
        return f"{spec.name} needs one class per item, but this track allows several (exact_match_ratio supports this)"
    if not metric.numbers and track.format.options.get("numbers"):
        ours = ", ".join(name for name, own in METRICS.items() if own.numbers and not own.ordinal)
        return f"{spec.name} supports labels, but this track's table contains numbers, which only {ours} support"
    return (
        _validate_part(metric, spec, track)
        or _validate_order(metric, spec, track)
        or _validate_options(metric, spec)
        or _validate_slice(metric, spec, track)
    )


def _validate_slice(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if spec.where is None:
        return f"{spec.name} needs a slice: {spec.name}@group=a" if metric.sees_background else None
    name, value = spec.where
    if name != RIGHT:
        return _validate_slices(name, track)
    known = (*track.format.options.get("columns", ()), *track.format.options.get("classes", ()))
    if metric.sees_background:
        return f"{spec.name} needs a slice, not {RIGHT}"
    return None if value in known else f"{RIGHT} needs one of {', '.join(known)}, not {value}"


def _validate_slices(name: str, track: Track) -> str | None:
    if name in track.slices:
        return None
    return f"the track has no slices {name}" + (f"; its slices are {', '.join(track.slices)}" if track.slices else "")


def _validate_order(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if not metric.ordinal or answer_kind(track) != "table":
        return None
    column = spec.part or track.format.options["columns"][0]
    if values_of(track.format)[column]:
        return None
    return f"{spec.name} needs a list of values for the column {column}: {{kind: ordinal, values: [1, 2, 3]}}"


def _validate_combined(spec: MetricSpec) -> str | None:
    infos = [describe(part) for part in spec.of]
    better = infos[0].higher_is_better
    other = next((info for info in infos if info.higher_is_better != better), None)
    if other:
        words = ("higher", "lower") if better else ("lower", "higher")
        return f"{spec.key} mixes directions: {words[0]} is better for {infos[0].key}, but {words[1]} for {other.key}"
    if not better and spec.options["missing"] == "zero":
        return f"a metric of {spec.key} that counts as 0 would get the best possible value: use missing: skip"
    lows = {part.key: value_range(part)[0] for part in spec.of}
    below = next((key for key, low in lows.items() if low is None or low < 0), None)
    if below and spec.options["by"] in ("product", "harmonic-mean"):
        return f"a {NAMES[spec.options['by']]} needs metrics that are never negative, but {below} can be"
    return None


def suggest(spec: MetricSpec, track: Track) -> str | None:
    """Return the valid key that is most similar to an invalid one."""
    metric = find(spec.name)
    if metric is None:
        return nearest(spec.name, names())
    if spec.where is not None and spec.where[0] != RIGHT and spec.where[0] not in track.slices:
        name = nearest(spec.where[0], track.slices)
        return replace(spec, where=(name, spec.where[1])).key if name else None
    part = nearest(spec.part, _allowed_parts(metric.part, track)) if spec.part else None
    return replace(spec, part=part).key if part and part != spec.part else None


def _validate_part(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if metric.part is Part.GROUP:
        return None  # only the gold knows its groups
    if metric.part in (Part.CUTOFF, Part.CUTOFF_OR_ALL):
        return _validate_cutoff(metric, spec)
    allowed = _allowed_parts(metric.part, track)
    if spec.part is None:
        needed = metric.part is Part.CLASS or (metric.part is Part.COLUMN and len(allowed) > 1)
        return f"{spec.name} needs a part, such as {spec.name}:{allowed[0] if allowed else 'CLASS'}" if needed else None
    if not allowed:
        return f"{spec.name} does not take a part, but found {spec.part}"
    return None if spec.part in allowed else f"{spec.part} is not one of {', '.join(dict.fromkeys(allowed))}"


def _allowed_parts(part: Part, track: Track) -> tuple[str, ...]:
    columns = tuple(track.format.options.get("columns", ()))
    if part is Part.NONE:
        return ()
    if part in (Part.COLUMN, Part.COLUMN_OR_ALL):
        return columns
    nodes = [name for parent, children in (track.hierarchy or {}).items() for name in (parent, *children)]
    classes = (*track.format.options.get("classes", ()), *nodes)
    return classes if part in (Part.CLASS, Part.TYPE) else (*classes, *columns)


def _validate_cutoff(metric: Metric, spec: MetricSpec) -> str | None:
    if spec.part is None:
        return f"{spec.name} needs a cutoff, such as {spec.name}:10" if metric.part is Part.CUTOFF else None
    if spec.part.isascii() and spec.part.isdecimal() and not spec.part.startswith("0"):
        return None
    return f"the cutoff of {spec.name} must be a whole number of at least 1, not {spec.part}"


def _validate_options(metric: Metric, spec: MetricSpec) -> str | None:
    for name, value in spec.options.items():
        if name not in metric.options:
            return f"{spec.name} has no option {name}" + (
                f"; its options are {', '.join(metric.options)}" if metric.options else ""
            )
        allowed = metric.options[name]
        if isinstance(allowed, AnyNumber):
            if not _is_number(value, allowed):
                most = f" and at most {allowed.high:g}" if math.isfinite(allowed.high) else ""
                return f"{name} must be a number of at least {allowed.low:g}{most}, not {value}"
        elif value not in allowed:
            return f"{name} must be one of {', '.join(allowed)}, not {value}"
    return None


def _is_number(value: object, allowed: AnyNumber) -> bool:
    try:
        number = float(str(value))
    except ValueError:
        return False
    return math.isfinite(number) and allowed.low <= number <= allowed.high
