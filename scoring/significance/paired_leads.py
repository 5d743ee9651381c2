"""How much better one run is than another, and whether the difference could be due to chance."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics import describe, value_range
from scoring.metrics.comparison import Comparison
from scoring.metrics.metric import Numbers
from scoring.significance.confidence_intervals import Interval, percentiles
from scoring.significance.inputs import ROUNDS, defined_values, field_of_runs, require_valid
from scoring.significance.paired_tests import EXCHANGES, SMALL, Method, Seed, paired_p_values
from scoring.significance.resampling import RunField
from scoring.significance.sample_sizes import SampleSize, sample_size
from scoring.significance.score_intervals import student_quantile


@dataclass(frozen=True, slots=True)
class PairedTest:
    """The lead of the first run over the second run (negative if it is worse), and the p-value of the difference."""

    lead: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Lead:
    """The lead of one run over another, with bounds from the samples and the same p-value as in `PairedTest`."""

    lead: float
    low: float
    high: float
    p_value: float


def paired_test(
    first: Comparison,
    second: Comparison,
    spec: MetricSpec,
    *,
    seed: Seed,
    method: Method = "bootstrap",
    rounds: int = ROUNDS,
) -> PairedTest | None:
    """Test whether two runs that were compared with the same gold standard differ.

    Returns:
        The result, or None if the metric is undefined for one of the runs.
    """
    require_valid(rounds)
    runs = {"first": first, "second": second}
    values = defined_values(runs, spec)
    if len(values) < len(runs):
        return None
    field, rng = field_of_runs(runs, values, spec), np.random.default_rng(seed)
    if method == "bootstrap" and sample_size(spec, first.gold).freedom < SMALL - 1:
        method, rounds = "randomization", min(rounds, EXCHANGES)
    if method == "bootstrap":
        samples = field.resampled(rng, rounds)
        differences = samples[0] - samples[1]
    else:
        differences = field.exchanged(rng, rounds)
    p_value = paired_p_values(differences[None], field.observed[:1] - field.observed[1:], method, field.items)
    lead = values["first"] - values["second"]
    return PairedTest(lead if describe(spec).higher_is_better else -lead, float(p_value[0]))


def leads(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, dict[str, Lead]]:
    """Return the lead of each run (outer key) over each later run (inner key), by bootstrap on the same samples.

    With fewer than SMALL items, the p-values come from the randomization test, and the bounds from Student's
    t-distribution. The p-values are not corrected for the number of pairs. Runs without a value are left out. If one
    run of a pair has no value on a sample, the sample counts in the p-value as in `paired_tests`, but not in the
    bounds.
    """
    require_valid(rounds, "level", level)
    values = defined_values(runs, spec)
    if len(values) < 2:
        return {}
    field, size = field_of_runs(runs, values, spec), sample_size(spec, next(iter(runs.values())).gold)
    samples = field.resampled(np.random.default_rng(seed), rounds)
    observed = np.array(list(values.values()))
    sign = 1 if describe(spec).higher_is_better else -1
    found: dict[str, dict[str, Lead]] = {}
    for place, (name, value) in enumerate(values.items()):
        later = list(values)[place + 1 :]
        differences = samples[place] - samples[place + 1 :]
        apart = value - observed[place + 1 :]
        is_small = size.freedom < SMALL - 1
        p_values = _randomized(field, place, apart, seed, rounds) if is_small else paired_p_values(differences, apart)
        found[name] = {}
        for other, sample, p_value in zip(later, differences, p_values.tolist(), strict=True):
            lead = sign * (value - values[other])
            bounds = _students(lead, sample, level, size, spec) if is_small else percentiles(lead, sign * sample, level)
            found[name][other] = Lead(bounds.value, bounds.low, bounds.high, p_value)
    return found


def _randomized(field: RunField, place: int, apart: Numbers, seed: Seed, rounds: int) -> Numbers:
    """Return the p-values of the randomization tests of a run and each later run. `apart` are their differences."""
    found = []
    for later, difference in enumerate(apart, place + 1):
        exchanged = field.exchanged(np.random.default_rng(seed), min(rounds, EXCHANGES), (place, later))
        found.append(paired_p_values(exchanged[None], np.array([difference]), "randomization", field.items))
    return np.concatenate([np.zeros(0), *found])


def _students(lead: float, sample: Numbers, level: float, size: SampleSize, spec: MetricSpec) -> Interval:
    """Return the interval from Student's t-distribution, with the standard error from the samples.

    It has no leads that are impossible because the metric has a lowest and a highest value.
    """
    defined = sample[~np.isnan(sample)]
    error = float(defined.std()) * sqrt(size.drawn / max(1, size.drawn - 1)) if len(defined) else 0.0
    reach = student_quantile(level, max(1, size.freedom)) * error
    lowest, highest = value_range(spec)
    most = inf if lowest is None or highest is None else highest - lowest
    return Interval(lead, max(lead - reach, -most), min(lead + reach, most), level, len(sample) - len(defined))
