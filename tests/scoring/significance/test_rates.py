"""Nominal rates by simulation: how often equally good runs differ, and how often intervals contain the true value.

`python benchmarks/ties.py` runs the same simulation with more samples and settings.
"""

import numpy as np
import pytest

from benchmarks.simulated import equal_runs, one_run, spec_of, true_value
from scoring.definition import MetricSpec
from scoring.metrics import compute
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.registry import contributions
from scoring.significance import interval, tie_groups
from scoring.significance.all_pairs import p_values
from scoring.significance.resampling import field_of, sign_flips
from tests.scoring.significance.test_significance import ACCURACY, field


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "randomization"])
@pytest.mark.parametrize("shared", [0.0, 0.7])
def test_the_best_of_equal_runs_rarely_splits_off(method: str, shared: float) -> None:
    """At 0.05, about ten of 200 sets of equally good runs may split. The probability of 21 or more is 1 in 1,000."""
    rng = np.random.default_rng(1)
    splits = 0
    for seed in range(200):
        runs = equal_runs(rng, runs=20, items=100, right=0.7, shared=shared)
        lines = tie_groups(runs, ACCURACY, seed=seed, rounds=199, method=method)  # type: ignore[arg-type]
        splits += lines[-1].group != 1
    assert splits < 21


def test_few_items_distinguish_no_runs() -> None:
    runs = field([0.0, 1.0], items=9)
    assert [(line.group, line.p_value) for line in tie_groups(runs, ACCURACY, seed=1)] == [(1, None), (1, 1.0)]
    assert [line.group for line in tie_groups(field([0.0, 1.0], items=60), ACCURACY, seed=1)] == [1, 2]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("key", "items", "right"),
    [("accuracy", 50, 0.97), ("f1_macro", 50, 0.97), ("kappa", 50, 0.97), ("f1:b", 100, 0.95), ("icm", 100, 0.9)],
)
def test_intervals_hold_the_true_value(key: str, items: int, right: float) -> None:
    """About ten of 200 intervals at 0.95 miss the value. The probability of 21 or more is 1 in 1,000."""
    rng = np.random.default_rng(2)
    truth = true_value(key, right)
    found = [interval(one_run(rng, items, right), spec_of(key), seed=seed, rounds=200) for seed in range(200)]
    assert sum(one is None or not one.low <= truth <= one.high for one in found) < 21


@pytest.mark.parametrize("key", ["accuracy", "f1_macro", "icm", "icm_norm", "mcc"])
def test_a_run_without_errors_has_an_interval(key: str) -> None:
    """100 correct items out of 100 do not prove an accuracy of 1: with an error rate of 3%, 5% of runs achieve this."""
    run = one_run(np.random.default_rng(3), 100, 1.0)
    found = interval(run, MetricSpec(key), seed=1, rounds=100)
    assert found is not None
    assert found.low < found.value - 0.02


def test_an_items_part_in_icm_is_what_changes_without_it() -> None:
    """The classes' information also changes, because it is computed from the remaining items."""
    run = one_run(np.random.default_rng(4), 300, 0.8)
    parts = contributions(run, MetricSpec("icm"))
    assert parts is not None
    value = compute(run, MetricSpec("icm"))
    assert parts.values.mean() == pytest.approx(value)
    rows = np.arange(300)
    without = [_icm(run, rows[rows != item]) for item in range(300)]
    expected = value + 299 * (value - np.array(without))
    np.testing.assert_allclose(parts.values[:, 0], expected, atol=0.05)


def _icm(run: MatrixComparison, rows: np.ndarray) -> float:
    value = compute(run.select(rows, run.gold.select(rows)), MetricSpec("icm"))
    assert value is not None
    return value


def test_pairs_are_corrected_step_by_step() -> None:
    """Pairs are sorted by increasing statistic and compared with the largest statistic so far (Westfall and Young)."""
    rng = np.random.default_rng(5)
    observed, samples = rng.normal(size=6), rng.normal(size=(6, 99))
    samples[2, :7] = np.nan
    found = p_values(observed, samples, drawn=10)
    pairs = [(one, other) for one in range(6) for other in range(one + 1, 6)]
    errors = {pair: np.sqrt(np.nanmean((samples[pair[0]] - samples[pair[1]]) ** 2)) for pair in pairs}
    apart = {(one, other): abs(observed[one] - observed[other]) for one, other in pairs}
    statistics = {
        pair: apart[pair] / np.sqrt(errors[pair] ** 2 * 10 / 9 + apart[pair] ** 2 * (1 / 10 + 1 / 198))
        for pair in pairs
    }
    greatest, single = np.zeros(99), {}
    for pair in sorted(pairs, key=statistics.__getitem__):
        own = np.abs(samples[pair[0]] - samples[pair[1]]) / errors[pair]
        greatest = np.fmax(greatest, own)
        single[pair] = (np.sum((greatest >= statistics[pair]) | np.isnan(own)) + 1) / 100
    highest = 0.0
    for pair in reversed(single):
        highest = max(highest, single[pair])
        assert found[pair] == found[pair[::-1]] == pytest.approx(highest)
    assert len(set(single.values())) > 5


def test_signs_of_a_mean_are_exchanged_answers() -> None:
    runs = list(field([0.3, 0.5], items=60).values())
    both = field_of(runs, ACCURACY)
    right = (runs[0].run == runs[0].gold.values).all(axis=1)
    np.testing.assert_allclose(both.pseudo_values()[:, 0], right, atol=1e-12)
    flipped = sign_flips(both.pseudo_values(), np.random.default_rng(6), 40)
    exchanged = both.exchanged(np.random.default_rng(6), 40)
    np.testing.assert_allclose(flipped[0] - flipped[1], -exchanged, atol=1e-12)


@pytest.mark.parametrize("key", ["f1_macro", "mcc"])
def test_pseudo_values_are_what_changes_without_an_item(key: str) -> None:
    spec = MetricSpec(key)
    runs = list(field([0.3, 0.5], items=40).values())
    found = field_of(runs, spec).pseudo_values()
    for place, run in enumerate(runs):
        value, rows = compute(run, spec), np.arange(40)
        assert value is not None
        left = [rows[rows != item] for item in range(40)]
        without = np.array([compute(run.select(rest, run.gold.select(rest)), spec) for rest in left], float)
        np.testing.assert_allclose(found[:, place], 40 * value - 39 * without + 39 * (without.mean() - value))
