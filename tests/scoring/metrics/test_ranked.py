"""Rankings compared with ir_measures (trec_eval) and with values computed by hand."""

from collections.abc import Callable
from typing import Any

import ir_measures
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import AP, RR, P, R, nDCG

from scoring.definition import MetricSpec
from scoring.metrics import describe
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.examples import read_answers

MEASURES = {
    "ndcg": nDCG,
    "ndcg:5": nDCG @ 5,
    "map": AP,
    "map:5": AP @ 5,
    "mrr": RR,
    "precision_at:5": P @ 5,
    "recall_at:5": R @ 5,
}
Documents = dict[str, dict[str, float]]


def score(key: str, gold: Documents, run: Documents, **options: str) -> float | None:
    sides = [
        read_answers(
            "rankings",
            {query: ", ".join(f"{name} {number!r}" for name, number in own.items()) for query, own in side.items()},
        )
        for side in (gold, run)
    ]
    return value(key, *sides, **options)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=st.integers(0, 2**32 - 1), queries=st.integers(1, 5), levels=st.sampled_from([2, 1000]))
def test_as_trec_eval(seed: int, queries: int, levels: int) -> None:
    """Compare rankings with ties, negative relevance, unjudged documents, and queries without documents in the run."""
    rng = np.random.default_rng(seed)
    names = [f"d{number}" for number in range(30)]
    gold: Documents = {}
    run: Documents = {}
    for number in range(queries):
        query = f"q{number}"
        judged = rng.choice(names, rng.integers(1, 12), replace=False)
        gold[query] = {str(name): float(rng.integers(-1, 4)) for name in judged} | {"sure": 1.0}
        if number == 0 or rng.random() < 0.8:
            found = rng.choice([*names, "sure"], rng.integers(1, 25), replace=False)
            run[query] = {str(name): float(rng.integers(0, levels)) for name in found}
    grades = {query: {name: int(grade) for name, grade in own.items()} for query, own in gold.items()}
    theirs = ir_measures.pytrec_eval.calc_aggregate(list(MEASURES.values()), grades, run)
    for key, measure in MEASURES.items():
        assert score(key, gold, run) == pytest.approx(theirs[measure], abs=1e-9), key


def expected_reciprocal_rank(grades: list[float], highest: int) -> float:
    """Compute algorithm 2 of Chapelle et al. (2009)."""
    stays, value = 1.0, 0.0
    for rank, grade in enumerate(grades, 1):
        stops = (2**grade - 1) / 2**highest
        value += stays * stops / rank
        stays *= 1 - stops
    return value


def drawn(seed: int) -> dict[str, Documents]:
    """Draw queries with judged documents, some without relevant ones, and a run that lacks some queries."""
    rng, names = np.random.default_rng(seed), [f"d{number}" for number in range(30)]
    qrels, run = dict[str, dict[str, float]](), dict[str, dict[str, float]]()
    for number in range(rng.integers(2, 8)):
        judged = rng.choice(names, rng.integers(1, 15), replace=False)
        qrels[f"{number + 1}"] = {str(name): int(rng.integers(0, rng.choice([1, 5]))) for name in judged}
        if number == 0 or rng.random() < 0.8:
            found = rng.permutation(names)[: rng.integers(1, 25)]
            run[f"{number + 1}"] = {str(name): float(len(found) - rank) for rank, name in enumerate(found)}
    return {"qrels": qrels, "run": run}


@pytest.mark.slow
def test_peers_query_by_query(
    retrieval_peers: Callable[[list[Any]], list[Any]], capsys: pytest.CaptureFixture[str]
) -> None:
    batch = [drawn(seed) for seed in range(25)]
    largest: dict[str, float] = {}
    for case, theirs in zip(batch, retrieval_peers(batch), strict=True):
        for key, values in theirs.items():
            name, *options = key.split()
            chosen = dict(option.split("=") for option in options)
            level = float(chosen.get("relevant", 1))
            counted = {
                "all": list(case["qrels"]),
                "judged": [query for query, own in case["qrels"].items() if max(own.values()) >= level],
                "run": list(case["run"]),
            }
            for queries, names in counted.items():
                own = score(name, case["qrels"], case["run"], queries=queries, **chosen)
                if not names:
                    assert own is None
                    continue
                expected = np.mean([values[query] for query in names])
                # gdeval prints only five decimals
                assert own == pytest.approx(expected, rel=0, abs=1e-5 if name == "err:10" else 1e-9), (key, queries)
                assert own is not None
                largest[key] = max(largest.get(key, 0.0), abs(own - float(expected)))
    with capsys.disabled():
        print("\nlargest differences:", ", ".join(f"{key} {most:.1e}" for key, most in largest.items()))


@pytest.mark.parametrize("seed", range(10))
def test_expected_reciprocal_rank_is_the_authors_algorithm(seed: int) -> None:
    given = drawn(seed)
    for highest in (4, 5):
        values = [
            expected_reciprocal_rank([own.get(name, 0) for name in given["run"].get(query, {})], highest)
            for query, own in given["qrels"].items()
        ]
        found = score("err", given["qrels"], given["run"], highest=str(highest))
        assert found == pytest.approx(np.mean(values), abs=1e-12)


def test_no_query_counts() -> None:
    gold, run = {"q": {"d1": 0.0}}, {"q": {"d1": 1.0}}
    assert score("map", gold, run) == 0
    assert score("map", gold, run, queries="judged") is None
    assert score("map", {"q": {"d1": 1.0}}, {"x": {"d1": 1.0}}, queries="run") is None


@pytest.mark.parametrize(
    "scores", [{"a": 0.1234567890, "b": 0.1234567891}, {"a": 16777216.0, "b": 16777217.0}, {"a": 1e300, "b": 1e301}]
)
def test_scores_are_compared_in_single_precision(scores: dict[str, float]) -> None:
    """Scores that are equal as float32 are ordered by name, as in trec_eval: c, b, a."""
    gold: Documents = {"q": {"a": 1.0, "b": 2.0, "c": 3.0}}
    run: Documents = {"q": {**scores, "c": min(scores.values())}}
    grades = {"q": {name: int(grade) for name, grade in gold["q"].items()}}
    theirs = ir_measures.pytrec_eval.calc_aggregate(list(MEASURES.values()), grades, run)
    assert theirs[nDCG] == pytest.approx(1.0)
    for key, measure in MEASURES.items():
        assert score(key, gold, run) == pytest.approx(theirs[measure], abs=1e-9), key
    backwards: Documents = {"q": {"a": 3.0, "b": 1.0, "c": 2.0}}
    grades = {"q": {name: int(grade) for name, grade in backwards["q"].items()}}
    theirs = ir_measures.pytrec_eval.calc_aggregate([nDCG, AP], grades, run)
    assert score("ndcg", backwards, run) == pytest.approx(theirs[nDCG], abs=1e-9)


def test_queries_that_the_run_lacks_count_nothing_and_others_are_ignored() -> None:
    gold = {"q1": {"d1": 1.0}, "q2": {"d2": 1.0}}
    assert score("map", gold, {"q1": {"d1": 0.5}}) == 0.5
    assert score("map", gold, {"q1": {"d1": 0.5}, "q9": {"d1": 0.5}}) == 0.5


def test_what_counts_as_relevant_is_an_option() -> None:
    gold, run = {"q": {"d1": 1.0, "d2": 2.0}}, {"q": {"d1": 2.0, "d2": 1.0}}
    assert score("mrr", gold, run) == 1.0
    assert score("mrr", gold, run, relevant="2") == 0.5


def test_a_cutoff_is_in_the_head_of_the_column() -> None:
    info = describe(MetricSpec("ndcg", "10"))
    assert (info.short, info.title) == ("nDCG@10", "Normalized discounted cumulative gain at 10")
