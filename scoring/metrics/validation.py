"""What a track's definition can demand of a metric: its name, part, slice and options, and combined scores."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from scoring import limits
from scoring.definition import MetricSpec, Track
from scoring.definition.scorer import NAME as SCORER
from scoring.definition.slices import RIGHT
from scoring.definition.tracks import has_too_many_metrics
from scoring.formats import answer_kind, is_zipped
from scoring.formats.table import values_of
from scoring.metrics.combination import NAMES
from scoring.metrics.metric import AnyNumber, Metric, Part, SomeColumns
from scoring.metrics.registry import (
    METRICS,
    describe,
    existing_names,
    find,
    get,
    lacking_option,
    listed_formats,
    names,
    slices_used,
    value_range,
)
from scoring.metrics.stand_in import EXACT
from scoring.reports.nearest import nearest

Words = Sequence[str]


def validate(spec: MetricSpec, track: Track) -> str | None:
    """Return what is wrong with a metric in a track's definition as one sentence, or None if it is valid."""
    if spec.name == "combine":
        return _validate_score(spec, track)
    if spec.name == SCORER:
        return _validate_scorer_column(spec, track)
    metric = find(spec.name)
    if metric is None:
        return f"there is no metric {spec.name}{existing_names(answer_kind(track))}"
    if spec.alias is not None and (spec.alias == "combine" or find(spec.alias)):
        return f"{spec.alias} is the name of a metric; choose a different name"
    if answer_kind(track) not in metric.kinds:
        return f"{spec.name} supports {listed_formats(metric.kinds)} runs, not {track.format.kind}"
    if metric.single_label and track.format.options.get("multi"):
        return f"{spec.name} requires one class per item, but this track allows several; use exact_match_ratio instead"
    if not metric.numbers and track.format.options.get("numbers"):
        ours = ", ".join(name for name, own in METRICS.items() if own.numbers and not own.ordinal)
        return f"{spec.name} supports labels, but this track's table contains numbers, which only {ours} support"
    return (
        _validate_part(metric, spec, track)
        or _validate_order(metric, spec, track)
        or _validate_options(metric, spec, track)
        or _validate_undefined(metric, spec)
        or _validate_slice(metric, spec, track)
    )


def _validate_scorer_column(spec: MetricSpec, track: Track) -> str | None:
    if spec.where is not None:
        return f"{spec.key}: columns of your own scorer can't be limited to slices; compute the slice in the scorer"
    if spec.scorer_column is None and spec.options:
        return f"{spec.name} has no option {next(iter(spec.options))}"
    if spec.scorer_column is None:
        return f"{spec.key} is not a column of your own scorer; list it under columns of scorer"
    if track.files is not None or is_zipped(track):
        return f"{spec.key}: your own scorer needs runs with a single file"
    return None


def validate_key(spec: MetricSpec, track: Track, only_known: bool) -> str | None:
    """Return what is wrong with a metric for answers in memory, or None if it is valid.

    Args:
        only_known: whether the class in the metric's key must be one of the track's.

    Raises:
        UnknownMetricError: there is no such metric.
    """
    metric = get(spec.name)
    if metric.part is Part.GROUP or metric.sees_background:
        return f"{spec.name} compares groups of items, which answers in memory do not have; score a run file instead"
    if spec.part is not None and not only_known and metric.part in (Part.CLASS, Part.TYPE):
        return _validate_options(metric, spec, track)
    return _validate_part(metric, spec, track) or _validate_options(metric, spec, track)


def _validate_score(spec: MetricSpec, track: Track) -> str | None:
    """Validate a combined score. Errors of combined scores among its parts are reported where these are listed."""
    if not spec.of:
        return _validate_name(spec, track)
    if any(leaf.name == SCORER for leaf in spec.leaves()):
        return f"{spec.key} can't combine columns of your own scorer; compute the combination in the scorer"
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
    metric = find(spec.name)
    if metric is None and spec.name != "combine":
        return nearest(spec.name, names())
    if metric is not None and spec.where is not None and spec.where[0] not in (RIGHT, *track.slices):
        name = nearest(spec.where[0], track.slices)
        return replace(spec, where=(name, spec.where[1])).key if name else None
    known = _allowed_parts(metric.part, track) if metric else _listed_scores(track) if spec.is_name else ()
    part = nearest(spec.part, known) if spec.part else None
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
    if lacking := lacking_option(metric, spec):
        return lacking
    for name, value in spec.options.items():
        if name not in metric.options:
            return f"{spec.name} has no option {name}" + (
                f"; its options are {', '.join(metric.options)}" if metric.options else ""
            )
        if problem := _problem_of_option(value, metric.options[name], track):
            return f"{name} must be {problem}"
    return None


def _validate_undefined(metric: Metric, spec: MetricSpec) -> str | None:
    if spec.undefined is None:
        return None
    if spec.undefined == EXACT:
        is_suited = metric.higher_is_better and metric.high == 1 and metric.kinds.isdisjoint(("rankings", "texts"))
        return None if is_suited else f"undefined: exact is not possible for {spec.name}; use a number"
    low = -math.inf if metric.low is None else metric.low
    high = math.inf if metric.high is None or metric.exceeds_high is not None else metric.high
    if low <= float(spec.undefined) <= high:
        return None
    return f"undefined must be a value that {spec.name} can have, from {low:g} to {high:g}, not {spec.undefined}"


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
