"""Bootstrap and permutation values of runs: the arithmetic behind `scoring.significance`.

A metric with contributions needs one matrix product for all runs: the number of times that each sample contains each
item, multiplied by the item's contribution. Contributions are first rounded (by about 1e-12 of the largest one, for
2,000 items) so that every such sum is exact in float64. This does not change counts, which are stored as float32 if it
can represent their sums. As a result, the sums do not depend on the order of summation or the number
of threads. Columns shared by several runs, such as the gold standard's counts, are multiplied only once. Runs with the
same contributions share rows of the result.

A metric without contributions, such as a rank correlation, is recomputed on every sample, with the same draws for all
runs. This is exact, but slower by orders of magnitude.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from scoring.answers import Rows
from scoring.definition import MetricSpec
from scoring.metrics import compute
from scoring.metrics.comparison import Comparison, MatrixComparison
from scoring.metrics.metric import Contributions, Numbers
from scoring.metrics.registry import contributions

_CELLS = 1 << 22  # maximum number of values in a piece of the draws: 32 MB as float64
_MANTISSA = 52  # bits; one less than in float64, because two sums are added
# For metrics that must be recomputed, split the items into this many parts and leave out each part in turn.
_PARTS = 1000
_ORDER_SEED = 0  # seed for ordering the items before they are split into parts
_WHOLE = 1 << 24  # float32 represents every whole number up to this one


Pair = tuple[int, int]
FIRST_TWO: Pair = (0, 1)


class RunField(Protocol):
    """Runs with the same gold standard and metric, each of which has a defined value."""

    @property
    def items(self) -> int:
        """The number of gold items."""

    @property
    def observed(self) -> Numbers:
        """The runs' values (runs,), computed with the same arithmetic as for samples."""

    @property
    def alike(self) -> list[int]:
        """For each run, the index of the first run that has the same value on every sample."""

    def resampled(self, rng: np.random.Generator, rounds: int) -> Numbers:
        """Return values (runs, rounds) on samples of as many items, drawn with replacement. NaN where undefined."""

    def pseudo_values(self) -> Numbers:
        """Return jackknife pseudo-values (units, runs): each unit's contribution to first order, with mean `observed`.

        Units are items or, if there are too many items to leave out each in turn, parts of nearly equal size.
        """

    def exchanged(self, rng: np.random.Generator, rounds: int, pair: Pair = FIRST_TWO) -> Numbers:
        """Return the differences (rounds,) between the two runs of a pair.

        In each round, their answers to each item are exchanged with a probability of one half. If there are no more
        than `rounds` ways to exchange the answers, each of them occurs once, and there are no other rounds.
        """


def field_of(comparisons: Sequence[Comparison], spec: MetricSpec, strata: Sequence[Rows] | None = None) -> RunField:
    """Prepare the runs for sampling.

    `strata` are the gold's strata, if their rows must be in another order than the gold's.

    Raises:
        TypeError: the metric has no contributions, and the answers are not labels, weights or tables.
    """
    parts = [contributions(comparison, spec) for comparison in comparisons]
    known = [part for part in parts if part is not None]
    if len(known) == len(parts):
        return _Sums.of(known, comparisons[0].gold.strata if strata is None else strata)
    labels = [comparison for comparison in comparisons if isinstance(comparison, MatrixComparison)]
    if len(labels) < len(comparisons):
        raise TypeError(f"{spec.key} cannot be broken down by item, so these answers cannot be scored on samples")
    return _Recomputed(labels, spec)


def _draws(rng: np.random.Generator, strata: Sequence[Rows], rounds: int) -> Iterator[NDArray[np.int64]]:
    """Yield rows drawn with replacement, in pieces of shape (some rounds, items).

    As many rows are drawn from each stratum as it contains.
    """
    items = sum(map(len, strata))
    is_in_order = len(strata) == 1 and np.array_equal(strata[0], np.arange(items))
    for size in _pieces(items, rounds):
        drawn = [rng.integers(0, len(rows), size=(size, len(rows))) for rows in strata]
        yield drawn[0] if is_in_order else np.hstack([rows[at] for rows, at in zip(strata, drawn, strict=True)])


def _coins(rng: np.random.Generator, items: int, rounds: int) -> Iterator[NDArray[np.bool_]]:
    """Yield whether each item's answers are exchanged, in pieces of shape (some rounds, items).

    If there are no more than `rounds` possibilities, yield all of them instead.
    """
    # This means 2^items ≤ rounds.
    if items < rounds.bit_length():
        yield (np.arange(1 << items)[:, None] >> np.arange(items) & 1).astype(np.bool_)
        return
    for size in _pieces(items, rounds):
        yield rng.integers(0, 2, size=(size, items), dtype=np.uint8).view(np.bool_)


def sign_flips(values: Numbers, rng: np.random.Generator, rounds: int) -> Numbers:
    """Return the means (columns, rounds) of `values` (units, columns) with random signs in each round.

    A unit's sign changes in all columns at the same time.
    """
    units = len(values)
    step = _grid(np.abs(values).max(initial=0, keepdims=True), units)
    rounded = np.rint(values / step) * step
    total = rounded.sum(axis=0)[:, None]
    # Twice the sum of the units that keep their sign, minus the sum of all, is the sum with signs.
    return np.hstack(
        [(2 * (rounded.T @ piece.T.astype(np.float64)) - total) / units for piece in _coins(rng, units, rounds)]
    )


def _pieces(items: int, rounds: int) -> Iterator[int]:
    """Yield the sizes of pieces. The sizes depend only on the arguments, because the draws depend on the sizes."""
    size = max(1, _CELLS // items)
    for start in range(0, rounds, size):
        yield min(size, rounds - start)


def _counts(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each round drew each item, with shape (rounds, items)."""
    rounds, items = rows.shape
    flat = (rows + np.arange(rounds)[:, None] * items).ravel()
    counts: NDArray[np.int64] = np.bincount(flat, minlength=rounds * items).reshape(rounds, items)
    return counts


@dataclass(frozen=True, slots=True)
class _Sums:
    """Runs as sums over items. The contributions of run r are the columns `places[r]` of `columns` (items, columns)."""

    observed: Numbers
    alike: list[int]
    columns: NDArray[Any]  # float64 or float32
    strata: Sequence[Rows]
    places: list[list[int]]
    combine: Callable[[Numbers], Numbers]

    @classmethod
    def of(cls, parts: Sequence[Contributions], strata: Sequence[Rows]) -> "_Sums":
        """Create the sums of the runs' contributions, which must all have the same shape (items, k)."""
        steps = _grid(np.max([np.abs(part.values).max(axis=0) for part in parts], axis=0), len(parts[0].values))
        columns: dict[bytes, int] = {}
        places: list[list[int]] = []
        kept: list[Numbers] = []
        for part in parts:
            own = []
            for column in (np.rint(part.values / steps) * steps).T:
                bits = column.tobytes()
                if bits not in columns:
                    columns[bits] = len(kept)
                    kept.append(column)
                own.append(columns[bits])
            places.append(own)
        matrix, combine = np.stack(kept, axis=1), parts[0].combine
        totals = matrix.sum(axis=0)
        return cls(
            observed=np.array([float(combine(totals[own])) for own in places]),
            alike=[places.index(own) for own in places],
            columns=_narrowed(matrix),
            strata=strata,
            places=places,
            combine=combine,
        )

    @property
    def items(self) -> int:
        return len(self.columns)

    def resampled(self, rng: np.random.Generator, rounds: int) -> Numbers:
        values = np.empty((len(self.places), rounds))
        at = 0
        for rows in _draws(rng, self.strata, rounds):
            sums = self._totals(_counts(rows))
            for run, own in enumerate(self.places):
                values[run, at : at + len(rows)] = self.combine(sums[own].T)
            at += len(rows)
        return values

    def pseudo_values(self) -> Numbers:
        without = np.empty((self.items, len(self.places)))
        rest = (self.columns.sum(axis=0, dtype=np.float64) - self.columns) * (self.items / max(1, self.items - 1))
        for run, own in enumerate(self.places):
            without[:, run] = self.combine(rest[:, own])
        return _jackknife(self.observed, without)

    def exchanged(self, rng: np.random.Generator, rounds: int, pair: Pair = FIRST_TWO) -> Numbers:
        first, second = (self.places[at] for at in pair)
        sums = np.hstack([self._totals(coins) for coins in _coins(rng, self.items, rounds)])
        totals, moved = self.columns.sum(axis=0, dtype=np.float64)[:, None], sums[second] - sums[first]
        return self.combine((totals[first] + moved).T) - self.combine((totals[second] - moved).T)

    def _totals(self, weights: NDArray[Any]) -> Numbers:
        """Return the sums of the columns over the items, weighted by `weights` (samples, items).

        The result has shape (columns, samples).
        """
        totals: Numbers = (self.columns.T @ weights.astype(self.columns.dtype).T).astype(np.float64)
        return totals


def _narrowed(columns: Numbers) -> NDArray[Any]:
    """Convert whole numbers to float32 if it can represent the sums of any sample, which halves the time."""
    fits = np.abs(columns).max(initial=0) * len(columns) <= _WHOLE
    return columns.astype(np.float32) if fits and np.array_equal(columns, np.rint(columns)) else columns


def _grid(greatest: Numbers, items: int) -> Numbers:
    """Return a power of two for each of the k columns, such that sums of its multiples over the items are exact."""
    exponents: NDArray[np.int32] = np.frexp(greatest)[1] + items.bit_length() - _MANTISSA
    return np.ldexp(1.0, exponents)


def _jackknife(values: Numbers, without: Numbers) -> Numbers:
    """Return pseudo-values (units, runs) whose means are the runs' values.

    Args:
        values: the runs' values, (runs,).
        without: the runs' values without each unit, (units, runs). If a value is undefined, the unit is treated as if
            removing it did not change the value.

    Source: Tukey (1958).
    """
    units = len(without)
    apart = (units - 1) * (values - np.where(np.isnan(without), values, without))
    pseudo: Numbers = values + apart - apart.mean(axis=0)
    return pseudo


class _Recomputed:
    """Runs whose metric is recomputed on every sample."""

    def __init__(self, comparisons: Sequence[MatrixComparison], spec: MetricSpec) -> None:
        columns = tuple(dict.fromkeys(name for comparison in comparisons for name in comparison.columns))
        self._runs = [_under(columns, comparison) for comparison in comparisons]
        self._spec = spec
        self.items = len(comparisons[0].gold)
        self._strata = comparisons[0].gold.strata
        self.observed = np.array([self._value(run) for run in self._runs])
        self.alike = [next(i for i, first in enumerate(self._runs) if _same(first, run)) for run in self._runs]

    def resampled(self, rng: np.random.Generator, rounds: int) -> Numbers:
        rows = (row for piece in _draws(rng, self._strata, rounds) for row in piece)
        return np.array([self._on_sample(row) for row in rows]).T

    def pseudo_values(self) -> Numbers:
        order = np.random.default_rng(_ORDER_SEED).permutation(self.items)
        parts = np.array_split(order, min(self.items, _PARTS))
        return _jackknife(self.observed, np.array([self._on_sample(np.setdiff1d(order, part)) for part in parts]))

    def exchanged(self, rng: np.random.Generator, rounds: int, pair: Pair = FIRST_TWO) -> Numbers:
        own, other = (self._runs[at] for at in pair)
        coins = (coin for piece in _coins(rng, self.items, rounds) for coin in piece)
        return np.array([self._value(_exchange(own, other, c)) - self._value(_exchange(other, own, c)) for c in coins])

    def _value(self, run: MatrixComparison) -> float:
        value = compute(run, self._spec)
        return np.nan if value is None else value

    def _on_sample(self, rows: NDArray[np.int64]) -> list[float]:
        gold = self._runs[0].gold.select(rows)
        values = {place: self._value(self._runs[place].select(rows, gold)) for place in sorted(set(self.alike))}
        return [values[place] for place in self.alike]


def _under(columns: tuple[str, ...], comparison: MatrixComparison) -> MatrixComparison:
    """Give a run these columns, in this order, adding empty ones where needed."""
    at = [columns.index(name) for name in comparison.columns]

    def spread(values: NDArray[Any], empty: Any) -> NDArray[Any]:
        result = np.full((len(values), len(columns)), empty, values.dtype)
        result[:, at] = values
        return result

    return replace(
        comparison,
        columns=columns,
        run=spread(comparison.run, 0),
        absent=spread(comparison.absent, True),
        outside=spread(comparison.outside, 0),
    )


def _same(first: MatrixComparison, second: MatrixComparison) -> bool:
    arrays = ((getattr(first, name), getattr(second, name)) for name in ("run", "absent", "answered", "outside"))
    return all(np.array_equal(own, other) for own, other in arrays)


def _exchange(run: MatrixComparison, other: MatrixComparison, coin: NDArray[np.bool_]) -> MatrixComparison:
    """Return `run` with the other run's answers to the items where `coin` is True."""
    return replace(
        run,
        run=np.where(coin[:, None], other.run, run.run),
        absent=np.where(coin[:, None], other.absent, run.absent),
        answered=np.where(coin, other.answered, run.answered),
    )
