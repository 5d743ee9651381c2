"""Precision, recall and F1 of typed entities: strict, by boundaries, by overlap and by type (SemEval-2013, task 9).

Entities of one side do not overlap. If an entity can match several of the other side (partial and type), the run's are
processed in order and each gold entity matches once, as in nervaluate: a partial match prefers the same boundaries,
else the first overlap; a match by type prefers the same type with the nearest boundaries, else the first overlap, which
is then used up.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics.comparison import EntityComparison
from scoring.metrics.metric import ENTITIES, Contributions, Example, Metric, Numbers, Options, Part, per_row, ratios

PARTIAL = 0.5  # credit for an overlap


@dataclass(frozen=True, slots=True)
class Side:
    """Entities in order; `begins` and `ends` are positions in all sentences together, `owners` the gold's rows."""

    owners: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds: NDArray[np.intp]

    def only(self, kind: int) -> "Side":
        keep = self.kinds == kind
        return Side(self.owners[keep], self.begins[keep], self.ends[keep], self.kinds[keep])


def _sides(comparison: EntityComparison) -> tuple[Side, Side]:
    """The entities of gold and run."""
    gold = comparison.gold.entities
    width = max(int(gold.ends.max(initial=0)), int(comparison.ends.max(initial=0))) + 1
    owners = np.repeat(np.arange(len(gold.ids)), np.diff(gold.starts))
    shift, run_shift = owners * width, comparison.owners * width
    return (
        Side(owners, gold.begins + shift, gold.ends + shift, gold.kinds),
        Side(comparison.owners, comparison.begins + run_shift, comparison.ends + run_shift, comparison.kinds_of_run),
    )


Credits = Callable[[Side, Side], Numbers]  # of gold and run: the credit of each of the run's entities


def _same(gold: Side, run: Side) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Which of the run's entities have the same boundaries as one of the gold's, and which one."""
    if not len(gold.begins):
        return np.zeros(len(run.begins), np.bool_), np.zeros(len(run.begins), np.intp)
    places = np.minimum(np.searchsorted(gold.begins, run.begins), len(gold.begins) - 1)
    return (gold.begins[places] == run.begins) & (gold.ends[places] == run.ends), places


def _strict(gold: Side, run: Side) -> Numbers:
    same, places = _same(gold, run)
    if not len(gold.kinds):
        return same.astype(np.float64)
    return np.asarray(same & (gold.kinds[places] == run.kinds), np.float64)


def _exact(gold: Side, run: Side) -> Numbers:
    return _same(gold, run)[0].astype(np.float64)


def _overlaps(gold: Side, run: Side) -> tuple[Sequence[int], Sequence[int]]:
    """The range of the gold's entities that each of the run's entities overlaps."""
    first = np.searchsorted(gold.ends, run.begins, side="right")
    return first.tolist(), np.searchsorted(gold.begins, run.ends, side="left").tolist()


def _partial(gold: Side, run: Side) -> Numbers:
    found = _exact(gold, run)
    matched = -1
    for row, (first, end) in enumerate(zip(*_overlaps(gold, run), strict=True)):
        free = max(first, matched + 1)
        if free < end:
            matched = free
            found[row] = max(found[row], PARTIAL)
    return found


def _type(gold: Side, run: Side) -> Numbers:
    found, matched = np.zeros(len(run.begins)), set[int]()
    kinds, begins, ends = gold.kinds.tolist(), gold.begins.tolist(), gold.ends.tolist()
    rows = zip(*_overlaps(gold, run), run.kinds.tolist(), run.begins.tolist(), run.ends.tolist(), strict=True)
    for row, (first, end, kind, begin, stop) in enumerate(rows):
        free = [at for at in range(first, end) if at not in matched]
        alike = [at for at in free if kinds[at] == kind]
        if alike:
            found[row] = 1.0
            matched.add(min(alike, key=lambda at: abs(begins[at] - begin) + abs(ends[at] - stop)))
        elif free:
            matched.add(free[0])
    return found


MATCHES: dict[str, Credits] = {"strict": _strict, "exact": _exact, "partial": _partial, "type": _type}


def _counts(comparison: EntityComparison, match: str, name: str | None) -> Numbers:
    """By sentence, the credit of the run's entities, their number, and the gold's number: (items, 3)."""
    gold, run = comparison.once(_sides)
    if name is not None:
        kind = comparison.types.index(name) if name in comparison.types else -1
        gold, run = gold.only(kind), run.only(kind)
    items = len(comparison.gold)
    credit = per_row(run.owners, MATCHES[match](gold, run), items)
    predicted, actual = (np.bincount(side.owners, minlength=items) for side in (run, gold))
    return np.column_stack([credit, predicted, actual]).astype(np.float64)


def _counts_by_type(comparison: EntityComparison, match: str) -> Numbers:
    """The counts for each of the gold's types: (items, 3 · types)."""
    return np.hstack([_counts(comparison, match, name) for name in comparison.gold.entities.types])


Measure = Callable[[Numbers], Numbers]  # of counts (…, 3)


def _precision(counts: Numbers) -> Numbers:
    return ratios(counts[..., 0], counts[..., 1], 0.0)


def _recall(counts: Numbers) -> Numbers:
    return ratios(counts[..., 0], counts[..., 2])


def _f1(counts: Numbers) -> Numbers:
    values = ratios(2 * counts[..., 0], counts[..., 1] + counts[..., 2])
    return np.where(counts[..., 2] > 0, values, np.nan)


def _micro(match: str, measure: Measure) -> Callable[[EntityComparison, MetricSpec], Contributions]:
    return lambda comparison, spec: Contributions(comparison.once(_counts, match, spec.part), measure)


def _macro(match: str, measure: Measure) -> Callable[[EntityComparison, MetricSpec], Contributions]:
    def contributions(comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        over = spec.options.get("over", "gold")

        def combine(sums: Numbers) -> Numbers:
            counts = sums.reshape(*sums.shape[:-1], -1, 3)
            held = {"gold": counts[..., 2] > 0, "seen": counts[..., 1:].any(axis=-1)}.get(over)
            held = np.ones(counts.shape[:-1], np.bool_) if held is None else held
            values = np.where(held, np.nan_to_num(measure(counts)), 0.0)
            return ratios(values.sum(axis=-1), held.sum(axis=-1))

        return Contributions(comparison.once(_counts_by_type, match), combine)

    return contributions


def _of(contributions: Callable[[EntityComparison, MetricSpec], Contributions]) -> Callable[..., float | None]:
    def compute(comparison: EntityComparison, spec: MetricSpec) -> float | None:
        if not len(comparison.gold):
            return None
        parts = contributions(comparison, spec)
        value = float(parts.combine(parts.values.sum(axis=0)))
        return None if np.isnan(value) else value

    return compute


_GOLD = {"1": "PER 0-2, LOC 3-4", "2": "PER 1-4, ORG 5-6"}
_RUN = {"1": "PER 0-2, ORG 3-4", "2": "PER 1-3"}
_WORDS = {
    "strict": ("", "with the same boundaries and type", "one, PER 0-2"),
    "exact": (", exact", "with the same boundaries, of any type", "two, PER 0-2 and ORG 3-4"),
    "partial": (", partial", "with the same boundaries, and half of those that overlap, of any type", "1 + 1 + 1/2"),
    "type": (", by type", "that overlap one of the same type", "two, PER 0-2 and PER 1-3"),
}
_CREDIT = {"strict": 1.0, "exact": 2.0, "partial": 2.5, "type": 2.0}
_OF_PER = {"strict": 1.0, "exact": 1.0, "partial": 1.5, "type": 2.0}  # of PER alone; LOC and ORG get none
_MEASURES: dict[str, tuple[str, Measure, str, str]] = {
    "precision": ("Entity precision", _precision, "P", "matches / entities of the run, 0 where it has none"),
    "recall": ("Entity recall", _recall, "R", "matches / entities of the gold, undefined where it has none"),
    "f1": (
        "Entity F1",
        _f1,
        "F1",
        "2 · matches / (entities of the run + those of the gold), undefined where it has none",
    ),
}
_SOURCE = "Tjong Kim Sang and De Meulder (2003), CoNLL-2003 shared task; seqeval 1.2.2; nervaluate 1.2.1"
_SOURCE_2013 = "Segura-Bedmar et al. (2013), SemEval-2013 task 9; nervaluate 1.2.1"
_OVER: Options = {"over": ("gold", "seen", "declared")}


def _metrics(match: str, measure: str) -> tuple[Metric, Metric]:
    title, function, short, formula = _MEASURES[measure]
    words, matches, credit = _WORDS[match]
    whole = {"precision": 3.0, "recall": 4.0, "f1": 3.5}[measure]
    ending = "" if match == "strict" else f"_{match}"
    source = _SOURCE if match == "strict" else _SOURCE_2013
    micro, macro = _micro(match, function), _macro(match, function)
    divided = {"precision": "3", "recall": "4", "f1": "((3 + 4) / 2)"}[measure]
    return (
        Metric(
            name=f"entity_{measure}{ending}",
            title=f"{title}{words}",
            short=f"{short}{words}",
            formula=f"{formula}; matches: entities of the run {matches}; all sentences together",
            source=source,
            compute=_of(micro),
            contributions=micro,
            example=Example(
                "entities", _GOLD, _RUN, _CREDIT[match] / whole, f"matches: {credit}; {_CREDIT[match]:g} / {divided}"
            ),
            kinds=ENTITIES,
            part=Part.TYPE,
        ),
        Metric(
            name=f"entity_{measure}{ending}_macro",
            title=f"{title}{words}, macro",
            short=f"Macro {short}{words}",
            formula=f"mean of entity_{measure}{ending} over the types in the gold, in gold or run (`over: seen`, as "
            "seqeval), or in `classes` (`over: declared`), 0 where it is undefined for one of them",
            source=source,
            compute=_of(macro),
            contributions=macro,
            example=Example(
                "entities",
                _GOLD,
                _RUN,
                _OF_PER[match] / 2 / 3,
                f"PER has 2 entities on both sides and {_OF_PER[match]:g} matches, LOC and ORG have none: "
                f"({_OF_PER[match]:g} / 2 + 0 + 0) / 3",
            ),
            kinds=ENTITIES,
            options=_OVER,
        ),
    )


METRICS = (*(metric for match in MATCHES for measure in _MEASURES for metric in _metrics(match, measure)),)
