"""How much better one run is than another, and whether the difference could be due to chance."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics import describe
from scoring.metrics.comparison import Comparison
from scoring.significance.confidence_intervals import percentiles
from scoring.significance.inputs import ROUNDS, defined_values, field_of_runs, require_valid
from scoring.significance.paired_tests import Method, Seed, paired_p_values


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
    if method == "bootstrap":
        samples = field.resampled(rng, rounds)
        differences = samples[0] - samples[1]
    else:
        differences = field.exchanged(rng, rounds)
    p_value = paired_p_values(differences[None], field.observed[:1] - field.observed[1:], method)
    lead = values["first"] - values["second"]
    return PairedTest(lead if describe(spec).higher_is_better else -lead, float(p_value[0]))


def leads(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, dict[str, Lead]]:
    """Return the lead of each run (outer key) over each later run (inner key), by bootstrap on the same samples.

    The p-values are not corrected for the number of pairs. Runs without a value are left out. If one run of a pair has
    no value on a sample, the sample counts in the p-value as in `paired_tests`, but not in the bounds.
    """
    require_valid(rounds, "level", level)
    values = defined_values(runs, spec)
    if len(values) < 2:
        return {}
    samples = field_of_runs(runs, values, spec).resampled(np.random.default_rng(seed), rounds)
    observed = np.array(list(values.values()))
    sign = 1 if describe(spec).higher_is_better else -1
    found: dict[str, dict[str, Lead]] = {}
    for place, (name, value) in enumerate(values.items()):
        later = list(values)[place + 1 :]
        differences = samples[place] - samples[place + 1 :]
        p_values = paired_p_values(differences, value - observed[place + 1 :]).tolist()
        found[name] = {}
        for other, sample, p_value in zip(later, differences, p_values, strict=True):
            bounds = percentiles(sign * (value - values[other]), sign * sample, level)
            found[name][other] = Lead(bounds.value, bounds.low, bounds.high, p_value)
    return found
