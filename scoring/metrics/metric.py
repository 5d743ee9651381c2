"""The definition of a metric: its name, texts for the leaderboard, supported answers and functions."""

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
BY_HAND = "values calculated by hand"


@dataclass(frozen=True, slots=True)
class AnyNumber:
    """The values of an option that accepts any finite number from `low` to `high`."""

    low: float
    high: float = np.inf


@dataclass(frozen=True, slots=True)
class SomeColumns:
    """The values of an option that accepts columns of the track.

    `several` allows more than one column, joined by `+`. `listed` allows only columns whose values the definition
    lists, for metrics that compute something for each value.
    """

    several: bool = False
    required: bool = False
    listed: bool = False


Options = Mapping[str, tuple[str, ...] | AnyNumber | SomeColumns]
BETA: Options = {"beta": AnyNumber(0.0)}  # how many times as much as precision recall counts in F
OVER: Options = {"over": ("gold", "seen", "declared")}  # which classes a macro average covers


def ratios(parts: NDArray[Any], wholes: NDArray[Any], otherwise: float = np.nan) -> Numbers:
    """Return parts / wholes, or `otherwise` where the whole is not greater than 0."""
    # `full_like` keeps the memory order of the arguments, which is twice as fast.
    result = np.full_like(wholes, otherwise, dtype=np.float64)
    np.divide(parts, wholes, out=result, where=wholes > 0)
    return result


def per_row(rows: NDArray[np.intp], values: NDArray[Any], count: int) -> Numbers:
    """Sum the `values` that have the same row, for rows 0 to `count` − 1."""
    sums: Numbers = np.bincount(rows, values, count).astype(np.float64)
    return sums


@dataclass(frozen=True, slots=True)
class Contributions:
    """Each item's contribution to a metric, so that samples of items can be scored without comparing them again.

    `values` has shape (items, k). Let w (samples, items) count how often each item was drawn, with as many draws per
    sample as there are items. Then `combine(w @ values)` returns the values of the samples, NaN where undefined.
    `combine` accepts sums (…, k) of any shape. `k` and `combine` depend only on gold and metric, so that items of
    several runs can be mixed. Values derived from the whole gold are the same in every sample, unless the contributions
    include an item's effect on them, as in ICM.
    """

    values: Numbers
    combine: Callable[[Numbers], Numbers]


def mean_of(values: Numbers) -> Contributions:
    """Return the contributions to a metric that is the mean of one value (items,) per item."""
    items = len(values)
    return Contributions(values[:, None], lambda sums: sums[..., 0] / items)


def share_of(parts: NDArray[Any], wholes: NDArray[Any]) -> Contributions:
    """Return the contributions to a metric that is Σ parts / Σ wholes, both (items,). It is undefined if both are 0."""
    both = np.column_stack([parts, wholes]).astype(np.float64)
    return Contributions(both, lambda sums: ratios(sums[..., 0], sums[..., 1]))


@dataclass(frozen=True, slots=True)
class Sums:
    """A decorator for functions that return the contributions for a comparison and spec.

    The metric is computed from them. It is undefined if there are no items or the result is NaN.
    """

    contributions: Callable[[Any, MetricSpec], Contributions]

    def __call__(self, comparison: Compared, spec: MetricSpec) -> float | None:
        if not len(comparison.gold):
            return None
        parts = self.contributions(comparison, spec)
        value = float(parts.combine(parts.values.sum(axis=0)))
        return None if np.isnan(value) else value


def sums_of(counts: Callable[[Any, MetricSpec], Numbers], combine: Callable[[Numbers, MetricSpec], Numbers]) -> Sums:
    """Return the metric that is computed from the sums of each item's counts (items, k)."""
    return Sums(lambda comparison, spec: Contributions(comparison.once(counts, spec), lambda sums: combine(sums, spec)))


@dataclass(frozen=True, slots=True)
class Mean:
    """A decorator for functions that return each item's value (items,) for a comparison and spec.

    The metric is the mean of these values.
    """

    values: Callable[[Any, MetricSpec], Numbers]

    def __call__(self, comparison: Compared, spec: MetricSpec) -> float | None:
        return float(self._of(comparison, spec).mean()) if len(comparison.gold) else None

    def contributions(self, comparison: Compared, spec: MetricSpec) -> Contributions:
        return mean_of(self._of(comparison, spec))

    def _of(self, comparison: Compared, spec: MetricSpec) -> Numbers:
        return comparison.once(self.values, spec)


@dataclass(frozen=True, slots=True)
class Share:
    """A decorator for functions that return each item's part and whole (items,). The metric is Σ parts / Σ wholes."""

    parts: Callable[[Any, MetricSpec], tuple[NDArray[Any], NDArray[Any]]]

    def __call__(self, comparison: Compared, spec: MetricSpec) -> float | None:
        parts, wholes = comparison.once(self.parts, spec)
        return float(parts.sum() / wholes.sum()) if wholes.any() else None

    def contributions(self, comparison: Compared, spec: MetricSpec) -> Contributions:
        return share_of(*comparison.once(self.parts, spec))


class Part(Enum):
    """What suffix a metric's key can have, such as `:YES` in `f1:YES`. The values are printed in docs/metrics.md."""

    NONE = "No suffix"
    CLASS = "Suffix: `:CLASS`"
    COLUMN = "Suffix: `:COLUMN` (required if a table has several columns)"
    COLUMN_OR_ALL = "Optional suffix: `:COLUMN` (by default, all columns)"
    TYPE = "Optional suffix: `:TYPE` (by default, all types together)"
    COLUMNS = "Optional suffix: `:COLUMN`, or several columns joined by `+` (by default, all columns)"
    SCORED = "Optional suffix: `:CLASS` or `:COLUMN` (by default, the mean over those with a value)"
    GROUP = "Optional suffix: `:GROUP`, a group of items (by default, all groups)"
    CUTOFF = "Suffix: `:K`, the number of top documents to consider"
    CUTOFF_OR_ALL = "Optional suffix: `:K`, the number of top documents to consider (by default, all documents)"


@dataclass(frozen=True, slots=True)
class Example:
    """A metric computed by hand, shown in docs/metrics.md and checked by a test.

    It consists of the answers to each item, the value and an explanation. Labels are written `b c`, spans `3 4 5`,
    entities `PER 0-2, LOC 4-5` with exclusive ends, tuples `a b, c d`, texts with ` | ` between references, and
    everything else `a 0.5, b 1`, with `?` for unknown values. `slices` has the slice of each item, and `where` selects
    the slice that is scored.
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
class Heading:
    """What describes a metric's column: its title, its short title and its formula."""

    title: str
    short: str
    formula: str


def heading_of_f_beta(
    title: str, short: str, formula: str, ratio: str, with_beta: str
) -> Callable[[MetricSpec], Heading]:
    """Return the `heading` of an F1 with the option `beta`. The formula's `ratio` becomes `with_beta`.

    In `with_beta`, braces are replaced with the value of β.
    """

    def heading(spec: MetricSpec) -> Heading:
        if "beta" not in spec.options:
            return Heading(title, short, formula)
        beta = f"{number(spec, 'beta', 1.0):g}"
        named = formula.replace(ratio, with_beta.format(beta))
        return Heading(title.replace("F1", f"F{beta}"), short.replace("F1", f"F{beta}"), named)

    return heading


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric. `compute(comparison, spec)` returns its value or None if it is undefined, but never NaN.

    The comparison is a `MatrixComparison`, for spans a `SpanComparison`, for entities an `EntityComparison`, for
    rankings a `RankingComparison`, for texts a `TextComparison`, and for tuples a `TupleComparison`
    (`scoring.metrics.comparison`). `kinds` are the supported answers, `options` the parameters with their allowed
    values. `low` and `high` bound the values (None: unbounded).

    `contributions(comparison, spec)` returns each item's contribution. It exists only if the value is a function of
    sums over the items. It returns None if the value is undefined, and is not called if there are no items. It can be
    left out if `compute` is a `Mean`, `Share` or other function with an attribute `contributions`.
    """

    name: str
    title: str
    short: str  # column heading
    formula: str
    source: str
    compute: Callable[..., float | None]
    kinds: AnswerKinds
    contributions: Callable[..., Contributions | None] | None = None
    example: Example | None = None
    part: Part = Part.NONE
    single_label: bool = False  # meaningless if items can have several classes
    options: Options = field(default_factory=dict)
    higher_is_better: bool = True
    low: float | None = 0.0
    high: float | None = 1.0
    exceeds_high: Callable[[MetricSpec], bool] | None = None  # whether values can exceed `high` with these options
    is_count: bool = False  # shown without decimal places
    numbers: bool = False  # also supports tables of arbitrary numbers, not only labels
    ordinal: bool = False  # needs columns whose values the definition lists
    counts_outside: bool = False  # counts answers to items without gold if the track counts them
    sees_background: bool = False  # scores the slice `spec.where`, but also needs the items outside it
    needs_texts: bool = False  # needs the texts of the items
    heading: Callable[[MetricSpec], Heading] | None = None  # with options, if it depends on them
    signature: Callable[[MetricSpec], str] | None = None  # settings and version of the library that computes the metric
    # Whether to flag a run that has the same label for all items, because such a run gets the best possible value.
    flags_constant: bool = False
    # For texts: the maxima of all characters in a run, and of the sums over items of the squared numbers of characters
    # and words. More would take too long to score.
    most_characters: int | None = None
    # How many times as long scoring takes with these options. The maxima are divided by this.
    times: Callable[[MetricSpec], int] | None = None
    most_squared_characters: int | None = None
    most_squared_words: int | None = None
    # When the value is undefined, apart from a gold without items to score. The words after “if” are also the reason
    # in reports, unless `why_undefined` returns a more exact one.
    undefined: str | None = None
    needs_varied_run: bool = False  # undefined whatever the gold is if all predictions are equal
    why_undefined: Callable[[Any, MetricSpec], str] | None = None
    compared_with: str = ""  # what the tests compare the values with
    conventions: tuple[str, ...] = ("Items",)  # the parts of the section “Conventions” of docs/metrics.md that apply

    def __post_init__(self) -> None:
        object.__setattr__(self, "contributions", getattr(self.compute, "contributions", self.contributions))


def number(spec: MetricSpec, option: str, otherwise: float) -> float:
    """Return an option as a number. Definitions store options as text."""
    return float(spec.options.get(option, otherwise))


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """The description of a metric in the column heading of a leaderboard."""

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
TUPLES: AnswerKinds = frozenset({"tuples"})
