from math import log2
from statistics import NormalDist

import pytest

from tests.scoring.metrics.answers import soft, value

EVEN = {"Y": 0.5, "N": 0.5}
FLAT = soft({"1": {"Y": 1.0, "N": 0.0}, "2": EVEN, "3": {"Y": 0.0, "N": 1.0}, "4": EVEN})


def information(weight: float, mean: float = 0.5, deviation: float = 0.25) -> float:
    """Return the information of a weight, by default for the example above: mean 1/2, mean absolute deviation 1/4."""
    return 0.0 if weight == 0 else -log2(1 - NormalDist(mean, deviation).cdf(weight))


def test_by_hand_on_flat_classes() -> None:
    both = information(0.5) * 2
    best = (information(1.0) * 2 + both * 2) / 4
    assert value("icm_soft", FLAT, FLAT) == pytest.approx(best)
    run = soft({"1": {"Y": 0.75, "N": 0.25}, "2": EVEN, "3": EVEN, "4": EVEN})
    first = (
        2 * (information(0.75) + information(0.25)) + 2 * information(1.0) - 3 * (information(1.0) + information(0.25))
    )
    third = 2 * both + 2 * information(1.0) - 3 * (information(0.5) + information(1.0))
    expected = (first + third + both * 2) / 4
    assert value("icm_soft", FLAT, run) == pytest.approx(expected)
    assert value("icm_soft_norm", FLAT, run) == pytest.approx((expected + best) / (2 * best))


def test_by_hand_siblings_share_their_parent_s_greatest_weight() -> None:
    hierarchy = {"YES": ("a", "b"), "NO": ()}
    gold = soft({"1": {"a": 0.75, "b": 0.25, "NO": 0.0}, "2": {"a": 0.25, "b": 0.25, "NO": 0.5}})

    # means: a 1/2, b 1/4, YES 1/2, NO 1/4; b never varies, so weights up to 1/4 have no information
    def of_a(weight: float) -> float:
        return information(weight, 0.5, 0.25)

    first = of_a(0.75) - of_a(0.75) + 0 - of_a(0.25) + of_a(0.75)
    second = of_a(0.25) - of_a(0.25) + 0 - of_a(0.25) + of_a(0.25) + information(0.5, 0.25, 0.25)
    assert value("icm_soft", gold, gold, hierarchy) == pytest.approx((first + second) / 2)


def test_a_constant_class_counts_nothing_up_to_its_weight_and_log2_n_beyond() -> None:
    gold = soft({item: {"Y": 0.5} for item in "1234"})
    assert value("icm_soft", gold, gold) == 0
    assert value("icm_soft_norm", gold, gold) is None
    beyond = soft({item: {"Y": 0.75} for item in "1234"})
    assert value("icm_soft", gold, beyond) == -log2(4)


def test_the_tail_of_the_guidelines_is_the_share_of_gold_items_with_at_least_the_weight() -> None:
    """The weights of Y are 1, 1/2, 0 and 1/2: at least 1/2 for three of four items, and 1 for one. N is the same."""
    half, one = log2(4 / 3), log2(4)
    assert value("icm_soft", FLAT, FLAT, tail="observed") == pytest.approx((2 * one + 4 * half) / 4)
    run = soft({"1": {"Y": 0.75, "N": 0.25}, "2": EVEN, "3": EVEN, "4": EVEN})
    first = 2 * (one + half) + 2 * one - 3 * (one + half)  # 3/4 counts as 1, and 1/4 counts as 1/2
    third = 2 * (2 * half) + 2 * one - 3 * (half + one)
    assert value("icm_soft", FLAT, run, tail="observed") == pytest.approx((first + third + 4 * half) / 4)
    assert value("icm_soft_norm", FLAT, FLAT, tail="observed") == 1
    few = soft({item: {"Y": 0.5} for item in "1234"})
    more = soft({item: {"Y": 0.75} for item in "1234"})
    assert value("icm_soft", few, more, tail="observed") == -log2(4)  # no gold item has such a large weight


def test_an_underflowing_tail_counts_log2_n() -> None:
    weights = {"rare": 1.0, **{str(number): 0.0 for number in range(127)}}
    gold = soft({item: {"Y": weight} for item, weight in weights.items()})
    assert value("icm_soft", gold, gold) == pytest.approx(log2(128) / 128)


def test_any_weight_for_a_class_that_the_gold_does_not_know_costs_log2_n() -> None:
    for weight in (0.0, 0.5):
        run = soft({item: EVEN | {"odd": weight} for item in "1234"})
        known = soft(dict.fromkeys("1234", EVEN))
        assert value("icm_soft", FLAT, run) == pytest.approx(value("icm_soft", FLAT, known) - log2(4))


def test_a_missing_item_costs_its_information() -> None:
    run = soft({"1": {"Y": 1.0, "N": 0.0}})
    expected = (information(1.0) - information(1.0) - 2 * 2 * information(0.5)) / 4
    assert value("icm_soft", FLAT, run) == pytest.approx(expected)
