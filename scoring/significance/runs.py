"""How far scores can be trusted: intervals, paired tests, and groups of runs that the items cannot tell apart.

The items are a sample of all that could have been asked. `interval` draws samples of them, as many items as there are,
with replacement (Efron and Tibshirani 1993), and takes the standard error of the values on them; see
`score_intervals`. `paired_test` asks whether the difference of two runs could be chance, both judged on the
same samples; see `paired_tests`. `tie_groups` tests all pairs of a field; see `all_pairs`.

What a metric derives from the gold as a whole is that of the whole gold in every sample, but for the information of a
class in ICM, which changes to first order (`scoring.metrics.metric.Contributions`). A metric without contributions is
computed on every sample.

The same arguments give the same bits, whatever the number of threads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics import compute, describe
from scoring.metrics.comparison import Comparison
from scoring.metrics.metric import Numbers
from scoring.significance.all_pairs import p_values
from scoring.significance.paired_tests import Method, PairedTests, Seed
from scoring.significance.resampling import Field, field_of, sign_flips
from scoring.significance.score_intervals import score_interval

ROUNDS = 10_000
FEW = 10  # items; with fewer, no test holds its level


@dataclass(frozen=True, slots=True, repr=False)
class Interval:
    """A run's value, and bounds that hold the value on all possible items in `level` of all cases.

    `undefined` of the samples had no value and are left out.
    """

    value: float
    low: float
    high: float
    level: float
    undefined: int

    def __repr__(self) -> str:
        return f"Interval({self.value:.4f}, from {self.low:.4f} to {self.high:.4f} at {self.level:g})"


@dataclass(frozen=True, slots=True)
class PairedTest:
    """By how much the first run is better than the second (less than 0: worse), and how likely chance does as much."""

    lead: float
    p_value: float


@dataclass(frozen=True, slots=True)
class Lead:
    """By how much one run is better than another, the bounds of that on the samples, and `PairedTest`'s p-value."""

    lead: float
    low: float
    high: float
    p_value: float


@dataclass(frozen=True, slots=True)
class GroupedRun:
    """A run among others. Groups count from 1, the best.

    `p_value` is that of the test against the group's best run, corrected for all pairs of runs; None for that run
    itself. Value and group are None where the metric is undefined for the run.
    """

    name: str
    value: float | None
    group: int | None
    p_value: float | None


def interval(
    run: Comparison, spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> Interval | None:
    """The confidence interval of a run's value; None where the metric is undefined for the run.

    Args:
        seed: a seed, or the generator to draw from.
        rounds: how many samples.
        level: a share, such as 0.95.

    Raises:
        ValueError: `level` or `rounds` is out of range.
    """
    return intervals({"": run}, spec, seed=seed, rounds=rounds, level=level)[""]


def intervals(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, Interval | None]:
    """`interval` of each run, all on the same samples: what one run gets does not depend on the others."""
    _validate(rounds, "level", level)
    values = _values(runs, spec)
    if not values:
        return dict.fromkeys(runs)
    samples = _field(runs, values, spec).resampled(np.random.default_rng(seed), rounds)
    found = {}
    for (name, value), sample in zip(values.items(), samples, strict=True):
        low, high = score_interval(runs[name], spec, value, sample, level)
        found[name] = Interval(value, low, high, level, int(np.count_nonzero(np.isnan(sample))))
    return {name: found.get(name) for name in runs}


def rank_ranges(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, tuple[int, int]]:
    """Between which ranks `level` of the samples put each run among these; without those that have no value.

    All runs are judged on the same samples. A rank is one more than the number of runs that are better, so that equal
    runs share the better rank; a sample on which a run has no value puts it last.
    """
    _validate(rounds, "level", level)
    values = _values(runs, spec)
    if not values:
        return {}
    samples = _field(runs, values, spec).resampled(np.random.default_rng(seed), rounds)
    cost = np.nan_to_num(-samples if describe(spec).higher_is_better else samples, nan=np.inf)
    ranks = np.stack([1 + np.searchsorted(np.sort(sample), sample) for sample in cost.T], axis=1)
    tail = (1 - level) / 2
    low, high = np.quantile(ranks, [tail, 1 - tail], axis=1, method="nearest").tolist()
    return {name: (int(best), int(worst)) for name, best, worst in zip(values, low, high, strict=True)}


def paired_test(
    first: Comparison,
    second: Comparison,
    spec: MetricSpec,
    *,
    seed: Seed,
    method: Method = "bootstrap",
    rounds: int = ROUNDS,
) -> PairedTest | None:
    """Whether two runs on the same gold differ; None where the metric is undefined for one of them."""
    _validate(rounds)
    runs = {"first": first, "second": second}
    values = _values(runs, spec)
    if len(values) < len(runs):
        return None
    test = PairedTests.of(_field(runs, values, spec), method, rounds, seed)
    lead = values["first"] - values["second"]
    return PairedTest(
        lead=lead if describe(spec).higher_is_better else -lead,
        p_value=float(test.p_values(0, [1])[0]),
    )


def leads(
    runs: Mapping[str, Comparison], spec: MetricSpec, *, seed: Seed, rounds: int = ROUNDS, level: float = 0.95
) -> dict[str, dict[str, Lead]]:
    """Of each run (outer key) its lead over each later one (inner key), all by bootstrap on the same samples.

    Not corrected for the number of pairs. Runs that have no value are left out; samples on which one of a pair has none
    count in the p-value as always, and not in the bounds.
    """
    _validate(rounds, "level", level)
    values = _values(runs, spec)
    if len(values) < 2:
        return {}
    samples = _field(runs, values, spec).resampled(np.random.default_rng(seed), rounds)
    test = PairedTests.on(samples, np.array(list(values.values())))
    sign = 1 if describe(spec).higher_is_better else -1
    found: dict[str, dict[str, Lead]] = {}
    for place, (name, value) in enumerate(values.items()):
        later = list(values)[place + 1 :]
        p_values = test.p_values(place, range(place + 1, len(values))).tolist()
        found[name] = {}
        for row, (other, p_value) in enumerate(zip(later, p_values, strict=True), start=place + 1):
            bounds = _percentiles(sign * (value - values[other]), sign * (samples[place] - samples[row]), level)
            found[name][other] = Lead(bounds.value, bounds.low, bounds.high, p_value)
    return found


def tie_groups(
    runs: Mapping[str, Comparison],
    spec: MetricSpec,
    *,
    seed: Seed,
    method: Method = "bootstrap",
    rounds: int = ROUNDS,
    alpha: float = 0.05,
) -> list[GroupedRun]:
    """The runs, best first, in groups that the items cannot tell apart.

    The first run that differs from the best one at `alpha` ends its group, and leads the next in the same way. The
    tests are corrected for all pairs of runs, so that of equal runs one splits off with a chance of `alpha` at most;
    see `all_pairs`. Fewer than FEW items tell no runs apart: all are one group.

    Runs with equal values tie always; runs that are the same to the metric count as one in the correction, so that
    handing in a run twice changes nothing for others. Runs for which the metric is undefined come last.

    Memory is at most 8 bytes × rounds × runs, 8 bytes × items × runs, and some 200 MB.

    Raises:
        ValueError: so few rounds that no difference could pass.
    """
    _validate(rounds, "alpha", alpha)
    if alpha * (rounds + 1) < 1:
        raise ValueError(f"tests at {alpha:g} need at least {int(np.ceil(1 / alpha)) - 1} rounds, not {rounds}")
    values = _values(runs, spec)
    undefined = [GroupedRun(name, None, None, None) for name in runs if name not in values]
    if not values:
        return undefined
    field = _field(runs, values, spec)
    sign = -1 if describe(spec).higher_is_better else 1
    scores = list(values.values())
    order = sorted(set(field.alike), key=lambda place: (sign * scores[place], place))
    groups = _groups(order, _pairs(field, order, method, rounds, seed), alpha)
    names: dict[int, list[str]] = {}
    for name, place in zip(values, field.alike, strict=True):
        names.setdefault(place, []).append(name)
    return [*_grouped_runs(order, groups, names, values), *undefined]


def _pairs(field: Field, order: Sequence[int], method: Method, rounds: int, seed: Seed) -> Numbers:
    """Corrected p-values of all pairs of the runs in `order`, shape (runs, runs)."""
    if field.items < FEW:
        return np.ones((len(order), len(order)))
    rng = np.random.default_rng(seed)
    observed = field.observed[order]
    if method == "bootstrap":
        samples = field.resampled(rng, rounds)[order] - observed[:, None]
        return p_values(observed, samples, drawn=field.items)
    return p_values(observed, sign_flips(field.pseudo_values()[:, order], rng, rounds), drawn=None)


def _validate(rounds: int, name: str = "level", share: float = 0.95) -> None:
    """Raise ValueError unless there are samples, and `share` is one."""
    if rounds < 1:
        raise ValueError(f"rounds is at least 1, not {rounds}")
    if not 0 < share < 1:
        example = "0.95" if name == "level" else "0.05"
        raise ValueError(f"{name} is a share between 0 and 1, such as {example}, not {share:g}")


def _values(runs: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, float]:
    """The defined values by name."""
    values = {name: compute(run, spec) for name, run in runs.items()}
    return {name: value for name, value in values.items() if value is not None}


def _field(runs: Mapping[str, Comparison], values: Mapping[str, float], spec: MetricSpec) -> Field:
    """The runs that have a value."""
    chosen = [runs[name] for name in values]
    if any(run.gold is not chosen[0].gold for run in chosen):
        raise ValueError("the runs are compared with different gold standards")
    return field_of(chosen, spec)


def _percentiles(value: float, sample: Numbers, level: float) -> Interval:
    defined = sample[~np.isnan(sample)]
    tail = (1 - level) / 2
    low, high = np.quantile(defined, [tail, 1 - tail]).tolist() if len(defined) else (value, value)
    return Interval(value, low, high, level, len(sample) - len(defined))


def _groups(order: Sequence[int], pairs: Numbers, alpha: float) -> list[dict[int, float | None]]:
    """Groups of runs with the p-values of their pairs with the group's best, which comes first."""
    groups: list[dict[int, float | None]] = []
    leader = 0
    for place, run in enumerate(order):
        p_value = float(pairs[leader, place])
        if place and p_value > alpha:
            groups[-1][run] = p_value
        else:
            groups.append({run: None})
            leader = place
    return groups


def _grouped_runs(
    order: Sequence[int],
    groups: Sequence[Mapping[int, float | None]],
    names: Mapping[int, Sequence[str]],
    values: Mapping[str, float],
) -> list[GroupedRun]:
    found = {place: (number, p_value) for number, group in enumerate(groups, 1) for place, p_value in group.items()}
    return [
        GroupedRun(name, values[name], number, 1.0 if copy and p_value is None else p_value)
        for place in order
        for number, p_value in [found[place]]
        for copy, name in enumerate(names[place])
    ]
