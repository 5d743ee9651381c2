"""Gaps between a run's scores on slices of the items, with intervals that hold for all pairs of slices together.

The largest of many gaps is large by chance alone. Therefore, all pairs of slices, over all columns that split the
items, get simultaneous intervals by single-step max-T (Hothorn, Bretz and Westfall 2008). Measured in standard errors,
they reach as far to each side as the `level` quantile of the largest gap among all pairs when there are no true gaps.
For a run without any true gaps, the probability that some interval excludes 0 is at most 1 − `level`.

A gap has two standard errors. One comes from samples of each slice's own items, drawn with replacement. In a small
slice, it may be far too small, and it is 0 if all answers are correct. The other is the standard error for as many
items from the whole gold standard, which is appropriate if there is no gap. The larger one is used. Slices with fewer
than FEW items are left out.

In simulations with 1,000 items, a slice whose accuracy is 0.75 instead of 0.85 is found in 98% of cases with two equal
slices, in 82% with four and in 35% with ten. With four, a test that knows the slice in advance finds it in 94%.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import hypot, sqrt

import numpy as np
from numpy.typing import NDArray

from scoring.definition import MetricSpec
from scoring.metrics import compute, describe
from scoring.metrics.comparison import Comparison
from scoring.metrics.registry import contributions
from scoring.metrics.slices import restricted
from scoring.significance.inputs import ROUNDS, defined_values, require_valid
from scoring.significance.paired_tests import Seed
from scoring.significance.resampling import field_of
from scoring.significance.tie_grouping import FEW

_DRAWS = 20_000  # number of draws of the largest gap, assuming that there are no true gaps
_SEED = 0  # seed of these draws, which depend only on the standard errors


@dataclass(frozen=True, slots=True)
class SliceScore:
    """A run's score on the items in one slice, with its standard error over samples of these items.

    `usual` is the standard error for the same number of items from the whole gold standard.
    """

    value: str
    items: int
    score: float
    error: float
    usual: float


@dataclass(frozen=True, slots=True)
class Gap:
    """How much worse the slice `value` scores than the slice `behind`, with a simultaneous interval."""

    value: str
    behind: str
    gap: float
    low: float
    high: float

    @property
    def is_found(self) -> bool:
        """Whether the gap is significant, that is, whether the interval excludes 0."""
        return self.low > 0


@dataclass(frozen=True, slots=True)
class SliceGaps:
    """A run's scores on the slices of one column, best slice first, with a gap for each slice except the best.

    Of the gaps to all better slices, it is the one whose interval has the highest lower end, because a slice whose few
    items were all answered correctly would not be a reliable reference.
    """

    scores: tuple[SliceScore, ...]
    gaps: tuple[Gap, ...]


def slice_gaps(
    runs: Mapping[str, Comparison],
    spec: MetricSpec,
    names: Sequence[str],
    *,
    seed: Seed,
    rounds: int = ROUNDS,
    level: float = 0.95,
) -> dict[str, dict[str, SliceGaps]]:
    """Compute the gaps of each run that has a value. The result maps run name → name of the slicing → gaps.

    Slicings with fewer than two slices to compare are left out. The result is empty if the metric has no contributions
    by item. A run's intervals are corrected for all of its pairs of slices and do not depend on other runs.
    """
    require_valid(rounds, "level", level)
    values = defined_values(runs, spec)
    compared = {name: runs[name] for name in values}
    if not compared or any(contributions(run, spec) is None for run in compared.values()):
        return {}
    field = field_of(list(compared.values()), spec)
    spread = dict(zip(compared, field.pseudo_values().std(axis=0, ddof=1).tolist(), strict=True))
    gold, rng = next(iter(compared.values())).gold, np.random.default_rng(seed)
    scores: dict[str, dict[str, list[SliceScore]]] = {name: {by: [] for by in names} for name in compared}
    for by in names:
        for value, rows in gold.slices(by).items():
            if len(rows) >= FEW:
                errors = _errors(compared, spec, (by, value), rng, rounds)
                for name, (score, error) in errors.items():
                    usual = spread[name] / sqrt(len(rows))
                    scores[name][by].append(SliceScore(value, len(rows), score, error, usual))
    sign = 1 if describe(spec).higher_is_better else -1
    return {name: _gaps(found, sign, level) for name, found in scores.items()}


def _errors(
    runs: Mapping[str, Comparison], spec: MetricSpec, where: tuple[str, str], rng: np.random.Generator, rounds: int
) -> dict[str, tuple[float, float]]:
    """Return the score on one slice and its standard error, for runs that have both."""
    parts = {name: part for name, run in runs.items() if (part := restricted(run, where)) is not None}
    values = {name: value for name, part in parts.items() if (value := compute(part, spec)) is not None}
    known = [name for name in values if contributions(parts[name], spec) is not None]
    if not known:
        return {}
    field = field_of([parts[name] for name in known], spec)
    samples, items = field.resampled(rng, rounds), field.items
    found = {}
    for name, sample in zip(known, samples, strict=True):
        defined = sample[~np.isnan(sample)]
        if len(defined):
            found[name] = values[name], float(defined.std()) * sqrt(items / (items - 1))
    return found


def _gaps(found: Mapping[str, Sequence[SliceScore]], sign: int, level: float) -> dict[str, SliceGaps]:
    """Return the gaps of one run, with the slices of each column ordered from best to worst."""
    ordered = {
        by: sorted(scores, key=lambda slice_: (-sign * slice_.score, slice_.value))
        for by, scores in found.items()
        if len(scores) > 1
    }
    reach = _critical([[score.usual for score in scores] for scores in ordered.values()], level)
    return {
        by: SliceGaps(
            tuple(scores), tuple(_gap(scores[:place], scores[place], sign, reach) for place in range(1, len(scores)))
        )
        for by, scores in ordered.items()
    }


def _gap(better: Sequence[SliceScore], worse: SliceScore, sign: int, reach: float) -> Gap:
    gaps = [(sign * (other.score - worse.score), _gap_error(other, worse), other.value) for other in better]
    gap, error, behind = max(gaps, key=lambda found: found[0] - reach * found[1])
    return Gap(worse.value, behind, gap, gap - reach * error, gap + reach * error)


def _gap_error(better: SliceScore, other: SliceScore) -> float:
    return max(hypot(better.error, other.error), hypot(better.usual, other.usual))


def _critical(errors: Sequence[Sequence[float]], level: float) -> float:
    """Return the `level` quantile of the largest gap, in standard errors, if there are no true gaps."""
    largest = np.zeros(_DRAWS)
    for of_column, normal in zip(errors, _normal_draws(tuple(map(len, errors))), strict=True):
        draws = normal * np.array(of_column)[:, None]
        for first, other in combinations(range(len(of_column)), 2):
            error = hypot(of_column[first], of_column[other])
            if error > 0:
                gaps = draws[first] - draws[other]
                np.abs(gaps, out=gaps)
                gaps /= error
                np.maximum(largest, gaps, out=largest)
    return float(np.quantile(largest, level)) if len(errors) else 0.0


@lru_cache(maxsize=1)  # most runs have scores on the same slices
def _normal_draws(sizes: tuple[int, ...]) -> list[NDArray[np.float64]]:
    rng = np.random.default_rng(_SEED)
    return [rng.standard_normal((size, _DRAWS)) for size in sizes]
