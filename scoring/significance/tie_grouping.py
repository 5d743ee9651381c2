"""Groups of runs with no significant difference on the given items."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scoring.definition import MetricSpec
from scoring.metrics import describe
from scoring.metrics.comparison import Comparison
from scoring.metrics.metric import Numbers
from scoring.significance.all_pairs import p_values
from scoring.significance.inputs import ROUNDS, defined_values, field_of_runs, require_valid
from scoring.significance.paired_tests import Method, Seed
from scoring.significance.resampling import RunField, sign_flips
from scoring.significance.sample_sizes import SampleSize, sample_size

FEW = 10  # with fewer items, no test keeps its nominal level


@dataclass(frozen=True, slots=True)
class GroupedRun:
    """A run and its tie group. Group 1 is the best.

    `p_value` comes from the test against the group's best run, corrected for all pairs of runs. It is None for the best
    run itself. Value and group are None if the metric is undefined for the run.
    """

    name: str
    value: float | None
    group: int | None
    p_value: float | None


def tie_groups(
    runs: Mapping[str, Comparison],
    spec: MetricSpec,
    *,
    seed: Seed,
    method: Method = "bootstrap",
    rounds: int = ROUNDS,
    alpha: float = 0.05,
) -> list[GroupedRun]:
    """Sort the runs from best to worst and group runs with no significant difference.

    The first run that differs from the best run at `alpha` starts a new group as its best run, and so on. The tests are
    corrected for all pairs of runs: among equal runs, the probability that any run is put into a different group is at
    most `alpha`; see `all_pairs`. If there are fewer than FEW items, all runs form one group. For metrics on slices,
    the numbers of items in the slices count; see `sample_sizes`.

    Runs with equal values always tie. Runs that the metric cannot distinguish count as one in the correction, so
    submitting a run twice does not affect other runs. Runs without a value come last.

    Memory use is at most 8 bytes × rounds × runs, plus 8 bytes × items × runs, plus about 200 MB.

    Raises:
        ValueError: there are too few rounds for any significant difference.
    """
    require_valid(rounds, "alpha", alpha)
    if alpha * (rounds + 1) < 1:
        raise ValueError(f"tests at {alpha:g} need at least {int(np.ceil(1 / alpha)) - 1} rounds, not {rounds}")
    values = defined_values(runs, spec)
    undefined = [GroupedRun(name, None, None, None) for name in runs if name not in values]
    if not values:
        return undefined
    field = field_of_runs(runs, values, spec)
    size = sample_size(spec, next(iter(runs.values())).gold)
    sign = -1 if describe(spec).higher_is_better else 1
    scores = list(values.values())
    order = sorted(set(field.alike), key=lambda place: (sign * scores[place], place))
    groups = _groups(order, _pairs(field, size, order, method, rounds, seed), alpha)
    return [*_grouped_runs(order, groups, field.alike, values), *undefined]


def groups_on_samples(
    values: Mapping[str, float], samples: Numbers, items: int, *, higher_is_better: bool, alpha: float = 0.05
) -> list[GroupedRun]:
    """Group runs like `tie_groups`, from their values and their values on bootstrap samples (runs, rounds).

    Args:
        items: the number of items in each sample or, if samples consist of several parts, in the smallest part.
    """
    observed = np.array(list(values.values()))
    first: dict[tuple[float, bytes], int] = {}
    alike = [
        first.setdefault((value, own.tobytes()), at)
        for at, (value, own) in enumerate(zip(values.values(), samples, strict=True))
    ]
    sign = -1 if higher_is_better else 1
    order = sorted(set(alike), key=lambda place: (sign * observed[place], place))
    if items < FEW:
        pairs = np.ones((len(order), len(order)))
    else:
        pairs = p_values(observed[order], samples[order] - observed[order][:, None], drawn=items)
    return _grouped_runs(order, _groups(order, pairs, alpha), alike, values)


def _pairs(field: RunField, size: SampleSize, order: Sequence[int], method: Method, rounds: int, seed: Seed) -> Numbers:
    """Return the corrected p-values for all pairs of the runs in `order`, with shape (runs, runs)."""
    if size.freedom < FEW - 1:
        return np.ones((len(order), len(order)))
    rng = np.random.default_rng(seed)
    observed = field.observed[order]
    if method == "bootstrap":
        # Centered: the p-values need samples without a difference between the runs.
        samples = field.resampled(rng, rounds)[order] - observed[:, None]
        return p_values(observed, samples, size.drawn, size.averaged)
    return p_values(observed, sign_flips(field.pseudo_values()[:, order], rng, rounds), drawn=None)


def _groups(order: Sequence[int], pairs: Numbers, alpha: float) -> list[dict[int, float | None]]:
    """Return the groups, each as a mapping from runs to their p-values against the best run, which comes first."""
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
    alike: Sequence[int],
    values: Mapping[str, float],
) -> list[GroupedRun]:
    names: dict[int, list[str]] = {}
    for name, place in zip(values, alike, strict=True):
        names.setdefault(place, []).append(name)
    found = {place: (number, p_value) for number, group in enumerate(groups, 1) for place, p_value in group.items()}
    return [
        GroupedRun(name, values[name], number, 1.0 if copy and p_value is None else p_value)
        for place in order
        for number, p_value in [found[place]]
        for copy, name in enumerate(names[place])
    ]
