"""The definition of a metric: name, texts for the leaderboard, the answers that it can judge, and a function."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scoring.answers import AnswerKind
from scoring.definition import MetricSpec
from scoring.metrics.comparison import Compared

Numbers = NDArray[np.float64]
AnswerKinds = frozenset[AnswerKind]


@dataclass(frozen=True, slots=True)
class AnyNumber:
    """An option's values: any finite number from `low` up."""

    low: float


Options = Mapping[str, tuple[str, ...] | AnyNumber]


def ratios(parts: NDArray[Any], wholes: NDArray[Any], otherwise: float = np.nan) -> Numbers:
    """parts / wholes, `otherwise` if the whole is not more than 0."""
    result = np.full_like(wholes, otherwise, dtype=np.float64)  # in the memory order of its arguments: twice as fast
    np.divide(parts, wholes, out=result, where=wholes > 0)
    return result


def per_row(rows: NDArray[np.intp], values: NDArray[Any], count: int) -> Numbers:
    """Sums of the `values` with the same row, for rows 0 to `count` − 1."""
    sums: Numbers = np.bincount(rows, values, count).astype(np.float64)
    return sums


@dataclass(frozen=True, slots=True)
class Contributions:
    """Each item's contribution to a metric, so that samples of items can be judged without comparing again.

    `values` has shape (items, k). With w (samples, items) counting how often each item was drawn, as many in total as
    there are items, `combine(w @ values)` are the samples' values, NaN where undefined; it accepts sums (…, k) of any
    shape. `k` and `combine` depend on gold and metric alone, so that items of several runs can be mixed. What is
    derived from the whole gold stays the same in every sample, unless the values include an item's effect on it, as
    those of ICM do.
    """

    values: Numbers
    combine: Callable[[Numbers], Numbers]


def mean_of(values: Numbers) -> Contributions:
    """The contributions to a metric that is the mean of one value (items,) per item."""
    items = len(values)
    return Contributions(values[:, None], lambda sums: sums[..., 0] / items)


def share_of(parts: NDArray[Any], wholes: NDArray[Any]) -> Contributions:
    """The contributions to a metric that is Σ parts / Σ wholes, both of shape (items,); undefined if both are 0."""
    sums_of = np.column_stack([parts, wholes]).astype(np.float64)
    return Contributions(sums_of, lambda sums: ratios(sums[..., 0], sums[..., 1]))


def computed(contributions: Callable[[Any, MetricSpec], Contributions]) -> Callable[[Any, MetricSpec], float | None]:
    """The value of a metric that its contributions add up to; None without items, or where that is NaN."""

    def compute(comparison: Compared, spec: MetricSpec) -> float | None:
        if not len(comparison.gold):
            return None
        parts = contributions(comparison, spec)
        value = float(parts.combine(parts.values.sum(axis=0)))
        return None if np.isnan(value) else value

    return compute


@dataclass(frozen=True, slots=True)
class Mean:
    """A decorator for functions of comparison and spec with each item's value (items,): the metric is their mean."""

    values: Callable[[Any, MetricSpec], Numbers]

    def compute(self, comparison: Compared, spec: MetricSpec) -> float | None:
        return float(self._of(comparison, spec).mean()) if len(comparison.gold) else None

    def contributions(self, comparison: Compared, spec: MetricSpec) -> Contributions:
        return mean_of(self._of(comparison, spec))

    def _of(self, comparison: Compared, spec: MetricSpec) -> Numbers:
        return comparison.once(self.values, spec)


@dataclass(frozen=True, slots=True)
class Share:
    """A decorator for functions with each item's part and whole (items,): the metric is Σ parts / Σ wholes."""

    parts: Callable[[Any, MetricSpec], tuple[NDArray[Any], NDArray[Any]]]

    def compute(self, comparison: Compared, spec: MetricSpec) -> float | None:
        parts, wholes = comparison.once(self.parts, spec)
        return float(parts.sum() / wholes.sum()) if wholes.any() else None

    def contributions(self, comparison: Compared, spec: MetricSpec) -> Contributions:
        return share_of(*comparison.once(self.parts, spec))


class Part(Enum):
    """What the part of a key such as `f1:YES` names."""

    NONE = "nothing"
    CLASS = "a class"
    COLUMN = "a column"  # of a table; needed where the table has several
    COLUMN_OR_ALL = "a column or, left out, all of them"
    TYPE = "a type or, left out, all of them together"
    SCORED = "a class or a column or, left out, the mean over all of them"
    GROUP = "a group of items or, left out, all of them"
    CUTOFF = "how many documents from the top count"
    CUTOFF_OR_ALL = "how many documents from the top count or, left out, all of them"


@dataclass(frozen=True, slots=True)
class Example:
    """A metric computed by hand, shown in docs/metrics.md and checked by a test: answers by item, value, and why.

    Labels are written `b c`, spans `3 4 5`, entities `PER 0-2, LOC 4-5` with exclusive ends, texts with ` | ` between
    references, all else `a 0.5, b 1`, with `?` where nothing is known. `slices` has the slice of each item, `where` the
    slice that is scored.
    """

    kind: AnswerKind
    gold: Mapping[str, str]
    run: Mapping[str, str]
    value: float
    why: str
    part: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    hierarchy: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    slices: Mapping[str, str] = field(default_factory=dict)
    where: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric. `compute(comparison, spec)` gives its value, or None where it is undefined; never NaN.

    The comparison is a `MatrixComparison`, for spans a `SpanComparison`, for rankings a `RankingComparison`, for texts
    a `TextComparison` (`scoring.metrics.comparison`). `kinds` are the answers that it can judge, `options` its
    parameters with allowed values. `low` and `high` bound its values (None: unbounded).

    `contributions(comparison, spec)` gives each item's contribution, if the value is a function of sums over the items.
    It is None where the value is undefined, and not called without items.
    """

    name: str
    title: str
    short: str  # heading of a column
    formula: str
    source: str
    compute: Callable[..., float | None]
    kinds: AnswerKinds
    contributions: Callable[..., Contributions | None] | None = None
    example: Example | None = None
    part: Part = Part.NONE
    single_label: bool = False  # has no meaning if items may have several classes
    options: Options = field(default_factory=dict)
    higher_is_better: bool = True
    low: float | None = 0.0
    high: float | None = 1.0
    numbers: bool = False  # also judges tables of any numbers, not only labels
    ordinal: bool = False  # needs columns with a list of values
    counts_outside: bool = False  # judges answers to items without gold, if the track counts them
    sees_background: bool = False  # about one slice, but computed on all items: `spec.where` says which are in it
    needs_texts: bool = False  # of the items
    signature: Callable[[MetricSpec], str] | None = None  # how a library computes it, with the library's version
    flags_constant: bool = False  # a run with the same label for all items gets the best value, so flag it


def number(spec: MetricSpec, option: str, otherwise: float) -> float:
    """The value of an option that is a number; definitions have it as text."""
    return float(spec.options.get(option, otherwise))


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric as the heading of a leaderboard's column."""

    key: str
    title: str
    short: str
    higher_is_better: bool
    formula: str
    source: str


LABELS: AnswerKinds = frozenset({"labels"})
SOFT: AnswerKinds = frozenset({"soft"})
TABLE: AnswerKinds = frozenset({"table"})
ENTITIES: AnswerKinds = frozenset({"entities"})
SPANS: AnswerKinds = frozenset({"spans"})
RANKINGS: AnswerKinds = frozenset({"rankings"})
TEXTS: AnswerKinds = frozenset({"texts"})
