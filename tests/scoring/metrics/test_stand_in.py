"""Declared values of undefined metrics: as in official scorers, also in samples and combined scores."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from scoring.answers import Entities, Matrix, Spans, Tuples
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute, describe
from scoring.metrics.registry import contributions
from scoring.metrics.validation import validate
from scoring.significance.resampling import field_of
from tests.for_each import for_each
from tests.scoring.formats.test_writing import track


def numbers(*values: int) -> Matrix:
    return Matrix([str(row) for row in range(len(values))], ("joy",), np.array(values)[:, None])


def spec_of(undefined: str | None, name: str = "pearson", part: str | None = "joy") -> MetricSpec:
    return MetricSpec(name, part, undefined=undefined)


def official_pearson(gold: Sequence[int], run: Sequence[int]) -> float:
    """Return what the scorer of SemEval-2025 task 11, track B, returns."""
    if np.std(gold) == 0 or np.std(run) == 0:
        return 1.0 if list(gold) == list(run) else 0.0
    return float(np.corrcoef(gold, run)[0, 1])


CASES = [
    pytest.param((0, 0, 0, 0), (0, 0, 0, 0), id="both constant and equal"),
    pytest.param((0, 0, 0, 0), (1, 1, 1, 1), id="both constant"),
    pytest.param((0, 0, 0, 0), (1, 0, 2, 0), id="constant gold"),
    pytest.param((0, 1, 2, 3), (1, 1, 1, 1), id="constant run"),
    pytest.param((0, 1, 2, 3), (0, 2, 1, 3), id="both varied"),
]


@for_each(("gold", "run"), CASES)
def test_exact_is_the_value_of_the_official_scorer(gold: tuple[int, ...], run: tuple[int, ...]) -> None:
    comparison = compare(LoadedGold(numbers(*gold)), numbers(*run))
    expected = official_pearson(gold, run)
    assert compute(comparison, spec_of("exact")) == pytest.approx(expected, abs=1e-12)
    parts = contributions(comparison, spec_of("exact"))
    assert parts is not None
    assert parts.combine(parts.values.sum(axis=0)) == pytest.approx(expected, abs=1e-12)
    weights = np.array([[2, 0, 2, 0], [0, 4, 0, 0]])
    samples = [np.repeat(np.arange(4), own) for own in weights]
    official = [official_pearson(np.array(gold)[rows].tolist(), np.array(run)[rows].tolist()) for rows in samples]
    assert parts.combine(weights @ parts.values) == pytest.approx(official, abs=1e-12)


def test_a_number_counts_in_scores_samples_and_combined_scores() -> None:
    comparison = compare(LoadedGold(numbers(0, 1, 2)), numbers(1, 1, 1))
    assert compute(comparison, spec_of(None)) is None
    assert compute(comparison, spec_of("-0.5")) == -0.5
    assert compute(comparison, spec_of("0.25", "spearman")) == 0.25
    both = (spec_of("0.5"), spec_of("1", "spearman"))
    score = MetricSpec("combine", "all", {"by": "mean", "weights": (), "missing": "zero", "slices": None}, both)
    assert compute(comparison, score) == 0.75
    field = field_of([comparison, compare(comparison.gold, numbers(0, 1, 2))], spec_of("-0.5"))
    assert not np.isnan(field.resampled(np.random.default_rng(0), 50)).any()


def test_nothing_counts_without_items() -> None:
    gold = LoadedGold(numbers())
    assert compute(compare(gold, numbers()), spec_of("1")) is None


def test_nothing_counts_in_a_column_without_gold() -> None:
    gold = LoadedGold(replace(numbers(0, 0), absent=np.array([[True], [True]])))
    comparison = compare(gold, numbers(1, 2))
    assert compute(comparison, spec_of("exact")) is None
    assert compute(comparison, spec_of("0.5")) is None
    half = compare(LoadedGold(replace(numbers(0, 0), absent=np.array([[True], [False]]))), numbers(1, 0))
    parts = contributions(half, spec_of("exact"))
    assert parts is not None
    samples = parts.combine(np.array([[2.0, 0.0], [0.0, 2.0]]) @ parts.values)
    assert samples.tolist() == pytest.approx([np.nan, 1.0], nan_ok=True)


def spans(*pairs: tuple[int, int]) -> Spans:
    begins, ends = np.array(pairs, np.int64).reshape(-1, 2).T
    return Spans(["0"], begins, ends, np.array([0, len(pairs)]))


def entities(*entries: tuple[str, int, int]) -> Entities:
    kinds = np.array([("A", "B").index(kind) for kind, _, _ in entries], np.intp)
    begins, ends = (np.array([entry[place] for entry in entries], np.int64) for place in (1, 2))
    return Entities(["0"], ("A", "B"), kinds, begins, ends, np.array([0, len(entries)]), None)


def tuples(*rows: tuple[str, ...]) -> Tuples:
    return Tuples.of_sets(("x",), {"0": rows})


EMPTY = [
    pytest.param(spans(), spans(), "span_recall_micro", None, 1.0, id="no spans"),
    pytest.param(spans(), spans((0, 3)), "span_recall_micro", None, 0.0, id="too many spans"),
    pytest.param(entities(("A", 0, 3)), entities(("A", 0, 3)), "entity_f1", "B", 1.0, id="no entities of the type"),
    pytest.param(entities(("A", 0, 3)), entities(("B", 0, 3)), "entity_f1", "B", 0.0, id="too many entities"),
    pytest.param(tuples(), tuples(), "tuple_f1", None, 1.0, id="no tuples"),
    pytest.param(tuples(), tuples(("r",)), "tuple_f1", None, 0.0, id="too many tuples"),
]


@for_each(("gold", "run", "name", "part", "expected"), EMPTY)
def test_nothing_found_where_nothing_is(
    gold: Spans | Entities | Tuples, run: Spans | Entities | Tuples, name: str, part: str | None, expected: float
) -> None:
    comparison = compare(LoadedGold(gold), run)
    assert compute(comparison, spec_of(None, name, part)) is None
    assert compute(comparison, spec_of("exact", name, part)) == expected
    parts = contributions(comparison, spec_of("exact", name, part))
    assert parts is not None
    assert parts.combine(parts.values.sum(axis=0)) == expected


def test_the_definition_is_checked_and_the_formula_says_it() -> None:
    where = track("table", id="id", columns={"joy": {"kind": "number"}})
    assert validate(spec_of("exact"), where) is None
    assert validate(spec_of("-1"), where) is None
    problem = validate(spec_of("2"), where)
    assert problem == "undefined must be a value that pearson can have, from -1 to 1, not 2"
    problem = validate(spec_of("exact", "rmse"), where)
    assert problem == "undefined: exact is not possible for rmse; use a number"
    assert validate(spec_of("100", "rmse"), where) is None
    assert describe(spec_of("0")).formula.endswith("; if undefined, 0")
    assert describe(spec_of("exact")).formula.endswith("1 for a run that equals the gold and 0 for any other")
