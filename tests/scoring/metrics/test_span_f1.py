import random

import pytest

from tests.scoring.metrics.answers import spans, value

GOLD = spans({"1": [0, 1, 2, 3], "2": [], "3": [5, 6]})


def test_mean_over_the_items() -> None:
    run = spans({"3": [6, 7, 8], "1": [0, 1], "2": []})
    assert value("span_f1", GOLD, run) == pytest.approx((2 * 2 / 6 + 1 + 2 * 1 / 5) / 3)


def test_an_empty_gold_is_right_only_when_nothing_is_marked() -> None:
    assert value("span_f1", GOLD, spans({"1": [], "2": [], "3": []})) == 1 / 3
    assert value("span_f1", GOLD, spans({"1": [], "2": [9], "3": []})) == 0


def test_a_missing_item_is_an_item_with_nothing_marked() -> None:
    assert value("span_f1", GOLD, spans({"1": [0, 1, 2, 3]})) == pytest.approx(2 / 3)


def test_offsets_count_for_their_own_item_only() -> None:
    assert value("span_f1", spans({"1": [3], "2": [4]}), spans({"1": [4], "2": [3]})) == 0


def test_offsets_beyond_any_text_are_only_wrong() -> None:
    run = spans({"1": [-5, 0, 1, 2, 3], "2": [], "3": [5, 6, 2**62]})
    assert value("span_f1", GOLD, run) == pytest.approx((2 * 4 / 9 + 1 + 2 * 2 / 5) / 3)


SEVERAL = spans({"1": [0, 1, 2, 3, 10, 11], "2": [5], "3": []})


def test_exact_spans_need_both_ends() -> None:
    assert value("span_f1_exact", SEVERAL, SEVERAL) == 1.0
    run = spans({"1": [0, 1, 2, 10, 11], "2": [6], "3": [1]})  # only 10–11 has both boundaries correct
    assert value("span_f1_exact", SEVERAL, run) == pytest.approx(2 * 1 / (3 + 4))


def test_partial_spans_count_what_they_cover() -> None:
    run = spans({"1": [1, 2, 10, 11, 12, 13], "2": [], "3": [1]})
    precision, recall = (1 + 1 / 2 + 0) / 3, (1 / 2 + 1 + 0) / 3
    expected = 2 * precision * recall / (precision + recall)
    assert value("span_f1_partial", SEVERAL, run) == pytest.approx(expected)
    assert value("span_f1_partial", SEVERAL, SEVERAL) == 1.0


@pytest.mark.parametrize("name", ["span_f1_exact", "span_f1_partial"])
def test_spans_of_one_side_only_get_nothing_and_no_spans_are_undefined(name: str) -> None:
    nothing = spans({"1": [], "2": [], "3": []})
    assert value(name, SEVERAL, nothing) == 0.0
    assert value(name, nothing, SEVERAL) == 0.0
    assert value(name, nothing, nothing) is None


@pytest.mark.parametrize("seed", range(10))
def test_spans_as_sets_of_pairs(seed: int) -> None:
    rng = random.Random(seed)
    sides = [{str(item): sorted(rng.sample(range(30), rng.randint(0, 20))) for item in range(8)} for _ in range(2)]
    gold, run = ({(item, span) for item in side for span in ends(side[item])} for side in sides)
    expected = 2 * len(gold & run) / (len(gold) + len(run))
    assert value("span_f1_exact", spans(sides[0]), spans(sides[1])) == pytest.approx(expected)


def ends(offsets: list[int]) -> list[tuple[int, int]]:
    starts = [offset for offset in offsets if offset - 1 not in offsets]
    return list(zip(starts, [offset for offset in offsets if offset + 1 not in offsets], strict=True))
