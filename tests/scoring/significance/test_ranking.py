"""Ranks with their confidence intervals, letters and clusters, by hand and for random matrices of p-values."""

from itertools import combinations

import numpy as np
import pytest

from scoring.definition import MetricSpec
from scoring.significance import PairTests, RankedRun, pair_tests
from scoring.significance.ranking import clusters, found_better, letters, rank_intervals, shared_ranks
from tests.scoring.significance.test_significance import ACCURACY, field

ALPHA = 0.05


def pairs_of(values: list[float], apart: str) -> PairTests:
    """Return tests of runs a, b, c … in which the pairs in `apart`, such as "ac bc", differ."""
    names = "abcdefgh"[: len(values)]
    p_values = np.ones((len(names), len(names)))
    for one, other in apart.split():
        places = names.index(one), names.index(other)
        p_values[places] = p_values[places[::-1]] = 0.01
    return PairTests(list(names), np.array(values), p_values)


def test_the_rank_counts_the_runs_found_better_and_worse() -> None:
    """Only a and d differ, so a is one of the first three, and d one of the last three."""
    a, b, c, d = pairs_of([0.9, 0.8, 0.7, 0.6], "ad").ranked(ALPHA)
    assert [(run.rank, run.low, run.high) for run in (a, b, c, d)] == [(1, 1, 3), (2, 1, 4), (3, 1, 4), (4, 2, 4)]
    assert [run.is_like_best for run in (a, b, c, d)] == [True, True, True, False]
    assert ["".join(run.letters) for run in (a, b, c, d)] == ["a", "ab", "ab", "b"]
    assert {run.cluster for run in (a, b, c, d)} == {1}
    assert not any(run.is_ahead_of_next for run in (a, b, c, d))


def test_a_real_lead_is_said() -> None:
    found = pairs_of([0.9, 0.7, 0.7, 0.6, 0.1], "ab ac ad ae be ce de").ranked(ALPHA)
    assert [(run.rank, run.low, run.high) for run in found] == [(1, 1, 1), (2, 2, 4), (2, 2, 4), (4, 2, 4), (5, 5, 5)]
    assert [run.is_ahead_of_next for run in found] == [True, False, False, True, False]
    assert [run.is_like_best for run in found] == [True, False, False, False, False]
    assert ["".join(run.letters) for run in found] == ["a", "b", "b", "b", "c"]
    assert [run.cluster for run in found] == [1, 2, 2, 2, 3]


def test_a_run_that_does_not_differ_from_the_best_may_be_worse_than_another() -> None:
    """Run b shares most answers with c, so their small difference is found, but not the larger one between a and c."""
    a, b, c = pairs_of([0.9, 0.85, 0.8], "bc").ranked(ALPHA)
    assert (c.low, c.high, c.is_like_best) == (2, 3, True)
    assert (b.low, b.high, b.is_ahead_of_next) == (1, 2, True)
    assert (a.letters, b.letters, c.letters) == (("a", "b"), ("a",), ("b",))


def test_one_run_and_none() -> None:
    assert pairs_of([0.5], "").ranked(ALPHA) == [RankedRun("a", 0.5, 1, 1, 1, True, False, ("a",), 1)]
    assert pairs_of([], "").ranked(ALPHA) == []


def test_there_are_more_letters_than_in_the_alphabet() -> None:
    better = np.triu(np.ones((30, 30), bool), 1)
    better[27, 28] = False
    assert letters(better)[25:] == [("z",), ("aa",), ("ab",), ("ab",), ("ac",)]
    better[26, 27] = False
    assert letters(better)[26:] == [("aa",), ("aa", "ab"), ("ab",), ("ac",)]


def random_tests(rng: np.random.Generator) -> PairTests:
    """Return tests of up to twelve runs. Some values are equal, and differences need not be transitive."""
    runs = int(rng.integers(1, 13))
    values = np.sort(rng.integers(0, 3 * runs, runs) / 10)[::-1]
    distance = np.abs(np.arange(runs)[:, None] - np.arange(runs))
    chance = rng.random((runs, runs)) ** (1 + distance * rng.random())
    p_values = np.triu(chance, 1) + np.triu(chance, 1).T
    p_values[values[:, None] == values] = 1
    return PairTests([f"run {place}" for place in range(runs)], values, p_values)


def test_statements_agree_with_the_p_values_of_random_boards() -> None:
    rng = np.random.default_rng(1)
    for _board in range(1000):
        tests = random_tests(rng)
        found = tests.ranked(0.2)
        values, differ = tests.values.tolist(), (tests.p_values <= 0.2).tolist()
        runs = len(values)
        for place, run in enumerate(found):
            assert run.rank == 1 + sum(value > run.value for value in values)
            assert run.low == 1 + sum(differ[place][other] for other in range(runs) if values[other] > run.value)
            assert run.high == runs - sum(differ[place][other] for other in range(runs) if values[other] < run.value)
            assert run.low <= run.rank <= run.high
            best = [other for other in range(place) if values[other] == values[0]]
            assert run.is_like_best == (not any(differ[place][other] for other in best))
            following = max((value for value in values if value < run.value), default=None)
            after = [other for other in range(runs) if values[other] == following]
            assert run.is_ahead_of_next == (bool(after) and all(differ[place][other] for other in after))
        for (at, one), (place, other) in combinations(enumerate(found), 2):
            assert set(one.letters).isdisjoint(other.letters) == differ[at][place]
        borders = [border for border in range(1, runs) if all(all(row[border:]) for row in differ[:border])]
        assert [run.cluster for run in found] == [1 + sum(border <= at for border in borders) for at in range(runs)]


def test_letters_of_many_runs_stay_few() -> None:
    """Runs that differ from those more than ten places away need a letter for each run but the last ten."""
    better = np.triu(np.ones((300, 300), bool), 11)
    names = {name for own in letters(better) for name in own}
    assert len(names) == 290


def test_equal_values_share_a_rank_and_never_differ() -> None:
    values = np.array([0.9, 0.9, 0.5])
    assert shared_ranks(values).tolist() == [1, 1, 3]
    better = found_better(values, np.zeros((3, 3)), ALPHA)
    assert better.tolist() == [[False, False, True], [False, False, True], [False, False, False]]
    low, high = rank_intervals(better)
    assert (low.tolist(), high.tolist()) == ([1, 1, 3], [2, 2, 3])
    assert clusters(better).tolist() == [1, 1, 2]


@pytest.mark.parametrize(("key", "best"), [("accuracy", "run 1"), ("hamming_loss", "run 1")])
def test_runs_are_ranked_by_their_items(key: str, best: str) -> None:
    runs = field([0.8, 0.1, 0.8, 0.12], items=500)
    found = pair_tests(runs, MetricSpec(key), seed=1, rounds=500).ranked(ALPHA)
    assert found[0].name == best
    assert [(run.low, run.high) for run in found] == [(1, 2), (1, 2), (3, 4), (3, 4)]
    assert [run.cluster for run in found] == [1, 1, 2, 2]


def test_copies_have_the_same_rank_and_interval() -> None:
    runs = field([0.1, 0.5, 0.9], items=300)
    both = {**runs, "copy": runs["run 0"]}
    found = {run.name: run for run in pair_tests(both, ACCURACY, seed=1, rounds=500).ranked(ALPHA)}
    assert (
        (found["copy"].rank, found["copy"].low, found["copy"].high)
        == (1, 1, 2)
        == (
            found["run 0"].rank,
            found["run 0"].low,
            found["run 0"].high,
        )
    )
    assert (found["run 1"].rank, found["run 1"].low) == (3, 3)


def test_few_items_have_all_ranks() -> None:
    found = pair_tests(field([0.0, 1.0], items=9), ACCURACY, seed=1).ranked(ALPHA)
    assert [(run.rank, run.low, run.high, run.is_like_best) for run in found] == [(1, 1, 2, True), (2, 1, 2, True)]
