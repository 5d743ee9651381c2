"""Confidence intervals for the values and ranks of runs."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics.comparison import Comparison
from scoring.metrics.metric import Numbers
from scoring.significance.inputs import ROUNDS, defined_values, field_of_runs, require_valid
from scoring.significance.paired_tests import Seed
from scoring.significance.score_intervals import score_interval


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """A run's value and its confidence bounds.

    In the long run, a fraction `level` of such intervals covers the value that the run would have on the whole
    population of items. `undefined` is the number of samples that had no value; they are left out.
    """

    value: float
    low: float
    high: float
    level: float
    undefined: int

    def __repr__(self) -> str:
        return f"Interval({self.value:.4f}, from {self.low:.4f} to {self.high:.4f} at {self.level:g})"


def interval(
    run: Comparison, spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> Interval | None:
    """Return the confidence interval for a run's value, or None if the metric is undefined for the run.

    Args:
        seed: a seed, or a generator to draw from.
        rounds: the number of samples.
        level: the confidence level, such as 0.95.

    Raises:
        ValueError: `level` or `rounds` is out of range.
    """
    return intervals({"": run}, spec, seed=seed, rounds=rounds, level=level)[""]


def intervals(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, Interval | None]:
    """Return the `interval` for each run. All runs use the same samples, and no run's result depends on other runs."""
    require_valid(rounds, "level", level)
    values = defined_values(runs, spec)
    if not values:
        return dict.fromkeys(runs)
    samples = field_of_runs(runs, values, spec).resampled(np.random.default_rng(seed), rounds)
    found = {}
    for (name, value), sample in zip(values.items(), samples, strict=True):
        low, high = score_interval(runs[name], spec, value, sample, level)
        found[name] = Interval(value, low, high, level, int(np.count_nonzero(np.isnan(sample))))
    return {name: found.get(name) for name in runs}


def percentiles(value: float, sample: Numbers, level: float) -> Interval:
    defined = sample[~np.isnan(sample)]
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist() if len(defined) else (value, value)
    return Interval(value, low, high, level, len(sample) - len(defined))
