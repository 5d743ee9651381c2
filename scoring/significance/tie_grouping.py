"""Ranks of runs with their confidence intervals, and groups of runs with no significant difference.

Both come from the corrected p-values of all pairs of runs: see `all_pairs` and `ranking`.
"""

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
from scoring.significance.ranking import (
    ahead_of_next,
    clusters,
    found_better,
    letters,
    like_the_best,
    rank_intervals,
    shared_ranks,
)
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


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run's rank with its confidence interval, from `low` to `high`; see `ranking`.

    Equal values share a rank. `is_like_best` means that no run with the best value was found to be better, and
    `is_ahead_of_next` that the run was found to be better than all runs with the next rank. Two runs share one of their
    `letters` if and only if no difference between them was found. Every run in a cluster was found to be better than
    all runs in later clusters.
    """

    name: str
    value: float
    rank: int
    low: int
    high: int
    is_like_best: bool
    is_ahead_of_next: bool
    letters: tuple[str, ...]
    cluster: int


@dataclass(frozen=True, slots=True)
class PairTests:
    """Runs from best to worst (runs with equal values in any order), and the tests of all their pairs.

    `values` has shape (runs,), and `p_values`, corrected for all pairs, (runs, runs). `undefined` are the runs without
    a value, which are not tested.
    """

    names: Sequence[str]
    values: Numbers
    p_values: Numbers
    undefined: Sequence[str] = ()

    def ranked(self, alpha: float) -> list[RankedRun]:
        """Return the runs with the confidence intervals of their ranks, at the level 1 − `alpha` for all together."""
        better = found_better(self.values, self.p_values, alpha)
        ranks = shared_ranks(self.values)
        low, high = rank_intervals(better)
        columns = (ranks, low, high, like_the_best(better, ranks), ahead_of_next(better, ranks))
        plain = [column.tolist() for column in (self.values, *columns)]
        return list(map(RankedRun, self.names, *plain, letters(better), clusters(better).tolist()))

    def grouped(self, alpha: float) -> list[GroupedRun]:
        """Return the runs in tie groups at `alpha`; see `tie_groups`. Runs without a value come last."""
        found: list[GroupedRun] = []
        leader = group = 0
        for place, (name, value) in enumerate(zip(self.names, self.values.tolist(), strict=True)):
            p_value = float(self.p_values[leader, place])
            if place and p_value > alpha:
                found.append(GroupedRun(name, value, group, p_value))
            else:
                leader, group = place, group + 1
                found.append(GroupedRun(name, value, group, None))
        return [*found, *(GroupedRun(name, None, None, None) for name in self.undefined)]


def pair_tests(
    runs: Mapping[str, Comparison],
    spec: MetricSpec,
    *,
    seed: Seed,
    method: Method = "bootstrap",
    rounds: int = ROUNDS,
    alpha: float = 0.05,
) -> PairTests:
    """Sort the runs from best to worst and test all pairs.

    The tests are corrected for all pairs of runs: the probability of any false difference at `alpha` is at most
    `alpha`; see `all_pairs`. With fewer than FEW items, no differences are found. For metrics on slices, the numbers of
    items in the slices count; see `sample_sizes`.

    Runs with equal values never differ. Runs that the metric cannot distinguish count as one in the correction, so
    submitting a run twice does not affect the tests of other runs.

    Memory use is at most 8 bytes × rounds × runs, plus 8 bytes × items × runs, plus about 200 MB.

    Raises:
        ValueError: there are too few rounds for any significant difference.
    """
    require_valid(rounds, "alpha", alpha)
    if alpha * (rounds + 1) < 1:
        raise ValueError(f"tests at {alpha:g} need at least {int(np.ceil(1 / alpha)) - 1} rounds, not {rounds}")
    values = defined_values(runs, spec)
    undefined = [name for name in runs if name not in values]
    if not values:
        return PairTests([], np.zeros(0), np.ones((0, 0)), undefined)
    field = field_of_runs(runs, values, spec)
    size = sample_size(spec, next(iter(runs.values())).gold)
    order = _best_first(list(values.values()), field.alike, higher_is_better=describe(spec).higher_is_better)
    pairs = _pairs(field, size, order, method, rounds, seed)
    return _of_all(values, field.alike, order, pairs, undefined)


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

    The first run that differs from the best run at `alpha` starts a new group as its best run, and so on. Among equal
    runs, the probability that any run is put into a different group is at most `alpha`; for the tests and for errors,
    see `pair_tests`. Runs in different groups need not differ, and so ranks are easier to interpret: see `ranked`.
    """
    return pair_tests(runs, spec, seed=seed, method=method, rounds=rounds, alpha=alpha).grouped(alpha)


def pair_tests_on_samples(
    values: Mapping[str, float], samples: Numbers, items: int, *, higher_is_better: bool
) -> PairTests:
    """Test all pairs like `pair_tests`, from the runs' values and their values on bootstrap samples (runs, rounds).

    Args:
        items: the number of items in each sample or, if samples consist of several parts, in the smallest part.
    """
    observed = np.array(list(values.values()))
    first: dict[tuple[float, bytes], int] = {}
    alike = [
        first.setdefault((value, own.tobytes()), at)
        for at, (value, own) in enumerate(zip(values.values(), samples, strict=True))
    ]
    order = _best_first(observed.tolist(), alike, higher_is_better=higher_is_better)
    if items < FEW:
        pairs = np.ones((len(order), len(order)))
    else:
        pairs = p_values(observed[order], samples[order] - observed[order][:, None], drawn=items)
    return _of_all(values, alike, order, pairs)


def _best_first(scores: Sequence[float], alike: Sequence[int], *, higher_is_better: bool) -> list[int]:
    """Return the places of different runs, best first. `alike` has, for each run, the first run that is like it."""
    sign = -1 if higher_is_better else 1
    return sorted(set(alike), key=lambda place: (sign * scores[place], place))


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


def _of_all(
    values: Mapping[str, float],
    alike: Sequence[int],
    order: Sequence[int],
    pairs: Numbers,
    undefined: Sequence[str] = (),
) -> PairTests:
    """Return all runs with their tests. `pairs` are the p-values of the runs in `order`, one of each kind."""
    copies: dict[int, list[str]] = {}
    for name, place in zip(values, alike, strict=True):
        copies.setdefault(place, []).append(name)
    names = [name for place in order for name in copies[place]]
    rows = [at for at, place in enumerate(order) for _name in copies[place]]
    return PairTests(names, np.array([values[name] for name in names]), pairs[np.ix_(rows, rows)], undefined)
