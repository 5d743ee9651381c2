"""Metrics for verification and for individual annotators, compared with scikit-learn and PAN's own functions."""

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.calibration import calibration_curve

from scoring.answers import Matrix
from tests.scoring.metrics.answers import table, value


def column(numbers: list[float]) -> Matrix:
    return Matrix([str(row) for row in range(len(numbers))], ("same",), np.array(numbers, float)[:, None])


def c_at_1(true: list[float], given: list[float]) -> float:
    """Compute c@1 as in PAN's evaluator."""
    right = sum(1.0 for yes, one in zip(true, given, strict=True) if one != 0.5 and (one > 0.5) == (yes > 0.5))
    left_open = sum(1.0 for one in given if one == 0.5)
    return (1 / len(true)) * (right + (left_open * right / len(true)))


def f_05_u(true: list[float], given: list[float]) -> float:
    """Compute F0.5u as in PAN's evaluator."""
    hits = misses = false = left_open = 0
    for yes, one in zip(true, given, strict=True):
        left_open += one == 0.5
        hits += one > 0.5 and yes == 1
        false += one > 0.5 and yes == 0
        misses += one < 0.5 and yes == 1
    return (1.25 * hits) / (1.25 * hits + 0.25 * (misses + left_open) + false)


@pytest.mark.parametrize("seed", range(20))
def test_as_pan_and_scikit_learn(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = [1.0, 0.0, *rng.integers(0, 2, 40).astype(float).tolist()]
    given = [0.9, 0.5, *(rng.integers(0, 11, 40) / 10).tolist()]
    sides = column(true), column(given)
    decided = [(yes, one > 0.5) for yes, one in zip(true, given, strict=True) if one != 0.5]
    assert value("c_at_1", *sides) == pytest.approx(c_at_1(true, given), abs=1e-12)
    assert value("f_05_u", *sides) == pytest.approx(f_05_u(true, given), abs=1e-12)
    for beta in (0.5, 1, 2):
        expected = sk.fbeta_score(*zip(*decided, strict=True), beta=beta)
        assert value("f_beta_decided", *sides, beta=str(beta)) == pytest.approx(expected, abs=1e-12)
    assert value("brier_complement", *sides) == pytest.approx(1 - sk.brier_score_loss(true, given), abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_calibration_is_that_of_scikit_learns_curve(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, given = rng.integers(0, 2, 60).astype(float), rng.random(60)
    shares, means = calibration_curve(true, given, n_bins=5)
    counts = np.histogram(given, bins=5, range=(0, 1))[0]
    expected = np.abs(shares - means) @ counts[counts > 0] / 60
    assert value("calibration_error", column(true.tolist()), column(given.tolist()), bins="5") == pytest.approx(
        expected, abs=1e-12
    )


@pytest.mark.parametrize("bins", [10, 16, 100])
def test_an_answer_on_the_border_of_two_bins_is_in_the_lower_one(bins: int) -> None:
    given = [number / bins for number in range(bins + 1)]
    true = [float(number % 3 == 0) for number in range(bins + 1)]
    expected = [abs(true[0] + true[1] - given[0] - given[1]), *(abs(true[at] - given[at]) for at in range(2, bins + 1))]
    found = value("calibration_error", column(true), column(given), bins=str(bins))
    assert found == pytest.approx(sum(expected) / (bins + 1))


def test_decimal_numbers_are_in_the_bin_that_they_name() -> None:
    assert value("calibration_error", column([1, 0]), column([0.28, 0.29]), bins="100") == pytest.approx(0.505)


@pytest.mark.parametrize("seed", range(5))
def test_an_item_without_an_answer_is_undecided_in_every_measure(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true = [1.0, 0.0, *rng.integers(0, 2, 20).astype(float).tolist()]
    given = [0.5, *(rng.integers(0, 11, 21) / 10).tolist()]
    missing = column(given).select(np.arange(1, 22), [str(item) for item in range(1, 22)])
    assert value("roc_auc", column(true), missing) == pytest.approx(sk.roc_auc_score(true, given))
    assert value("average_precision", column(true), missing) == pytest.approx(sk.average_precision_score(true, given))
    for name in ("c_at_1", "f_05_u", "brier_complement", "calibration_error"):
        assert value(name, column(true), missing) == value(name, column(true), column(given))


def test_an_item_without_an_answer_comes_last_among_other_numbers() -> None:
    given = Matrix(["1"], ("same",), np.array([[-2.0]]))
    assert value("roc_auc", column([1, 0]), given) == 0


def test_annotators_without_a_prediction() -> None:
    gold, run = table("ann bob", {"1": "1-", "2": "23"}), table("ann bob", {"2": "24"})
    assert value("annotator_error", gold, run) == (1 + 1 / 2) / 2
    assert value("annotator_distance", gold, run, range="4") == (1 + 1 / 8) / 2
