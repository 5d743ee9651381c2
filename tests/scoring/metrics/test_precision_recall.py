import pytest

from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute
from tests.scoring.metrics.answers import labels, table, value

GOLD = labels({"1": "Y", "2": "Y", "3": "Y", "4": "N", "5": "N"})
RUN = labels({"1": "Y", "2": "N", "3": "N", "4": "Y", "5": "N"})


def test_of_one_class() -> None:
    assert value("precision:Y", GOLD, RUN) == 1 / 2
    assert value("recall:Y", GOLD, RUN) == 1 / 3
    assert value("f1:Y", GOLD, RUN) == pytest.approx(2 * (1 / 2) * (1 / 3) / (1 / 2 + 1 / 3))


def test_macro_is_the_mean_over_the_classes_of_the_gold() -> None:
    run = labels({"1": "Y", "2": "Y", "3": "Y", "4": "N", "5": "other"}, ["unheard-of"])
    assert value("recall_macro", GOLD, run) == (1 + 1 / 2) / 2
    assert value("precision_macro", GOLD, run) == 1


def test_a_class_never_predicted_counts_zero_or_is_skipped() -> None:
    run = labels(dict.fromkeys(GOLD.ids, "Y"))
    assert value("precision_macro", GOLD, run) == (3 / 5 + 0) / 2
    assert value("precision_macro", GOLD, run, unpredicted="zero") == (3 / 5 + 0) / 2
    assert value("precision_macro", GOLD, run, unpredicted="skip") == 3 / 5
    assert value("precision:N", GOLD, run) == 0
    assert value("precision:N", GOLD, run, unpredicted="skip") is None


def test_recall_and_f1_of_a_class_absent_from_the_gold_are_undefined() -> None:
    run = labels({"1": "Z"})
    gold = labels({"1": "Y"}, ["Z"])
    assert value("recall:Z", gold, run) is None
    assert value("f1:Z", gold, run) is None
    assert value("precision:Z", gold, run) == 0


def test_items_outside_the_gold_lower_precision_only_where_they_count() -> None:
    run = labels({**{item: "Y" if item < "4" else "N" for item in GOLD.ids}, "6": "Y"})
    assert value("f1:Y", GOLD, run) == 1
    assert value("f1:Y", GOLD, run, count_outside=True) == 2 * 3 / (4 + 3)
    assert value("recall:Y", GOLD, run, count_outside=True) == 1


def test_of_a_table_s_column() -> None:
    gold = table("HS TR", {"1": "11", "2": "10", "3": "00", "4": "00"})
    run = table("HS TR", {"1": "10", "2": "10", "3": "10", "4": "00"})
    of_hs = (2 * 2 / (3 + 2) + 2 * 1 / (1 + 2)) / 2
    of_tr = (0 + 2 * 3 / (4 + 3)) / 2
    assert value("f1_macro:HS", gold, run) == pytest.approx(of_hs)
    assert value("f1_macro:TR", gold, run) == pytest.approx(of_tr)
    assert value("f1_macro_mean", gold, run) == pytest.approx((of_hs + of_tr) / 2)
    assert value("precision_positive:HS", gold, run) == 2 / 3
    assert value("recall_positive:TR", gold, run) == 0


def test_mean_of_columns_where_no_cell_is_1() -> None:
    gold = table("a b c", {"1": "100", "2": "010", "3": "00-"})
    run = table("a b c", {"1": "100", "2": "000", "3": "001"})
    assert value("f1_positive_mean", gold, run) == pytest.approx((1 + 0 + 0) / 3)
    assert value("f1_positive_mean", gold, run, empty="one") == pytest.approx((1 + 0 + 1) / 3)
    assert value("f1_positive_mean", gold, run, empty="skip") == pytest.approx((1 + 0) / 2)


def test_positive_over_all_columns_looks_only_at_cells_that_the_gold_judges() -> None:
    gold = table("first second", {"tuple": "--", "p": "11", "q": "10", "r": "00"})
    run = table("first second", {"tuple": "11", "p": "10", "q": "11", "r": "00"})
    assert value("precision_positive", gold, run) == 2 / 3
    assert value("recall_positive", gold, run) == 2 / 3
    assert value("f1_positive", gold, run) == pytest.approx(2 / 3)


def test_positive_is_undefined_where_the_run_leaves_out_all_that_is_judged() -> None:
    gold = table("first second", {"tuple": "--", "p": "11"})
    for key in ("precision_positive", "recall_positive", "f1_positive"):
        assert value(key, gold, table("first second", {"tuple": "11"})) is None
        assert value(key, table("first second", {"tuple": "--"}), table("first second", {"tuple": "11"})) is None


def test_nothing_positive_predicted_is_zero() -> None:
    gold = table("stereotype", {"1": "1", "2": "0"})
    run = table("stereotype", {"1": "0", "2": "0"})
    assert value("precision_positive", gold, run) == 0
    assert value("f1_positive", gold, run) == 0


def test_macro_averages_over_the_classes_of_the_gold_those_seen_or_all_declared() -> None:
    gold, run = labels({"1": "a", "2": "b"}, ["a", "b", "c", "d"]), labels({"1": "a", "2": "c"}, ["a", "b", "c", "d"])
    assert value("f1_macro", gold, run) == value("f1_macro", gold, run, over="gold") == 1 / 2
    assert value("f1_macro", gold, run, over="seen") == 1 / 3
    assert value("f1_macro", gold, run, over="declared") == 1 / 4
    assert value("recall_macro", gold, run, over="seen") == 1 / 3
    assert value("precision_macro", gold, run, over="declared", unpredicted="skip") == (1 + 0) / 2


def test_declared_classes_are_the_leaves_of_a_hierarchy() -> None:
    gold, run = labels({"1": "a", "2": "b"}, ["a", "b", "c"]), labels({"1": "a", "2": "c"}, ["a", "b", "c"])
    assert value("f1_macro", gold, run, {"up": ("a", "b"), "c": ()}, over="declared") == pytest.approx(1 / 3)


def test_the_mean_over_columns_has_the_same_choice() -> None:
    gold, run = table("a b", {"1": "11", "2": "11"}), table("a b", {"1": "10", "2": "11"})
    seen = (1 + (2 / 3 + 0) / 2) / 2
    assert value("f1_macro_mean", gold, run) == pytest.approx((1 + 2 / 3) / 2)
    assert value("f1_macro:b", gold, table("a b", {"1": "10", "2": "11"}), over="seen") == pytest.approx(2 / 3)
    three = LoadedGold(gold, declared={"a": (0, 1), "b": (0, 1)})
    assert compute(compare(three, run), MetricSpec("f1_macro_mean", None, {"over": "seen"})) == pytest.approx(seen)
