"""Metrics on slices and bias metrics, compared with values computed by hand and with resampling in numpy."""

from typing import Any

import numpy as np
import pytest

from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.definition.slices import Slicing, shown_value
from scoring.items.slices import SliceColumn
from scoring.metrics import LoadedGold, compare, compute, contributions, describe
from scoring.metrics.comparison import Comparison
from scoring.metrics.registry import value_range
from scoring.significance import intervals, tie_groups
from scoring.significance.resampling import field_of
from tests.scoring.metrics.answers import labels, table

GROUPS = ("a", "b", "c")


def sliced(answers: Matrix, values: list[str], **rules: Any) -> LoadedGold:
    """Return the gold with slices by `group`."""
    column = SliceColumn(Slicing(column="group", **rules), None, ())
    extra = Matrix(answers.ids, answers.columns, answers.values, answers.absent, {"group": values})
    return LoadedGold(extra, slice_columns={"group": column})


def of(key: str) -> MetricSpec:
    name, _, where = key.partition("@")
    name, _, part = name.partition(":")
    slices, _, value = where.partition("=")
    return MetricSpec(name, part or None, where=(slices, value) if where else None)


def over_slices(key: str, by: str, missing: str = "skip") -> MetricSpec:
    options = {"title": None, "slices": "group", "by": by, "weights": (), "missing": missing}
    return MetricSpec("combine", by, options, (of(key),))


def test_worked_out_by_hand() -> None:
    gold = sliced(labels({"1": "y", "2": "y", "3": "n", "4": "n"}, "yn"), ["en", "en", "en", "es"])
    run = compare(gold, labels({"1": "y", "2": "n", "3": "n", "4": "n"}, "yn"))
    values = {key: compute(run, of(key)) for key in ("accuracy", "accuracy@group=en", "accuracy@group=es")}
    assert values == {"accuracy": 0.75, "accuracy@group=en": pytest.approx(2 / 3), "accuracy@group=es": 1}
    combined = {by: compute(run, over_slices("accuracy", by)) for by in ("mean", "minimum", "maximum", "gap")}
    assert combined == pytest.approx({"mean": 5 / 6, "minimum": 2 / 3, "maximum": 1, "gap": 1 / 3})
    assert compute(run, of("accuracy@group=pt")) is None
    assert contributions(run, of("accuracy@group=pt")) is None
    assert compute(run, over_slices("f1:y", "mean")) == pytest.approx(2 / 3)  # the slice es has no y
    assert compute(run, over_slices("f1:y", "mean", "zero")) == pytest.approx(1 / 3)
    assert compute(run, over_slices("f1:y", "gap")) is None
    with pytest.raises(ValueError, match="there are no slices named topic; existing slices: group"):
        compute(run, of("accuracy@topic=x"))


def test_only_where_another_column_is_right() -> None:
    gold = LoadedGold(table("HS TR", {"1": "11", "2": "10", "3": "00"}))
    run = compare(gold, table("HS TR", {"1": "11", "2": "11", "3": "10"}))
    assert compute(run, of("accuracy:TR@right=HS")) == 0.5
    wrong = compare(gold, table("HS TR", {"1": "01", "2": "01", "3": "10"}))
    assert compute(wrong, of("accuracy:TR@right=HS")) is None
    info = describe(of("accuracy:TR@right=HS"))
    assert (info.key, info.title) == ("accuracy:TR@right=HS", "Accuracy: TR where HS is correct")


def test_a_column_heading_has_the_title_of_the_slices() -> None:
    spec = MetricSpec("pearson", where=("strong", ">=0.5"))
    info = describe(spec, {"strong": Slicing(column="intensity", at_least=0.5, title="intensity")})
    assert (info.short, info.title) == ("Pearson (≥\xa00.5)", "Pearson's correlation, intensity ≥\xa00.5")
    assert describe(spec).title == "Pearson's correlation, strong ≥\xa00.5"
    assert shown_value("<20") == "<\xa020"
    assert shown_value("<unk>") == "<unk>"


def test_values_are_merged_and_numbers_halved() -> None:
    gold = labels({"1": "y", "2": "y", "3": "n", "4": "n"}, "yn")
    merged = sliced(gold, ["AR", "MX", "ES", ""], merge={"latin": ("AR", "MX")})
    assert {value: rows.tolist() for value, rows in merged.slices("group").items()} == {"ES": [2], "latin": [0, 1]}
    halved = sliced(gold, ["3", "20", "20.5", ""], at_least=20)
    assert {value: rows.tolist() for value, rows in halved.slices("group").items()} == {"<20": [0], ">=20": [1, 2]}
    own = LoadedGold(
        table("HS TR", {"1": "11", "2": "10"}), slice_columns={"tr": SliceColumn(Slicing(column="TR"), None, ())}
    )
    assert {value: rows.tolist() for value, rows in own.slices("tr").items()} == {"0": [1], "1": [0]}


def field(items: int = 60) -> tuple[LoadedGold, dict[str, Comparison], np.ndarray, list[np.ndarray], np.ndarray]:
    rng = np.random.default_rng(5)
    gold = rng.integers(0, 2, (items, 2))
    groups = rng.choice(GROUPS, items, p=[0.5, 0.3, 0.2])
    runs = [np.where(rng.random((items, 2)) < noise, 1 - gold, gold) for noise in (0.1, 0.45)]
    ids = [str(row) for row in range(items)]
    standard = sliced(Matrix(ids, ("x", "y"), gold), groups.tolist())
    compared = {str(at): compare(standard, Matrix(ids, ("x", "y"), run)) for at, run in enumerate(runs)}
    return standard, compared, gold, runs, groups


def f1_macro(gold: np.ndarray, run: np.ndarray) -> float:
    values = [2 * ((gold == c) & (run == c)).sum() / ((gold == c).sum() + (run == c).sum()) for c in np.unique(gold)]
    return float(np.mean(values))


def accuracy(gold: np.ndarray, run: np.ndarray) -> float:
    return float((gold == run).mean())


BY_HAND = {"mean": np.mean, "minimum": min, "maximum": max, "gap": lambda values: max(values) - min(values)}


@pytest.mark.parametrize("metric", [accuracy, f1_macro])
@pytest.mark.parametrize("by", BY_HAND)
def test_samples_are_those_of_resampling_written_by_hand(by: str, metric: Any) -> None:
    _, compared, gold, runs, groups = field()
    spec = over_slices(f"{metric.__name__}:y", by)
    found = field_of(list(compared.values()), spec).resampled(np.random.default_rng(9), 300)
    drawn = np.random.default_rng(9).integers(0, 60, (300, 60))
    for run, samples in zip(runs, found, strict=True):
        parts = [[rows[groups[rows] == group] for group in GROUPS] for rows in drawn]
        expected = [BY_HAND[by]([metric(gold[at, 1], run[at, 1]) for at in part if len(at)]) for part in parts]
        assert samples.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(
    "key", ["accuracy:y@group=a", "f1_macro:y@group=a", "accuracy:y@right=x", "f1_macro:y@right=x"]
)
def test_samples_of_some_items_are_those_written_by_hand(key: str) -> None:
    _, compared, gold, runs, groups = field()
    metric = accuracy if key.startswith("acc") else f1_macro
    found = field_of(list(compared.values()), of(key)).resampled(np.random.default_rng(9), 300)
    drawn = np.random.default_rng(9).integers(0, 60, (300, 60))
    for run, samples in zip(runs, found, strict=True):
        chosen = groups == "a" if "@group" in key else gold[:, 0] == run[:, 0]
        parts = [rows[chosen[rows]] for rows in drawn]
        assert samples.tolist() == pytest.approx([metric(gold[at, 1], run[at, 1]) for at in parts], abs=1e-9)


def test_what_items_add_depends_on_no_run() -> None:
    _, compared, *_ = field()
    for key in ("accuracy:y@right=x", "f1_macro:y@right=x", "accuracy:y@group=b", "kappa:y@group=b"):
        one, other = (contributions(run, of(key)) for run in compared.values())
        assert one is not None
        assert other is not None
        sums = other.values.sum(axis=0)
        assert float(one.combine(sums)) == pytest.approx(float(other.combine(sums)), abs=1e-12)
        assert float(other.combine(sums)) == pytest.approx(compute(compared["1"], of(key)), abs=1e-12)


@pytest.mark.parametrize("by", BY_HAND)
def test_a_score_of_all_slices_has_an_interval_and_a_tie_group(by: str) -> None:
    _, compared, *_ = field()
    spec = over_slices("f1_macro:y", by)
    for found in intervals(compared, spec, seed=1, rounds=500).values():
        assert found is not None
        assert 0 <= found.low < found.value <= found.high <= 1
    groups = tie_groups(compared, spec, seed=1, rounds=500)
    assert {one.name for one in groups} == {"0", "1"}
    assert describe(spec).higher_is_better == (by != "gap")
    assert value_range(spec) == (0, 1)


def auc(scores: np.ndarray, truth: np.ndarray) -> float:
    pairs = scores[truth][:, None] - scores[~truth][None]
    return float((pairs > 0).mean() + (pairs == 0).mean() / 2)


def test_areas_of_unintended_bias_against_all_pairs() -> None:
    rng = np.random.default_rng(3)
    truth, groups = rng.random(200) < 0.4, rng.choice(GROUPS, 200)
    weights = np.round(np.clip(truth * 0.3 + rng.random(200) * 0.7, 0, 1), 2)
    ids = [str(row) for row in range(200)]
    gold = sliced(Matrix(ids, ("toxic",), truth[:, None].astype(np.float64)), groups.tolist())
    run = compare(gold, Matrix(ids, ("toxic",), weights[:, None]))
    inside = groups == "b"
    expected = {
        "roc_auc": inside,
        "bpsn_auc": inside != truth,
        "bnsp_auc": inside == truth,
    }
    for name, chosen in expected.items():
        value = compute(run, of(f"{name}:toxic@group=b"))
        assert value == pytest.approx(auc(weights[chosen], truth[chosen]), abs=1e-12), name
    assert compute(run, of("bpsn_auc:toxic@group=none")) is None
