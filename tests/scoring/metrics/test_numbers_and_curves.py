from math import pi

import pytest

from scoring.metrics import LoadedGold, compare
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.curves import precision_recall, roc
from tests.scoring.metrics.answers import soft, table, value


def test_numbers_that_the_gold_lacks_are_not_judged_and_missing_answers_are_0() -> None:
    gold = table("x", {"1": "3", "2": "-", "3": "1"})
    assert value("mae", gold, table("x", {"1": "3", "2": "9", "3": "1"})) == 0.0
    assert value("mae", gold, table("x", {"1": "3"})) == pytest.approx(1 / 2)
    assert value("rmse", gold, table("x", {"1": "1"})) == pytest.approx(((4 + 1) / 2) ** 0.5)


def test_errors_of_a_column_by_name() -> None:
    gold, run = table("x y", {"1": "31", "2": "22"}), table("x y", {"1": "11", "2": "22"})
    assert value("mae:x", gold, run) == 1.0
    assert value("mae:y", gold, run) == 0.0


def test_a_constant_side_has_no_correlation() -> None:
    gold, flat = table("x", {"1": "3", "2": "1", "3": "2"}), table("x", dict.fromkeys("123", "4"))
    for name in ("pearson", "spearman"):
        assert value(name, gold, flat) is None
        assert value(name, flat, gold) is None
        assert value(name, gold, table("x", {"1": "9", "2": "5", "3": "7"})) == pytest.approx(1.0)


def test_an_item_without_an_answer_is_half_the_circumference_away() -> None:
    gold, columns = table("x y", {"1": "00", "2": "--", "3": "01"}), {"latitude": "x", "longitude": "y"}
    run = table("x y", {"2": "11", "3": "01"})
    assert value("haversine_mean", gold, run, **columns) == pytest.approx(pi * 6371.0088 / 2)
    assert value("haversine_median", gold, run, **columns) == pytest.approx(pi * 6371.0088 / 2)
    assert value("accuracy_within_km", gold, run, km="20000", **columns) == 1 / 2
    unjudged = table("x y", {"1": "--"})
    assert value("haversine_median", unjudged, run, **columns) is None


GOLD = soft(
    {"1": {"Y": 0.8, "N": 0.2}, "2": {"Y": 0.5, "N": 0.5}, "3": {"Y": 0.6, "N": 0.4}, "4": {"Y": 0.1, "N": 0.9}}
)


def test_more_than_half_is_positive_and_unanswered_items_come_last() -> None:
    run = soft({"2": {"Y": 0.0}, "3": {"Y": 0.2}, "4": {"Y": 0.0}})  # 3 is first, 2 and 4 tie, 1 is last
    assert value("roc_auc:Y", GOLD, run) == pytest.approx(2 / 4)
    assert value("average_precision:Y", GOLD, run) == pytest.approx((1 / 1 + 2 / 4) / 2)


def test_without_a_class_the_mean_over_those_that_have_both_sorts_of_items() -> None:
    run = soft({item: {"Y": 0.5, "N": 0.5} for item in "1234"})
    assert value("roc_auc", GOLD, run) == 0.5
    assert value("average_precision", GOLD, run) == pytest.approx((2 / 4 + 1 / 4) / 2)


def test_curves_are_plain_arrays_and_none_where_they_mean_nothing() -> None:
    comparison = compare(LoadedGold(GOLD), soft({item: {"Y": int(item) / 10} for item in "1234"}))
    assert isinstance(comparison, MatrixComparison)
    curve = roc(comparison, "Y")
    assert curve is not None
    assert curve.x.tolist() == [0, 0.5, 0.5, 1, 1]
    assert curve.y.tolist() == [0, 0, 0.5, 0.5, 1]
    assert curve.thresholds.tolist() == [float("inf"), 0.4, 0.3, 0.2, 0.1]
    certain = compare(LoadedGold(soft({"1": {"Y": 1.0}, "2": {"Y": 0.0}})), soft({"1": {"Z": 1.0}, "2": {"Z": 0.0}}))
    assert isinstance(certain, MatrixComparison)
    assert roc(certain, "Z") is None
    assert precision_recall(certain, "Z") is None
