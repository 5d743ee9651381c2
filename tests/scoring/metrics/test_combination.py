"""Scores built from other scores: compared with values computed by hand, and with resampling in plain numpy."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from scoring import DefinitionError, load_definition
from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute, contributions, describe
from scoring.metrics.comparison import Comparison
from scoring.metrics.registry import value_range
from scoring.significance import intervals, tie_groups
from scoring.significance.resampling import field_of
from tests.scoring.metrics.answers import labels, table

PARTS = ("accuracy:x", "accuracy:y")
GOLD = table("x y", {"1": "11", "2": "10", "3": "00", "4": "00"})
RUN = table("x y", {"1": "11", "2": "01", "3": "01", "4": "00"})  # x is correct three times, y twice


def combined(*parts: str, **options: Any) -> MetricSpec:
    own = [MetricSpec(name, part or None) for name, _, part in (key.partition(":") for key in parts)]
    given = {"title": None, "by": "mean", "weights": (), "missing": "zero"} | options
    return MetricSpec("combine", "overall", given, tuple(own))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, (0.75 + 0.5) / 2),
        ({"weights": (3.0, 1.0)}, (3 * 0.75 + 0.5) / 4),
        ({"by": "harmonic-mean"}, 2 / (1 / 0.75 + 1 / 0.5)),
        ({"by": "harmonic-mean", "weights": (3.0, 1.0)}, 4 / (3 / 0.75 + 1 / 0.5)),
        ({"by": "product"}, 0.75 * 0.5),
        ({"by": "minimum"}, 0.5),
    ],
)
def test_worked_out_by_hand(options: Mapping[str, Any], expected: float) -> None:
    assert compute(compare(LoadedGold(GOLD), RUN), combined(*PARTS, **options)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("by", "zero", "skip"), [("mean", 0.4, 0.8), ("harmonic-mean", 0, 0.8), ("product", 0, 0.8), ("minimum", 0, 0.8)]
)
def test_a_part_without_a_value_counts_0_or_is_skipped(by: str, zero: float, skip: float) -> None:
    gold = labels({"1": "a", "2": "a", "3": "a", "4": "b"}, "abc")
    comparison = compare(LoadedGold(gold), labels({"1": "a", "2": "a", "3": "b", "4": "b"}, "abc"))
    specs = [combined("f1:a", "recall:c", by=by, missing=missing) for missing in ("zero", "skip")]
    assert compute(comparison, specs[0]) == pytest.approx(zero)
    assert compute(comparison, specs[1]) == pytest.approx(skip)
    assert compute(comparison, combined("recall:c", by=by, missing="skip")) is None


def f1_macro(gold: np.ndarray, run: np.ndarray) -> float:
    values = []
    for name in np.unique(gold):
        has, says = gold == name, run == name
        values.append(2 * (has & says).sum() / (has.sum() + says.sum()))
    return float(np.mean(values))


BY_HAND: Mapping[str, Callable[[float, float], float]] = {
    "mean": lambda one, other: (2 * one + other) / 3,
    "harmonic-mean": lambda one, other: 0 if min(one, other) == 0 else 3 / (2 / one + 1 / other),
    "product": lambda one, other: one * other,
    "minimum": min,
}


@pytest.mark.parametrize("by", BY_HAND)
def test_samples_are_those_of_resampling_written_by_hand(by: str) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, (40, 2))
    runs = [np.where(rng.random((40, 2)) < noise, 1 - gold, gold) for noise in (0.2, 0.4)]
    standard = LoadedGold(Matrix([str(row) for row in range(40)], ("x", "y"), gold))
    compared = {
        str(at): compare(standard, Matrix(standard.answers.ids, ("x", "y"), run)) for at, run in enumerate(runs)
    }
    weights = (2.0, 1.0) if by in ("mean", "harmonic-mean") else ()
    spec = combined("accuracy:x", "f1_macro:y", by=by, weights=weights)
    found = field_of(list(compared.values()), spec).resampled(np.random.default_rng(9), 300)
    drawn = np.random.default_rng(9).integers(0, 40, (300, 40))
    for run, samples in zip(runs, found, strict=True):
        expected = [
            BY_HAND[by](float((gold[rows, 0] == run[rows, 0]).mean()), f1_macro(gold[rows, 1], run[rows, 1]))
            for rows in drawn
        ]
        assert samples.tolist() == pytest.approx(expected, abs=1e-9)
    check_intervals_and_groups(compared, spec)


def check_intervals_and_groups(runs: Mapping[str, Comparison], spec: MetricSpec) -> None:
    assert all(contributions(run, spec) is not None for run in runs.values())
    found = intervals(runs, spec, seed=1, rounds=500)
    for interval in found.values():
        assert interval is not None
        assert 0 <= interval.low < interval.value < interval.high <= 1
    assert [one.name for one in tie_groups(runs, spec, seed=1, rounds=500)] == ["0", "1"]


def test_a_part_without_contributions_is_computed_on_each_sample() -> None:
    rng = np.random.default_rng(2)
    gold, run = (Matrix([str(row) for row in range(30)], ("x",), rng.integers(0, 5, (30, 1))) for _ in range(2))
    spec = combined("spearman:x", "kappa_quadratic:x")
    comparison = compare(LoadedGold(gold), run)
    assert contributions(comparison, spec) is None
    assert intervals({"one": comparison}, spec, seed=1, rounds=50)["one"] is not None
    assert value_range(spec) == (-1, 1)


def test_words_for_the_head_of_its_column() -> None:
    info = describe(combined(*PARTS, title="Both", weights=(2.0, 1.0), missing="skip"))
    assert (info.key, info.title, info.short, info.higher_is_better) == ("combine:overall", "Both", "Both", True)
    assert info.formula == "mean of Accuracy: x, Accuracy: y, weighted 2 : 1; an undefined value is skipped"
    assert not describe(combined("mae:x", "rmse:x", missing="skip")).higher_is_better


TASK = """
agon: 1
slug: both
title: Both
year: 2027
languages: [en]
tracks:
  - slug: one
    format: {kind: table, id: id, columns: [x, y]}
    items: items.txt
    metrics: ["f1_macro:x", %s]
    rank_by: "f1_macro:x"
naming: {run: "{track}_{team}"}
phases:
  - {slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}
"""


CYCLE = '{combine: b, of: ["combine:c", "f1_macro:x"]}, {combine: c, of: ["combine:b"]}'
LEVELS = '{combine: c, of: ["combine:b"]}, {combine: a, of: ["f1_macro:x"]}, {combine: b, of: ["combine:a"]}'
DEEP = LEVELS + ', {combine: %s, of: ["f1_macro:y", "combine:c"]}'
SCORES = ", ".join(f'{{combine: a{number}, of: ["combine:a{(number + 1) % 201}"]}}' for number in range(201))
MANY = ", ".join(f"{{name: 'pearson:x', option: {number}}}" for number in range(101))


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ('{combine: b, of: ["f1_macro:x", "f2:y"]}', "there is no metric f2"),
        ('{combine: b, of: ["f1_macro:x", "f1_macro:z"]}', "z is not one of x, y"),
        ('{combine: b, of: ["f1_macro:x", "mae:y"]}', "higher is better for f1_macro:x, but lower for mae:y"),
        ('{combine: b, of: ["mae:x", "mae:y"]}', "set missing: skip"),
        ('{combine: b, of: ["kappa:x", "kappa:y"], by: product}', "never negative, but kappa:x can be"),
        ('{combine: b, of: ["f1_macro:x", "f1_macro:y"], weights: [1]}', "one weight for each of the 2 metrics"),
        ('{combine: b, of: ["f1_macro:x", "f1_macro:y"], by: minimum, weights: [1, 2]}', "does not use them"),
        ('{combine: b, of: ["f1_macro:x", {combine: c, of: [accuracy]}]}', "name"),
        ('{combine: c, of: ["combine:b"]}', "no combined score named combine:b; its combined scores are combine:c"),
        ('"combine:b"', "the track has no combined score named combine:b"),
        ('{combine: b, of: [{name: "combine:b", beta: 2}]}', "combine:b has no option beta"),
        ('{combine: b, of: ["combine:b"]}', "combine:b contains itself: combine:b → combine:b"),
        (CYCLE, "combine:b contains itself: combine:b → combine:c → combine:b; remove one of these names from of:"),
        (SCORES, "there are 202 entries; at most 200 are allowed"),
        (DEEP % "d", "combine:d has more than 3 levels of combined scores; replace combine:c with its metrics"),
        (
            f"{{combine: a, of: [{MANY}]}}, {{combine: c, of: [{MANY}]}}, "
            "{combine: b, of: ['combine:a', 'combine:c']}",
            "combine:b combines more than 200 metrics",
        ),
        (
            '{combine: a, of: ["mae:x"], missing: skip}, {combine: b, of: ["combine:a", "accuracy:x"]}',
            "mixes directions",
        ),
        ('{combine: a, of: ["kappa:x"]}, {combine: b, of: ["combine:a"], by: product}', "combine:a can be negative"),
        ('{combine: a, of: ["f1_macro:x@right=x"]}, "combine:a@right=y"', "combine:a already uses slices"),
        (
            '{combine: a, of: ["f1_macro:x"]}, {combine: b, of: ["combine:a@right=z"]}',
            "right requires one of x, y, not z",
        ),
        (
            '{combine: a, of: ["f1_macro:x"]}, {combine: b, of: ["combine:a@topic=z"]}',
            "the track has no slices named topic",
        ),
        (
            '{combine: a, of: ["f1_macro:x"]}, {combine: b, of: ["combine:a"], slices: s}',
            "the track has no slices named s",
        ),
        ('{combine: b, of: ["f1_macro:x"]}, {combine: b, of: ["f1_macro:y"]}', "each metric only once"),
        ("{combine: b, of: []}", "at least one"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, entry: str, words: str) -> None:
    (tmp_path / "items.txt").write_text("1\n", encoding="utf-8")
    (tmp_path / "task.yaml").write_text(TASK % entry, encoding="utf-8")
    with pytest.raises(DefinitionError) as error:
        load_definition(tmp_path)
    assert words in str(error.value)
    (tmp_path / "task.yaml").write_text(TASK % '{combine: b, of: ["f1_macro:x", "accuracy:y"]}', encoding="utf-8")
    spec = load_definition(tmp_path).track("one").metrics[1]
    assert spec.key == "combine:b"
    assert [part.key for part in spec.of] == ["f1_macro:x", "accuracy:y"]


@pytest.mark.parametrize(
    ("entry", "errors"),
    [
        (CYCLE, [1, 2]),
        (CYCLE + ', {combine: d, of: ["combine:b"]}, "combine:b@right=x"', [1, 2]),
        (DEEP % "d" + ', {combine: e, of: ["combine:d"]}', [4]),
        ('{combine: a, of: ["f2:x"]}, {combine: b, of: ["combine:a"]}, {combine: c, of: ["combine:a@right=x"]}', [1]),
    ],
)
def test_an_error_is_reported_once_where_it_is(tmp_path: Path, entry: str, errors: list[int]) -> None:
    (tmp_path / "items.txt").write_text("1\n", encoding="utf-8")
    (tmp_path / "task.yaml").write_text(TASK % entry, encoding="utf-8")
    with pytest.raises(DefinitionError) as caught:
        load_definition(tmp_path)
    assert [problem.item for problem in caught.value.report] == [f"tracks[0].metrics[{place}]" for place in errors]
    assert {problem.line for problem in caught.value.report} == {11}


def test_a_combined_score_of_combined_scores(tmp_path: Path) -> None:
    """x is correct in three of four items, y in two. Among the items whose y is correct, x is always correct."""
    (tmp_path / "items.txt").write_text("1\n2\n3\n4\n", encoding="utf-8")
    listed = """{combine: top, of: ["combine:middle", "accuracy:y"], weights: [3, 1]},
      {combine: both, of: ["accuracy:x", "accuracy:y"], by: harmonic-mean},
      {combine: middle, of: ["combine:both", "accuracy:x"], by: minimum},
      "combine:both@right=y", {combine: some, of: ["combine:both@right=y", "combine:both"], by: product}"""
    (tmp_path / "task.yaml").write_text(TASK % listed, encoding="utf-8")
    metrics = load_definition(tmp_path).track("one").metrics[1:]
    comparison = compare(LoadedGold(GOLD), RUN)
    both = 2 / (1 / 0.75 + 1 / 0.5)
    expected = {
        "combine:top": (3 * both + 0.5) / 4,
        "combine:both": both,
        "combine:middle": both,
        "combine:both@right=y": 1,
        "combine:some": both,
    }
    assert {spec.key: compute(comparison, spec) for spec in metrics} == pytest.approx(expected, abs=1e-12)
    for spec in metrics:
        parts = contributions(comparison, spec)
        assert parts is not None
        assert float(parts.combine(parts.values.sum(axis=0))) == pytest.approx(expected[spec.key], abs=1e-12)
    assert value_range(metrics[0]) == (0, 1)
    infos = [describe(spec) for spec in metrics]
    assert infos[3].title == "both where y is correct"
    assert infos[3].short == "both (y)"
    assert infos[4].formula == "product of both where y is correct, both; an undefined value counts as 0"
    assert len(infos[0].source.split("; ")) == len(set(infos[0].source.split("; ")))


@pytest.mark.parametrize("by", BY_HAND)
def test_samples_of_nested_scores_are_those_written_by_hand(by: str) -> None:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, (40, 2))
    runs = [np.where(rng.random((40, 2)) < noise, 1 - gold, gold) for noise in (0.2, 0.4)]
    standard = LoadedGold(Matrix([str(row) for row in range(40)], ("x", "y"), gold))
    compared = {
        str(at): compare(standard, Matrix(standard.answers.ids, ("x", "y"), run)) for at, run in enumerate(runs)
    }
    weights = (2.0, 1.0) if by in ("mean", "harmonic-mean") else ()
    inner = combined("accuracy:y", "f1_macro:y", by="harmonic-mean")
    spec = replace(combined("", "accuracy:x", by=by, weights=weights), of=(inner, combined("accuracy:x").of[0]))
    found = field_of(list(compared.values()), spec).resampled(np.random.default_rng(9), 300)
    drawn = np.random.default_rng(9).integers(0, 40, (300, 40))

    def on_sample(gold: np.ndarray, run: np.ndarray) -> float:
        correct = (gold == run).mean(axis=0)
        return BY_HAND[by](2 / (1 / correct[1] + 1 / f1_macro(gold[:, 1], run[:, 1])), correct[0])

    for run, samples in zip(runs, found, strict=True):
        assert samples.tolist() == pytest.approx([on_sample(gold[rows], run[rows]) for rows in drawn], abs=1e-9)
    check_intervals_and_groups(compared, spec)


def test_the_most_similar_score_is_suggested(tmp_path: Path) -> None:
    (tmp_path / "items.txt").write_text("1\n", encoding="utf-8")
    entry = '{combine: overall, of: ["f1_macro:x"]}, "combine:overal@right=x"'
    (tmp_path / "task.yaml").write_text(TASK % entry, encoding="utf-8")
    with pytest.raises(DefinitionError) as caught:
        load_definition(tmp_path)
    assert [problem.suggestion for problem in caught.value.report] == ["combine:overall@right=x"]
