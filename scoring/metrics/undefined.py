"""Why metrics are undefined, in words for readers. As reasons depend on the gold, they are shown only with scores."""

from collections.abc import Iterable, Iterator, Mapping

from scoring.definition import MetricSpec
from scoring.definition.slices import RIGHT, Slicing
from scoring.metrics.comparison import Comparison
from scoring.metrics.registry import compute, describe, get, parts_of
from scoring.metrics.slices import restricted

NOTES = 5  # maximum number of notes on a run; boards show each of them
NO_ITEMS = "the gold has no items to score"


def notes_on_undefined(
    comparison: Comparison, specs: Iterable[MetricSpec], slicings: Mapping[str, Slicing]
) -> list[str]:
    """Return notes such as `Pearson's r: undefined, because all predictions are equal`.

    Metrics that are undefined for the same reason share a note.
    """
    titles: dict[str, list[str]] = {}
    for spec in specs:
        titles.setdefault(why_undefined(comparison, spec), []).append(describe(spec, slicings).title)
    notes = [f"{_listed(named)}: undefined, because {reason}" for reason, named in titles.items()]
    return notes[:NOTES]


def _listed(titles: list[str]) -> str:
    more = f" and {len(titles) - NOTES} more" if len(titles) > NOTES else ""
    return ", ".join(titles[:NOTES]) + more


def why_undefined(comparison: Comparison, spec: MetricSpec) -> str:
    """Return the reason why a metric is undefined. Call this only if it is."""
    where = spec.where
    sees_background = not spec.of and get(spec.name).sees_background
    if where is not None and where in comparison.lacks:
        return f"the run has no file for {where[1]}"
    judged = comparison if where is None or sees_background else restricted(comparison, where)
    if where is not None and judged is None:
        is_right = where[0] == RIGHT
        return f"no item is answered correctly for {where[1]}" if is_right else f"no item is in the slice {where[1]}"
    if judged is None or not len(judged.gold):
        return NO_ITEMS
    if spec.of:
        return next(_reasons_of_parts(judged, spec), "fewer than two of its parts are defined")
    metric = get(spec.name)
    if metric.why_undefined is not None:
        return metric.why_undefined(judged, spec)
    return "its value is not a finite number" if metric.undefined is None else metric.undefined.partition("if ")[2]


def _reasons_of_parts(comparison: Comparison, spec: MetricSpec) -> Iterator[str]:
    for part in parts_of(spec, comparison.gold):
        if compute(comparison, part) is None:
            yield f"{part.key} is undefined: {why_undefined(comparison, part)}"
