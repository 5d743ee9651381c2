import pytest

from tests.scoring.metrics.answers import labels, table, value

GOLD = labels({"1": "Y", "2": "Y", "3": "N", "4": "N"})
RUN = labels({"1": "Y", "2": "N", "3": "N", "4": "N"})


def test_accuracy_is_the_share_of_right_items() -> None:
    assert value("accuracy", GOLD, RUN) == 3 / 4


def test_a_missing_item_is_wrong_for_accuracy_and_left_out_of_system_precision() -> None:
    run = labels({"1": "Y", "3": "N"})
    assert value("accuracy", GOLD, run) == 2 / 4
    assert value("system_precision", GOLD, run) == 2 / 2


def test_system_precision_is_undefined_without_an_answer() -> None:
    assert value("system_precision", GOLD, labels({}, ["Y", "N"])) is None


def test_items_outside_the_gold_weigh_on_system_precision_only_where_they_count() -> None:
    run = labels({"1": "Y", "2": "Y", "3": "N", "4": "N", "5": "N"})
    assert value("system_precision", GOLD, run) == 1
    assert value("system_precision", GOLD, run, count_outside=True) == 4 / 5


def test_kappa_by_hand() -> None:
    # observed 3/4; by chance (1·2 + 3·2) / 16 = 1/2
    assert value("kappa", GOLD, RUN) == pytest.approx((3 / 4 - 1 / 2) / (1 / 2))


def test_kappa_of_a_constant_run_is_nothing_and_of_a_gold_of_one_class_undefined() -> None:
    constant = labels(dict.fromkeys(GOLD.ids, "Y"))
    assert value("kappa", GOLD, constant) == 0
    assert value("kappa", constant, constant) is None


def test_exact_match_ratio_needs_every_column() -> None:
    gold = table("HS TR AG", {"1": "111", "2": "110", "3": "000", "4": "100"})
    run = table("HS TR AG", {"1": "111", "2": "111", "3": "000"})
    assert value("exact_match_ratio", gold, run) == 2 / 4
    assert value("accuracy:AG", gold, run) == 2 / 4


def test_exact_match_ratio_of_labels_counts_unknown_ones_as_wrong() -> None:
    gold = labels({"1": "a b", "2": "a"})
    assert value("exact_match_ratio", gold, labels({"1": "b a", "2": "a x"})) == 1 / 2


def test_any_of_several_labels_in_the_gold_is_admissible() -> None:
    gold = labels({"1": "a b", "2": "c", "3": "a c", "4": "b"})
    assert value("accuracy_admissible", gold, labels({"1": "b", "2": "a", "3": "c"})) == 2 / 4
    assert value("accuracy_admissible", gold, labels({"1": "a b", "2": "c", "3": "a b", "4": "new"})) == 2 / 4
