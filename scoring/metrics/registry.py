"""All metrics by name. To add a family, add a module and an entry in FAMILIES, or provide a separate package.

A separate package declares its `Metric` in the entry point group `agon.metrics`: `my_metric = "package:MY_METRIC"`.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from types import MappingProxyType

from scoring import limits
from scoring.definition import MetricSpec, Track
from scoring.definition.slices import RIGHT, Slicing, shown_value
from scoring.definition.tracks import has_too_many_metrics
from scoring.formats import FORMATS, answer_kind
from scoring.formats.table import values_of
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
    tuple_credit,
    tuples,
    unintended_bias,
    verification,
)
from scoring.metrics.combination import NAMES, Combination, joined
from scoring.metrics.comparison import Comparison, MatrixComparison
from scoring.metrics.loaded_gold import LoadedGold
from scoring.metrics.metric import AnswerKinds, AnyNumber, Contributions, Metric, MetricInfo, Part, SomeColumns
from scoring.metrics.slices import in_slice, is_right, kept, part_of, placed, restricted
from scoring.reports.nearest import nearest

Words = Sequence[str]
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
    distance,
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
    tuples,
    tuple_credit,
    ssa,
)
METRICS: dict[str, Metric] = {metric.name: metric for family in FAMILIES for metric in family.METRICS}


def find(name: str) -> Metric | None:
    """Find a built-in metric, or one from an installed package's entry points `agon.metrics`."""
    return METRICS.get(name) or _announced(name)


def needs_texts(spec: MetricSpec) -> bool:
    """Return whether a metric needs the texts of the items. For an unknown metric, return False."""
    metric = find(spec.name)
    return metric is not None and metric.needs_texts


@cache
def _announced(name: str) -> Metric | None:
    from importlib.metadata import entry_points  # noqa: PLC0415 - takes a third of the engine's startup time

    for entry in entry_points(group=ENTRY_POINTS, name=name):
        metric = entry.load()
        if not isinstance(metric, Metric):
            raise TypeError(
                f"{entry.value} is declared under {ENTRY_POINTS} but is not an instance of scoring.metrics.Metric"
            )
        return replace(metric, name=name)
    return None


def names() -> list[str]:
    """Return the names of all metrics, including those of installed packages."""
    from importlib.metadata import entry_points  # noqa: PLC0415 - as in `_announced`

    return sorted({*METRICS, *entry_points(group=ENTRY_POINTS).names})


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
        raise UnknownMetricError(f"there is no metric {name}" + (f"; did you mean {near}?" if near else _all_names()))
    return metric


def _all_names(kind: str | None = None) -> str:
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
    return value if value is not None and math.isfinite(value) else None


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
    result: Contributions | None = None if per_item is None else per_item(comparison, spec)
    return result


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
    if name not in gold.slice_columns:
        raise ValueError(
            f"there are no slices named {name}; existing slices: {', '.join(gold.slice_columns) or 'none'}"
        )
    return tuple(replace(spec.of[0], where=(name, value)) for value in gold.slices(name))


def _suited(spec: MetricSpec, comparison: Comparison) -> Metric:
    """Return the metric that computes `spec`.

    Raises:
        ValueError: it does not support the comparison's answers, or lacks a class or option.
    """
    metric = get(spec.name)
    if metric.part is Part.CLASS and not spec.part:
        raise ValueError(f"{spec.name} requires a class, such as {spec.name}:YES")
    if lacking := _lacking_option(metric, spec):
        raise ValueError(lacking)
    kinds = comparison.kinds(metric.numbers)
    if not kinds & metric.kinds:
        raise ValueError(
            f"{spec.key} supports {_listed(metric.kinds)} runs; this comparison is for {_listed(kinds)} runs"
        )
    if metric.single_label and isinstance(comparison, MatrixComparison) and comparison.has_several_labels:
        raise ValueError(
            f"{spec.key} requires one label per item, but these items have several. Use exact_match_ratio, jaccard "
            "or hamming_loss instead."
        )
    return metric


def formats_of(kinds: AnswerKinds) -> list[str]:
    """Return the names of the run formats with these kinds of answers."""
    return sorted(name for name, known in FORMATS.items() if known.answers in kinds)


def _listed(kinds: AnswerKinds) -> str:
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
    if not spec.of:
        metric = get(spec.name)
        return metric.low, metric.high
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
    metric = get(spec.name)
    ranked = metric.part in (Part.CUTOFF, Part.CUTOFF_OR_ALL)
    where, short = _where(spec, slicings)
    return MetricInfo(
        key=spec.key,
        title=metric.title + (f"{' at ' if ranked else ': '}{spec.part}" if spec.part else "") + where,
        short=metric.short + (f"{'@' if ranked else ' '}{spec.part}" if spec.part else "") + short,
        higher_is_better=metric.higher_is_better,
        formula=metric.formula,
        source=f"{metric.source}; {metric.signature(spec)}" if metric.signature else metric.source,
    )


def is_count(spec: MetricSpec) -> bool:
    """Return whether the values of a metric are whole numbers."""
    return not spec.of and get(spec.name).is_count


def validate(spec: MetricSpec, track: Track) -> str | None:
    """Return what is wrong with a metric in a track's definition as one sentence, or None if it is valid."""
    if spec.name == "combine":
        return _validate_score(spec, track)
    metric = find(spec.name)
    if metric is None:
        return f"there is no metric {spec.name}{_all_names(answer_kind(track))}"
    if answer_kind(track) not in metric.kinds:
        return f"{spec.name} supports {_listed(metric.kinds)} runs, not {track.format.kind}"
    if metric.single_label and track.format.options.get("multi"):
        return f"{spec.name} requires one class per item, but this track allows several; use exact_match_ratio instead"
    if not metric.numbers and track.format.options.get("numbers"):
        ours = ", ".join(name for name, own in METRICS.items() if own.numbers and not own.ordinal)
        return f"{spec.name} supports labels, but this track's table contains numbers, which only {ours} support"
    return (
        _validate_part(metric, spec, track)
        or _validate_order(metric, spec, track)
        or _validate_options(metric, spec, track)
        or _validate_slice(metric, spec, track)
    )


def _validate_score(spec: MetricSpec, track: Track) -> str | None:
    """Validate a combined score. Errors of combined scores among its parts are reported where these are listed."""
    if not spec.of:
        return _validate_name(spec, track)
    if spec.where is not None:
        return _validate_score_in_slice(spec, track)
    if spec.options["columns"] and (track.files is None or spec.options["slices"] != track.files.name):
        return f"{spec.key} can set columns: true only if its slices: is the name defined under files"
    of = spec.of
    if (name := spec.options["slices"]) is not None:
        if error := _validate_slices(name, track):
            return error
        if of[0].where is not None:
            return f"{spec.key} is already computed on each slice of {name}; remove @{'='.join(of[0].where)}"
        of = tuple(part if part.is_name else replace(part, where=(name, "")) for part in of)
    if error := next(filter(None, (validate(part, track) for part in of if not part.of or part.where)), None):
        return error
    if any(part.is_name for part in of):
        return _validate_nesting(spec, track)
    are_valid = all(validate(replace(part, where=None), track) is None for part in of if part.of)
    return _validate_formula(spec) if are_valid else None


def _validate_score_in_slice(spec: MetricSpec, track: Track) -> str | None:
    """Validate what limits a combined score to a slice. The score itself is validated where it is listed."""
    whole = replace(spec, where=None)
    if validate(whole, track) is not None:
        return None
    if slices_used([whole]):
        return f"{whole.key} already uses slices, so it can't be limited to a slice"
    return next(filter(None, (validate(part, track) for part in spec.leaves())), None)


def _listed_scores(track: Track) -> dict[str, MetricSpec]:
    """Return the track's combined scores by name."""
    return {str(spec.part): spec for spec in track.metrics if spec.of and spec.where is None}


def _validate_name(spec: MetricSpec, track: Track) -> str | None:
    """Validate a name that was not replaced with a combined score. If the score exists, its own entry has the error."""
    scores = _listed_scores(track)
    if spec.options:
        return f"{spec.key} has no option {next(iter(spec.options))}"
    if spec.part in scores:
        return None
    return f"the track has no combined score named {replace(spec, where=None).key}" + (
        f"; its combined scores are {', '.join(score.key for score in scores.values())}" if scores else ""
    )


def _validate_nesting(spec: MetricSpec, track: Track) -> str | None:
    """Return why some names among the parts of a combined score were not replaced with the scores.

    If the reason is an error in one of these scores, return None, because it is reported there.
    """
    scores = _listed_scores(track)
    if cycle := _cycle(spec, scores):
        return f"{spec.key} contains itself: {' → '.join(cycle)}; remove one of these names from of:"
    named = {part.part: scores[str(part.part)] for part in spec.of if part.is_name}
    if any(leaf.is_name for score in named.values() for leaf in score.leaves()):
        return None
    whole = replace(spec, of=tuple(named.get(part.part, part) if part.is_name else part for part in spec.of))
    if has_too_many_metrics(whole):
        return (
            f"{spec.key} combines more than {limits.COMBINED_METRICS} metrics, including those in its combined scores; "
            "use fewer metrics"
        )
    return (
        f"{spec.key} has more than {limits.COMBINED_LEVELS} levels of combined scores; replace "
        f"{next(iter(named.values())).key} with its metrics"
    )


def _cycle(spec: MetricSpec, scores: Mapping[str, MetricSpec]) -> list[str]:
    """Return the keys of the combined scores on a path from a score back to itself, or an empty list."""
    paths, seen = [[spec]], {spec.part}
    for path in paths:  # which grows
        names = (str(leaf.part) for leaf in path[-1].leaves() if leaf.is_name)
        for score in (scores[name] for name in names if name in scores):
            if score.part == spec.part:
                return [one.key for one in (*path, spec)]
            if score.part not in seen:
                seen.add(score.part)
                paths.append([*path, score])
    return []


def _validate_slice(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if spec.where is None:
        return f"{spec.name} requires a slice, such as {spec.name}@group=a" if metric.sees_background else None
    name, value = spec.where
    if name != RIGHT:
        return _validate_slices(name, track)
    known = (*track.format.options.get("columns", ()), *track.format.options.get("classes", ()))
    if metric.sees_background:
        return f"{spec.name} requires a slice, not {RIGHT}"
    if answer_kind(track) not in ("labels", "soft", "table"):
        return f"{RIGHT} requires labels or a table, not {track.format.kind}"
    return None if value in known else f"{RIGHT} requires one of {', '.join(known)}, not {value}"


def _validate_slices(name: str, track: Track) -> str | None:
    if name in track.slices:
        return None
    return f"the track has no slices named {name}" + (
        f"; its slices are {', '.join(track.slices)}" if track.slices else ""
    )


def _validate_order(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if not metric.ordinal or answer_kind(track) != "table":
        return None
    column = spec.part or track.format.options["columns"][0]
    if values_of(track.format)[column]:
        return None
    return (
        f"{spec.name} requires a list of values for the column {column}, for example "
        "{kind: ordinal, values: [1, 2, 3]}"
    )


def _validate_formula(spec: MetricSpec) -> str | None:
    infos = [describe(part) for part in spec.of]
    better = infos[0].higher_is_better
    other = next((info for info in infos if info.higher_is_better != better), None)
    if other:
        words = ("higher", "lower") if better else ("lower", "higher")
        return f"{spec.key} mixes directions: {words[0]} is better for {infos[0].key}, but {words[1]} for {other.key}"
    if not better and spec.options["missing"] == "zero":
        return (
            f"an undefined metric in {spec.key} would count as 0, which is the best possible score; set missing: skip"
        )
    lows = {part.key: value_range(part)[0] for part in spec.of}
    below = next((key for key, low in lows.items() if low is None or low < 0), None)
    if below and spec.options["by"] in ("product", "harmonic-mean"):
        return f"a {NAMES[spec.options['by']]} requires metrics that are never negative, but {below} can be negative"
    return None


def suggest(spec: MetricSpec, track: Track) -> str | None:
    """Return the valid key that is most similar to an invalid one."""
    if spec.name == "combine":
        return _suggest_score(spec, track)
    metric = find(spec.name)
    if metric is None:
        return nearest(spec.name, names())
    if spec.where is not None and spec.where[0] != RIGHT and spec.where[0] not in track.slices:
        name = nearest(spec.where[0], track.slices)
        return replace(spec, where=(name, spec.where[1])).key if name else None
    part = nearest(spec.part, _allowed_parts(metric.part, track)) if spec.part else None
    return replace(spec, part=part).key if part and part != spec.part else None


def _suggest_score(spec: MetricSpec, track: Track) -> str | None:
    part = nearest(str(spec.part), _listed_scores(track)) if spec.is_name and spec.part else None
    return replace(spec, part=part).key if part and part != spec.part else None


def _validate_part(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if metric.part is Part.GROUP:
        return None  # only the gold standard knows its groups
    if metric.part in (Part.CUTOFF, Part.CUTOFF_OR_ALL):
        return _validate_cutoff(metric, spec)
    if metric.part is Part.COLUMNS:
        columns = track.format.options["columns"]
        unknown = _unknown_columns(spec.part, columns) if spec.part else []
        return f"{unknown[0]} is not {_of_columns(columns, several=True)}" if unknown else None
    allowed = _allowed_parts(metric.part, track)
    if spec.part is None:
        needed = metric.part is Part.CLASS or (metric.part is Part.COLUMN and len(allowed) > 1)
        return (
            f"{spec.name} requires a class or column, such as {spec.name}:{allowed[0] if allowed else 'CLASS'}"
            if needed
            else None
        )
    if not allowed:
        return f"{spec.name} does not accept a class or column: remove {spec.part}"
    return None if spec.part in allowed else f"{spec.part} is not one of {', '.join(dict.fromkeys(allowed))}"


def _allowed_parts(part: Part, track: Track) -> tuple[str, ...]:
    columns = tuple(track.format.options.get("columns", ()))
    if part is Part.NONE:
        return ()
    if part in (Part.COLUMN, Part.COLUMN_OR_ALL, Part.COLUMNS):
        return columns
    nodes = [name for parent, children in (track.hierarchy or {}).items() for name in (parent, *children)]
    classes = (*track.format.options.get("classes", ()), *nodes)
    return classes if part in (Part.CLASS, Part.TYPE) else (*classes, *columns)


def _validate_cutoff(metric: Metric, spec: MetricSpec) -> str | None:
    if spec.part is None:
        return f"{spec.name} requires a cutoff, such as {spec.name}:10" if metric.part is Part.CUTOFF else None
    if spec.part.isascii() and spec.part.isdecimal() and not spec.part.startswith("0"):
        return None
    return f"the cutoff of {spec.name} must be a whole number of at least 1, not {spec.part}"


def _validate_options(metric: Metric, spec: MetricSpec, track: Track) -> str | None:
    if lacking := _lacking_option(metric, spec):
        return lacking
    for name, value in spec.options.items():
        if name not in metric.options:
            return f"{spec.name} has no option {name}" + (
                f"; its options are {', '.join(metric.options)}" if metric.options else ""
            )
        if problem := _problem_of_option(value, metric.options[name], track):
            return f"{name} must be {problem}"
    return None


def _lacking_option(metric: Metric, spec: MetricSpec) -> str | None:
    for name, allowed in metric.options.items():
        if isinstance(allowed, SomeColumns) and allowed.required and name not in spec.options:
            return f"{spec.name} requires the {name} option: {{name: {spec.name}, {name}: COLUMN}}"
    return None


def _problem_of_option(value: str, allowed: tuple[str, ...] | AnyNumber | SomeColumns, track: Track) -> str | None:
    if isinstance(allowed, AnyNumber):
        if _is_number(value, allowed):
            return None
        if math.isfinite(allowed.high):
            return f"a number from {allowed.low:g} to {allowed.high:g}, not {value}"
        return f"a number of at least {allowed.low:g}, not {value}"
    if isinstance(allowed, SomeColumns):
        columns = [*track.format.options["values" if allowed.listed else "columns"]]
        if not columns:
            return "a column with a list of values; add values to the format"
        unknown = _unknown_columns(value, columns) if allowed.several else [value] * (value not in columns)
        return f"{_of_columns(columns, allowed.several)}, not {unknown[0]}" if unknown else None
    return None if value in allowed else f"one of {', '.join(allowed)}, not {value}"


def _unknown_columns(chosen: str, columns: Words) -> list[str]:
    """Return the names in `chosen` (joined by `+`) that are not columns."""
    return [] if chosen in columns else [name for name in chosen.split("+") if name not in columns]


def _of_columns(columns: Words, several: bool) -> str:
    return f"one of {', '.join(columns)}" + (", or several joined by +" if several else "")


def _is_number(value: object, allowed: AnyNumber) -> bool:
    try:
        number = float(str(value))
    except ValueError:
        return False
    return math.isfinite(number) and allowed.low <= number <= allowed.high
