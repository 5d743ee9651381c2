"""Metrics for ordered values that no other package computes, and items without an answer."""

from fractions import Fraction
from math import log2
from pathlib import Path

import numpy as np
import pytest

from scoring import load_definition, score
from scoring.analysis.details import details
from scoring.answers import Matrix
from scoring.metrics.comparison import Comparison
from scoring.score import load_gold
from scoring.significance import intervals, tie_groups
from tests.scoring.metrics.answers import table, value


def closeness(gold: list[int], run: list[int]) -> float:
    """Compute equations 4 and 5 of Amigó et al. (2020) literally, class by class."""
    classes = sorted({*gold, *run})
    count = {name: gold.count(name) for name in classes}

    def proximity(first: int, second: int) -> float:
        here, there = classes.index(first), classes.index(second)
        towards = classes[here + 1 : there + 1] if here <= there else classes[there:here]
        share = Fraction(count[first], 2) + sum(count[name] for name in towards)
        return -log2(share / len(gold))

    return sum(map(proximity, run, gold)) / sum(map(proximity, gold, gold))


@pytest.mark.parametrize("seed", range(20))
def test_closeness_is_the_authors_formula(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.integers(-2, 3, (2, int(rng.integers(1, 30)))).tolist()
    sides = [Matrix([str(at) for at in range(len(side))], ("x",), np.array(side)[:, None]) for side in (gold, run)]
    assert value("cem_ord", *sides) == pytest.approx(closeness(gold, run), abs=1e-12)


def test_a_rare_neighbor_is_closer_than_a_frequent_one() -> None:
    gold = table("x", {"1": "1", "2": "2", "3": "2", "4": "2", "5": "3"})
    rare = value("cem_ord", gold, table("x", {"1": "1", "2": "2", "3": "2", "4": "3", "5": "3"}))
    frequent = value("cem_ord", gold, table("x", {"1": "1", "2": "2", "3": "2", "4": "2", "5": "2"}))
    assert rare is not None
    assert frequent is not None
    assert rare > frequent


def test_items_without_an_answer() -> None:
    gold, run = table("x", {"1": "1", "2": "1", "3": "-"}), table("x", {"1": "1", "3": "5"})
    assert value("accuracy_within", gold, run) == 0.5
    assert value("cem_ord", gold, run) == 0.5
    assert value("mae_macro", gold, run) == value("mae", gold, run) == 0.5


def test_a_tolerance_holds_up_to_rounding() -> None:
    # In binary, the difference is slightly more than 0.1.
    gold, run = Matrix(["1"], ("x",), np.array([[0.3]])), Matrix(["1"], ("x",), np.array([[0.4]]))
    assert value("accuracy_within", gold, run, tolerance="0.1") == 1
    assert value("accuracy_within", gold, run, tolerance="0.0999") == 0


def test_quadratic_kappa_uses_distances_between_the_values() -> None:
    gold = table("x", {"1": "1", "2": "2", "3": "5"})
    near, far = (table("x", {"1": "1", "2": last, "3": "5"}) for last in "15")
    assert value("kappa_quadratic", gold, near) > value("kappa_quadratic", gold, far)  # type: ignore[operator]


TASK = """
agon: 1
slug: reviews
title: Reviews
year: 2027
languages: [en]
tracks:
  - slug: stars
    format:
      kind: table
      id: id
      columns: {stars: {kind: ordinal, values: [1, 2, 3, 4, 5]}, p: {kind: number, name: price}}
    items: items.txt
    metrics:
      - "kappa_quadratic:stars"
      - "mae_macro:stars"
      - "cem_ord:stars"
      - {name: "accuracy_within:price", tolerance: 0.5}
      - "kendall:price"
    rank_by: "cem_ord:stars"
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""
GOLD = b"id,stars,p\na,1,0.5\nb,2,3\nc,2,9\nd,5,1\n"


def test_from_the_definition_to_intervals_and_groups(tmp_path: Path) -> None:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("a\nb\nc\nd\n", encoding="utf-8")
    task = load_definition(tmp_path)
    files = {"good": b"id,stars,p\na,1,1\nb,2,3\nc,3,8\nd,4,1.2\n", "poor": b"id,stars,p\na,5,9\nb,5,1\nc,1,2\nd,1,3\n"}
    gold, runs = load_gold(task, "stars", GOLD), dict[str, Comparison]()
    for name, run in files.items():
        result = score(task, "stars", run, gold)
        assert result.report.ok
        assert result.comparison is not None
        assert details(result.comparison, ())["curves"]
        runs[name] = result.comparison
    best = score(task, "stars", files["good"], GOLD).scores
    assert best["accuracy_within:price"] == 0.75
    assert best["mae_macro:stars"] == pytest.approx((0 + 0.5 + 1) / 3)
    for spec in task.track("stars").metrics:
        for interval in intervals(runs, spec, seed=1, rounds=200).values():
            assert interval is not None
            assert interval.low <= interval.value <= interval.high
        assert tie_groups(runs, spec, seed=1, rounds=200)
