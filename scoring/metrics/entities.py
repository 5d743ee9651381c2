"""Precision, recall and F1 of typed entities: strict, by boundaries, by overlap and by type (SemEval-2013, task 9).

If an entity can match several entities on the other side, the run's entities are processed in order and each gold
entity matches only once, as in nervaluate. A partial match prefers a gold entity with the same boundaries, and
otherwise the first that overlaps. A match by type prefers the one with the same type and the closest boundaries, and
otherwise the first that overlaps, which then counts as used. A match by IoU prefers the largest IoU.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.definition import MetricSpec
from scoring.metrics.comparison import EntityComparison
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

PARTIAL = 0.5  # score of an overlap
DENSE = 16  # up to this many positions per entity, a table of all positions is small enough
IOU = 0.5  # by default, the smallest intersection / union that counts as a match


@dataclass(frozen=True, slots=True)
class Side:
    """One side's entities in order. `owners` are gold rows. `begins` and `ends` count positions across all items."""

    owners: NDArray[np.intp]
    begins: NDArray[np.int64]
    ends: NDArray[np.int64]
    kinds: NDArray[np.intp]

    @property
    def is_flat(self) -> bool:
        """Whether no two entities overlap."""
        return bool((self.begins[1:] >= self.ends[:-1]).all())

    def only(self, kind: int) -> "Side":
        keep = self.kinds == kind
        return Side(self.owners[keep], self.begins[keep], self.ends[keep], self.kinds[keep])


def sides(comparison: EntityComparison) -> tuple[Side, Side]:
    """Return the entities of the gold and of the run."""
    gold = comparison.gold.entities
    width = max(int(gold.ends.max(initial=0)), int(comparison.ends.max(initial=0))) + 1
    owners = np.repeat(np.arange(len(gold.ids)), np.diff(gold.starts))
    shift, run_shift = owners * width, comparison.owners * width
    return (
        Side(owners, gold.begins + shift, gold.ends + shift, gold.kinds),
        Side(comparison.owners, comparison.begins + run_shift, comparison.ends + run_shift, comparison.kinds_of_run),
    )


Credits = Callable[[Side, Side, float], Numbers]  # (gold, run, minimum IoU) → the credit of each run entity
# (unused gold entities, run entity) → the credit of the run entity, and the gold entity used
Choice = Callable[[Rows, int], tuple[float, int]]


def _strict(gold: Side, run: Side, least: float) -> Numbers:
    if not (gold.is_flat and run.is_flat):
        return _equal(*(np.column_stack([side.begins, side.ends, side.kinds]) for side in (gold, run)))
    same, places = _same(gold, run)
    return (same & (gold.kinds[places] == run.kinds)).astype(np.float64) if len(gold.kinds) else same.astype(np.float64)


def matches_strictly(gold: Side, run: Side) -> Numbers:
    """Return 1 for each run entity that is in the gold with the same boundaries and type, otherwise 0."""
    return _strict(gold, run, IOU)


def _exact(gold: Side, run: Side, least: float) -> Numbers:
    if gold.is_flat and run.is_flat:
        return _same(gold, run)[0].astype(np.float64)
    return _equal(*(np.column_stack([side.begins, side.ends]) for side in (gold, run)))


def _same(gold: Side, run: Side) -> tuple[NDArray[np.bool_], NDArray[np.intp]]:
    """Return which run entities have the same boundaries as a gold entity, and the index of that gold entity.

    Entities on the same side must not overlap.
    """
    if not len(gold.begins):
        return np.zeros(len(run.begins), np.bool_), np.zeros(len(run.begins), np.intp)
    end = int(gold.begins[-1]) + 1
    if end > DENSE * len(gold.begins):
        places = np.minimum(np.searchsorted(gold.begins, run.begins), len(gold.begins) - 1)
    else:  # ten times faster than searching
        known = np.zeros(end, np.intp)
        known[gold.begins] = np.arange(len(gold.begins))
        places = known[np.minimum(run.begins, end - 1)]
    return (gold.begins[places] == run.begins) & (gold.ends[places] == run.ends), places


def _equal(gold: NDArray[np.int64], run: NDArray[np.int64]) -> Numbers:
    """Return 1 for each run row that is also in the gold, but at most as often as it occurs there. Otherwise, return 0.

    Both arrays must be sorted.
    """
    places = np.unique(np.concatenate([gold, run]), axis=0, return_inverse=True)[1].ravel()
    known = np.bincount(places[: len(gold)], minlength=len(places))
    own = places[len(gold) :]
    earlier = np.arange(len(own)) - np.searchsorted(own, own)
    return (earlier < known[own]).astype(np.float64)


def _overlaps(gold: Side, run: Side) -> tuple[Sequence[int], Sequence[int]]:
    """Return the range of gold entities that may overlap each run entity. In a flat gold, all in the range do."""
    first = np.searchsorted(np.maximum.accumulate(gold.ends), run.begins, side="right")
    return first.tolist(), np.searchsorted(gold.begins, run.ends, side="left").tolist()


def _in_turn(gold: Side, run: Side, choose: Choice) -> Numbers:
    """Return the credit of each run entity. `choose` picks among the unused gold entities that overlap it."""
    found, free = np.zeros(len(run.begins)), np.ones(len(gold.begins), np.bool_)
    for row, (first, end, begin) in enumerate(zip(*_overlaps(gold, run), run.begins.tolist(), strict=True)):
        own = first + np.flatnonzero(free[first:end] & (gold.ends[first:end] > begin))
        if len(own):
            found[row], used = choose(own, row)
            if used >= 0:
                free[used] = False
    return found


def _apart(gold: Side, own: Rows, run: Side, row: int) -> NDArray[np.int64]:
    """Return how far the gold entities in `own` are from a run entity: start distance + end distance."""
    apart: NDArray[np.int64] = np.abs(gold.begins[own] - run.begins[row]) + np.abs(gold.ends[own] - run.ends[row])
    return apart


def _partial(gold: Side, run: Side, least: float) -> Numbers:
    def choose(own: Rows, row: int) -> tuple[float, int]:
        apart = _apart(gold, own, run, row)
        nearest = int(apart.argmin())
        return (PARTIAL, int(own[0])) if apart[nearest] else (1.0, int(own[nearest]))

    if not (gold.is_flat and run.is_flat):
        return _in_turn(gold, run, choose)
    found, matched = _exact(gold, run, least), -1
    for row, (first, end) in enumerate(zip(*_overlaps(gold, run), strict=True)):
        free = max(first, matched + 1)
        if free < end:
            matched = free
            found[row] = max(found[row], PARTIAL)
    return found


def _type(gold: Side, run: Side, least: float) -> Numbers:
    def choose(own: Rows, row: int) -> tuple[float, int]:
        alike = own[gold.kinds[own] == run.kinds[row]]
        if not len(alike):
            return 0.0, int(own[0])
        return 1.0, int(alike[_apart(gold, alike, run, row).argmin()])

    return _in_turn(gold, run, choose)


def _iou(gold: Side, run: Side, least: float) -> Numbers:
    def choose(own: Rows, row: int) -> tuple[float, int]:
        alike = own[gold.kinds[own] == run.kinds[row]]
        begins, ends, begin, end = gold.begins[alike], gold.ends[alike], run.begins[row], run.ends[row]
        shared = np.minimum(ends, end) - np.maximum(begins, begin)
        shares = shared / (np.maximum(ends, end) - np.minimum(begins, begin))
        best = int(shares.argmax()) if len(alike) else -1
        return (1.0, int(alike[best])) if best >= 0 and shares[best] >= least else (0.0, -1)

    return _in_turn(gold, run, choose)


MATCHES: dict[str, Credits] = {"strict": _strict, "exact": _exact, "partial": _partial, "type": _type, "iou": _iou}


def _counts(comparison: EntityComparison, match: str, name: str | None, least: float) -> Numbers:
    """Return counts (items, 3): the run entities' total credit, their number, and the number of gold entities."""
    gold, run = comparison.once(sides)
    if name is not None:
        kind = comparison.types.index(name) if name in comparison.types else -1
        gold, run = gold.only(kind), run.only(kind)
    items = len(comparison.gold)
    credit = per_row(run.owners, MATCHES[match](gold, run, least), items)
    predicted, actual = (np.bincount(side.owners, minlength=items) for side in (run, gold))
    return np.column_stack([credit, predicted, actual]).astype(np.float64)


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

# Returns counts (items, k) for a type, or for all types together. The second count is the number of run entities, and
# the last one is the number of gold entities.
Counts = Callable[[EntityComparison, MetricSpec, str | None], Numbers]


def micro_and_macro(
    name: str,
    titles: tuple[str, str],
    formula: str,
    undefined: str | None,
    counts: Counts,
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
        return Contributions(counts(comparison, spec, spec.part), measure)

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
            compute=_macro(counts, measure),
            example=macro_example,
            options={**OVER, **options},
        ),
    )


def _macro(counts: Counts, measure: Measure) -> Sums:
    """Return the metric that averages a measure over the types that `over` selects."""

    def contributions(comparison: EntityComparison, spec: MetricSpec) -> Contributions:
        types, over = comparison.gold.entities.types, spec.options.get("over", "gold")
        if not types:
            nothing = np.zeros((len(comparison.gold), 1))
            return Contributions(nothing, lambda sums: np.full(sums.shape[:-1], np.nan))

        def combine(sums: Numbers) -> Numbers:
            by_type = sums.reshape(*sums.shape[:-1], len(types), -1)
            in_gold, in_run = by_type[..., -1] > 0, by_type[..., 1] > 0
            held = {"gold": in_gold, "seen": in_gold | in_run}.get(over, np.ones_like(in_gold))
            values = np.where(held, np.nan_to_num(measure(by_type)), 0.0)
            return ratios(values.sum(axis=-1), held.sum(axis=-1))

        return Contributions(np.hstack([counts(comparison, spec, name) for name in types]), combine)

    return Sums(contributions)


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

    def counts(comparison: EntityComparison, spec: MetricSpec, name: str | None) -> Numbers:
        return comparison.once(_counts, match, name, number(spec, "at_least", IOU))

    return micro_and_macro(
        f"entity_{measure}" if match == "strict" else f"entity_{measure}_{match}",
        (f"{title}{words}", f"{short}{words}"),
        f"{formula}; matches are run entities {matches}; computed over all items together",
        UNDEFINED[measure],
        counts,
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
