"""Gaps between slices: planted gaps are found, and false ones are reported in at most 5% of cases.

Results are compared with plain numpy.
"""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest

from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.definition.slices import Slicing
from scoring.items.slices import SliceColumn
from scoring.metrics import LoadedGold, compare
from scoring.significance import slice_gaps
from scoring.significance.slice_gaps import SliceGaps

SIMULATIONS = 200
ROUNDS = 200
SEED = 11


def share_flagged(sizes: Sequence[int], shares: Sequence[float], metric: str) -> float:
    """Return the share of runs with a gap, among runs that answer these shares of the slices s0, s1, … correctly.

    All runs of a case have the same gold standard, so that the samples of its items are drawn only once. Given this
    gold standard, the runs are independent, as the bounds of the tests require.
    """
    rng = np.random.default_rng(SEED)
    items = sum(sizes)
    gold = (rng.random(items) < 0.4).astype(np.int64)
    is_right = rng.random((SIMULATIONS, items)) < np.repeat(shares, sizes)
    values = [f"s{at}" for at, size in enumerate(sizes) for _ in range(size)]
    return share_with_gap(gold, np.where(is_right, gold, 1 - gold), values, metric)


def share_with_gap(gold: np.ndarray, runs: np.ndarray, values: list[str], metric: str) -> float:
    found = gaps_of_runs(gold, {str(number): run for number, run in enumerate(runs)}, values, metric)
    return sum(any(gap.is_found for one in own.values() for gap in one.gaps) for own in found.values()) / len(runs)


def gaps_of(
    gold: np.ndarray, run: np.ndarray, values: list[str], metric: str, rounds: int = ROUNDS
) -> dict[str, SliceGaps]:
    return gaps_of_runs(gold, {"run": run}, values, metric, rounds)["run"]


def gaps_of_runs(
    gold: np.ndarray, runs: dict[str, np.ndarray], values: list[str], metric: str, rounds: int = ROUNDS
) -> dict[str, dict[str, SliceGaps]]:
    ids = [str(row) for row in range(len(gold))]
    columns = {"by": SliceColumn(Slicing(column="by"), None, ())}
    standard = LoadedGold(Matrix(ids, ("y",), gold[:, None], None, {"by": values}), slice_columns=columns)
    compared = {name: compare(standard, Matrix(ids, ("y",), run[:, None])) for name, run in runs.items()}
    return slice_gaps(compared, MetricSpec(metric), ["by"], seed=SEED, rounds=rounds)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
@pytest.mark.parametrize("sizes", [[500, 500], [250] * 4, [100] * 10, [12, 20, 68, 900]])
def test_no_gap_is_found_in_at_most_one_case_of_twenty(sizes: Sequence[int], metric: str) -> None:
    found = share_flagged(sizes, [0.85] * len(sizes), metric)
    assert found <= 0.05 + 1.65 * np.sqrt(0.05 * 0.95 / SIMULATIONS)


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["accuracy", "f1_macro"])
@pytest.mark.parametrize(
    ("sizes", "shares", "least"),
    [([500, 500], [0.75, 0.85], 0.95), ([250] * 4, [0.75, 0.85, 0.85, 0.85], 0.8), ([250] * 4, [0.75, 0.85] * 2, 0.85)],
)
def test_a_gap_of_a_tenth_is_found_among_a_thousand_items(
    sizes: Sequence[int], shares: Sequence[float], least: float, metric: str
) -> None:
    assert share_flagged(sizes, shares, metric) >= least


@pytest.mark.slow
def test_no_gap_is_found_where_items_of_a_slice_vary_more() -> None:
    rng = np.random.default_rng(SEED)
    values = ["narrow"] * 900 + ["wide"] * 100

    def run() -> np.ndarray:
        wide = np.where(rng.random(100) < 0.5, 4, 0)  # off by 2 on average, like the other answers
        return np.concatenate([1 + 2 * rng.integers(0, 2, 900), wide])

    gold = np.zeros(1000, np.int64)
    found = share_with_gap(gold, np.stack([run() for _ in range(SIMULATIONS)]), values, "mae")
    assert found <= 0.05 + 1.65 * np.sqrt(0.05 * 0.95 / SIMULATIONS)


def test_a_gap_of_exactly_a_tenth() -> None:
    gold = np.tile([0, 1], 500)
    wrong = np.zeros(1000, bool)
    wrong[:75] = True  # out of 500
    wrong[500:625] = True
    found = gaps_of(gold, np.where(wrong, 1 - gold, gold), ["a"] * 500 + ["b"] * 500, "accuracy")
    (gap,) = found["by"].gaps
    assert (gap.value, gap.behind, gap.gap) == ("b", "a", pytest.approx(0.1))
    assert gap.is_found
    assert [(one.value, one.items, one.score) for one in found["by"].scores] == [("a", 500, 0.85), ("b", 500, 0.75)]


def test_intervals_are_those_of_resampling_written_by_hand() -> None:
    rng = np.random.default_rng(2)
    sizes, shares = [150, 100, 60], [0.9, 0.8, 0.6]
    gold = rng.integers(0, 2, sum(sizes))
    values = np.repeat(["a", "b", "c"], sizes)
    run = np.where(rng.random(len(gold)) < np.repeat(shares, sizes), gold, 1 - gold)
    found = gaps_of(gold, run, values.tolist(), "accuracy", rounds=4000)["by"]
    right = (gold == run).astype(float)
    scores, errors, usual = {}, {}, {}
    for value in "abc":
        own = right[values == value]
        scores[value] = own.mean()
        samples = rng.choice(own, (4000, len(own))).mean(axis=1)
        errors[value], usual[value] = samples.std(ddof=1), right.std(ddof=1) / np.sqrt(len(own))
    drawn = {value: rng.normal(0, usual[value], 40_000) for value in "abc"}
    largest = np.max(
        [abs(drawn[one] - drawn[other]) / np.hypot(usual[one], usual[other]) for one, other in combinations("abc", 2)],
        axis=0,
    )
    reach = np.quantile(largest, 0.95)
    assert [one.value for one in found.scores] == ["a", "b", "c"]
    for gap in found.gaps:
        own = scores[gap.behind] - scores[gap.value]
        pair = gap.behind, gap.value
        half = reach * max(np.hypot(*(errors[one] for one in pair)), np.hypot(*(usual[one] for one in pair)))
        assert gap.gap == pytest.approx(own)
        assert (gap.low, gap.high) == (pytest.approx(own - half, abs=0.01), pytest.approx(own + half, abs=0.01))


def test_the_smallest_error_is_best_and_small_slices_are_left_out() -> None:
    gold, run = np.zeros(45, np.int64), np.repeat([0, 1, 0], [18, 18, 9])
    found = gaps_of(gold, run, ["a"] * 18 + ["b"] * 18 + ["c"] * 9, "mae")["by"]
    assert [(one.value, one.score) for one in found.scores] == [("a", 0), ("b", 1)]
    assert [(gap.value, gap.behind, gap.gap, gap.is_found) for gap in found.gaps] == [("b", "a", 1, True)]


def test_a_metric_without_contributions_has_none() -> None:
    ids = [str(row) for row in range(40)]
    columns = {"by": SliceColumn(Slicing(column="by"), None, ())}
    gold = LoadedGold(
        Matrix(ids, ("y",), np.arange(40)[:, None] % 7, None, {"by": ["a", "b"] * 20}), slice_columns=columns
    )
    run = compare(gold, Matrix(ids, ("y",), np.arange(40)[:, None] % 5))
    assert slice_gaps({"run": run}, MetricSpec("spearman"), ["by"], seed=1, rounds=50) == {}
