"""Tuples with numbers get the credit of DimABSA's evaluator, implemented here independently."""

import math

import numpy as np
import pytest

from scoring.answers import Tuples
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.test_beta_and_numbers import SEEDS, Differences, note

COLUMNS = ("aspect", "opinion", "numbers")
Rows = list[tuple[str, str, str]]


def drawn(rng: np.random.Generator) -> Rows:
    """Draw tuples that differ in their first two columns, with some numbers outside the scale from 1 to 9."""
    found = {}
    for _ in range(rng.integers(0, 6)):
        pair = (str(rng.choice(["food", "Food", "ñ", ""])), str(rng.choice(["good", "bad"])))
        found[pair] = "#".join(f"{number:.2f}" for number in rng.uniform(0.5, 9.2, 2))
    return [(*pair, numbers) for pair, numbers in found.items()]


def credit(gold: Rows, run: Rows) -> float:
    total = 0.0
    for aspect, opinion, numbers in gold:
        same = [other[2] for other in run if other[:2] == (aspect, opinion)]
        if len(same) != 1:
            continue
        first, second = ([float(text) for text in cell.split("#")] for cell in (numbers, same[0]))
        if all(1 <= number <= 9 for number in second):
            total += max(0.0, 1 - math.dist(first, second) / math.sqrt(128))
    return total


@pytest.mark.slow
def test_credit_as_in_the_task() -> None:
    largest: Differences = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        sides = [{str(item): drawn(rng) for item in range(rng.integers(1, 8))} for _ in range(2)]
        gold, run = sides[0], {item: sides[1].get(item, []) for item in sides[0]}
        if seed % 3 == 0:  # a pair of columns with two different numbers
            run["0"] = [*run["0"], ("food", "good", "3.00#4.00"), ("food", "good", "5.00#6.00")]
        credits = sum(credit(gold[item], sorted({*run[item]})) for item in gold)
        counts = [sum(len({*rows}) for rows in side.values()) for side in (run, gold)]
        answers = [Tuples.of_sets(COLUMNS, side) for side in (gold, run)]
        theirs = {"precision": credits / counts[0] if counts[0] else 0.0}
        if counts[1]:
            theirs |= {"recall": credits / counts[1], "f1": 2 * credits / sum(counts)}
        for name, expected in theirs.items():
            key = f"tuple_{name}_numbers"
            note(largest, key, value(key, *answers, numbers="numbers"), expected)
    print("\nlargest differences:", largest)
    assert max(largest.values()) <= 1e-9


def tuples(*rows: tuple[str, ...], columns: tuple[str, ...] = ("a", "x", "y")) -> Tuples:
    return Tuples.of_sets(columns, {"1": rows})


def test_numbers_in_columns_of_their_own() -> None:
    gold, run = tuples(("food", "2", "3")), tuples(("Food", "5", "7"))
    options = {"numbers": "x+y", "low": "0", "high": "10"}
    assert value("tuple_f1_numbers", gold, run, **options) == 0
    assert value("tuple_f1_numbers", gold, run, case="ignore", **options) == pytest.approx(1 - 5 / math.sqrt(200))
    assert value("tuple_f1_numbers:a+x", gold, run, numbers="x", case="ignore") == pytest.approx(1 - 3 / 8)


@pytest.mark.parametrize(
    ("gold", "run", "expected"),
    [
        ("2#3", "2", 0),  # a different count of numbers
        ("2#3", "2#x", 0),
        ("none", "none", 1),
        ("none", "2", 0),
        ("2", "2.0", 1),
        ("2", "9.01", 0),
        ("2", "1e999", 0),
        ("2", "nan", 0),
        ("nan", "nan", 1),
        ("", "", 1),
        ("2#", "2#", 1),
    ],
)
def test_what_is_no_number_must_be_equal(gold: str, run: str, expected: float) -> None:
    sides = (tuples(("a", side), columns=("a", "n")) for side in (gold, run))
    assert value("tuple_f1_numbers", *sides, numbers="n") == expected
