from math import log2

import pytest

from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, value_range
from scoring.significance import interval
from tests.scoring.metrics.answers import labels, table, value

HIERARCHY = {"YES": ("DIRECT", "REPORTED", "JUDGEMENTAL"), "NO": ()}
# P: NO 1/2, YES 1/2, DIRECT 1/4, REPORTED 1/4; I: NO 1, YES 1, DIRECT 2, REPORTED 2 bits
GOLD = labels({"1": "NO", "2": "NO", "3": "DIRECT", "4": "REPORTED"})


def test_a_perfect_run_has_the_gold_s_mean_information() -> None:
    assert value("icm", GOLD, GOLD, HIERARCHY) == (1 + 1 + 2 + 2) / 4
    assert value("icm_norm", GOLD, GOLD, HIERARCHY) == 1


def test_by_hand_a_sibling_shares_what_the_parent_says() -> None:
    run = labels({"1": "NO", "2": "NO", "3": "REPORTED", "4": "REPORTED"})
    # item 3: 2·2 + 2·2 − 3·(2 + 2 − 1), because both share the parent's bit
    expected = (1 + 1 + (2 * 2 + 2 * 2 - 3 * 3) + 2) / 4
    assert value("icm", GOLD, run, HIERARCHY) == pytest.approx(expected)
    assert value("icm_norm", GOLD, run, HIERARCHY) == pytest.approx((expected + 1.5) / 3)


def test_by_hand_an_inner_class_says_less_than_its_children() -> None:
    run = labels({"1": "NO", "2": "NO", "3": "YES", "4": "REPORTED"})
    assert value("icm", GOLD, run, HIERARCHY) == pytest.approx((1 + 1 + (2 * 1 + 2 * 2 - 3 * 2) + 2) / 4)


def test_a_class_unseen_in_the_gold_counts_as_one_item() -> None:
    for unseen in ("JUDGEMENTAL", "NO-SUCH-CLASS"):
        run = labels({"1": unseen, "2": "NO", "3": "DIRECT", "4": "REPORTED"})
        expected = (2 * log2(4) + 2 * 1 - 3 * (log2(4) + 1) + 1 + 2 + 2) / 4
        assert value("icm", GOLD, run, HIERARCHY) == pytest.approx(expected)


def test_a_missing_item_costs_its_information() -> None:
    run = labels({"1": "NO", "2": "NO", "3": "DIRECT"})
    assert value("icm", GOLD, run, HIERARCHY) == pytest.approx((1 + 1 + 2 + (2 * 2 - 3 * 2)) / 4)


def test_a_tree_may_be_deep() -> None:
    hierarchy = {"A": ("B", "C"), "B": ("x", "y"), "C": ("z",), "D": ()}
    gold = labels({"1": "x", "2": "y", "3": "z", "4": "D"})
    # I: A = log2(4/3), B = 1, C = x = y = z = D = 2
    run = labels({"1": "y", "2": "z", "3": "z", "4": "D"})
    a, b = log2(4 / 3), 1
    first = 2 * 2 + 2 * 2 - 3 * (2 + 2 - b)
    second = 2 * 2 + 2 * 2 - 3 * (2 + 2 - a)
    assert value("icm", gold, run, hierarchy) == pytest.approx((first + second + 2 + 2) / 4)


def test_several_labels_an_item_share_their_ancestors() -> None:
    gold = labels({"1": "DIRECT REPORTED", "2": "NO"})
    # YES 1 bit, DIRECT and REPORTED 1 bit each, no more than YES
    assert value("icm", gold, gold, HIERARCHY) == 1
    run = labels({"1": "DIRECT NO", "2": "NO"})
    assert value("icm", gold, run, HIERARCHY) == pytest.approx(((2 * 2 + 2 * 1 - 3 * 2) + 1) / 2)


def test_the_normalized_value_stops_at_zero() -> None:
    assert value("icm_norm", GOLD, labels(dict.fromkeys("1234", "JUDGEMENTAL NO")), HIERARCHY) == 0


def test_a_gold_of_one_class_says_nothing() -> None:
    gold = labels({"1": "NO", "2": "NO"})
    assert value("icm", gold, gold) == 0
    assert value("icm_norm", gold, gold) is None


def test_in_a_table_items_without_a_class_have_one_of_their_own() -> None:
    hierarchy = {"stereotype": ("health", "security")}
    gold = table("stereotype health security", {"1": "000", "2": "000", "3": "110", "4": "101"})
    assert value("icm", gold, gold, hierarchy) == (1 + 1 + 2 + 2) / 4
    empty = table("stereotype health security", dict.fromkeys("1234", "000"))
    assert value("icm", gold, empty, hierarchy) == pytest.approx((1 + 1 + 2 * (2 * 1 + 2 * 2 - 3 * (1 + 2))) / 4)


def test_the_range_of_the_normalized_value_depends_on_the_coefficients() -> None:
    gold, run = labels({"1": "a", "2": "b", "3": "c", "4": "c"}), labels(dict.fromkeys("1234", "a b c"))
    spec = MetricSpec("icm_norm", None, {"beta": "1"})
    exceeds = value("icm_norm", gold, run, beta="1")
    assert exceeds is not None
    assert exceeds > 1
    assert value_range(spec) == (0, None)
    assert value_range(MetricSpec("icm_norm", None, {"beta": "2"})) == value_range(MetricSpec("icm_norm")) == (0, 1)
    found = interval(compare(LoadedGold(gold), run), spec, seed=1, rounds=200)
    assert found is not None
    assert found.low <= found.value <= found.high
