"""Intervals, paired tests and tie groups, compared with scipy and with a separate computation of every sample."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from scoring import Definition
from scoring.__main__ import main
from scoring.answers import Matrix, Spans
from scoring.definition import MetricSpec
from scoring.definition.slices import Slicing
from scoring.items.slices import SliceColumn
from scoring.metrics import METRICS, Comparison, LoadedGold, compare, compute
from scoring.metrics.comparison import MatrixComparison
from scoring.significance import interval, intervals, leads, paired_test, tie_groups
from scoring.significance.resampling import _Recomputed, field_of
from scoring.significance.sample_sizes import sample_size
from tests.scoring.conftest import ITEMS
from tests.scoring.metrics.answers import labels

ACCURACY = MetricSpec("accuracy")
CLASSES = ("a", "b", "c")


def one_of(choices: Sequence[int] | np.ndarray) -> Matrix:
    given = np.asarray(choices)
    return Matrix([str(item) for item in range(len(given))], CLASSES, np.eye(len(CLASSES), dtype=bool)[given])


def field(errors: Sequence[float], items: int = 200, seed: int = 5) -> dict[str, MatrixComparison]:
    """Create runs on the same gold, each with the given share of random labels."""
    rng = np.random.default_rng(seed)
    right = rng.integers(3, size=items)
    gold = LoadedGold(one_of(right))
    runs = {}
    for number, share in enumerate(errors):
        given = np.where(rng.random(items) < share, rng.integers(3, size=items), right)
        runs[f"run {number}"] = compare(gold, one_of(given))
    return runs


def hits(run: MatrixComparison) -> np.ndarray:
    return (run.run == run.gold.values).all(axis=1).astype(float)


@pytest.mark.parametrize("share", [0.0, 0.05, 0.4])
@pytest.mark.parametrize("key", ["accuracy", "exact_match_ratio"])
def test_interval_of_a_share_is_wilsons(key: str, share: float) -> None:
    (run,) = field([share], items=80).values()
    ours = interval(run, MetricSpec(key), seed=11, rounds=50, level=0.9)
    peer = stats.binomtest(int(hits(run).sum()), 80).proportion_ci(0.9, method="wilson")
    assert ours is not None
    assert ours.value == compute(run, MetricSpec(key))
    assert (ours.low, ours.high) == pytest.approx((peer.low, peer.high), abs=1e-12)


@pytest.mark.slow
def test_samples_of_a_metric_without_contributions_are_scipys() -> None:
    rng = np.random.default_rng(3)
    right = rng.random((60, 1))
    gold = LoadedGold(Matrix([str(item) for item in range(60)], ("a",), right))
    said = right + rng.normal(scale=0.5, size=right.shape)
    run = compare(gold, Matrix(gold.answers.ids, ("a",), said))
    ours = field_of([run], MetricSpec("spearman", "a")).resampled(np.random.default_rng(4), 300)
    peer = stats.bootstrap(
        (right[:, 0], said[:, 0]),
        lambda x, y: stats.spearmanr(x, y).statistic,
        paired=True,
        vectorized=False,
        n_resamples=300,
        method="percentile",
        rng=np.random.default_rng(4),
    )
    np.testing.assert_allclose(ours[0], peer.bootstrap_distribution, atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_randomization_meets_all_exchanges_enumerated(seed: int) -> None:
    """For ten items, both enumerate all 2^10 exchanges. The bootstrap test would find false differences too often."""
    one, other = field([0.2, 0.9], items=10, seed=seed).values()
    ours = [paired_test(one, other, ACCURACY, seed=seed, method=method) for method in ("randomization", "bootstrap")]
    lead = leads({"one": one, "other": other}, ACCURACY, seed=seed)["one"]["other"]
    peer = stats.permutation_test(
        (hits(one), hits(other)), lambda x, y: np.mean(x - y), permutation_type="samples", vectorized=False
    )
    for test in (*ours, lead):
        assert test is not None
        assert test.p_value == pytest.approx(peer.pvalue)


def test_three_items_never_show_a_difference() -> None:
    gold = LoadedGold(Matrix(["1", "2", "3"], ("a", "b"), np.array([[True, False]] * 3)))
    runs = {"right": compare(gold, gold.answers), "wrong": compare(gold, Matrix(["1"], ("b",), np.array([[True]])))}
    assert leads(runs, ACCURACY, seed=1)["right"]["wrong"].p_value == 0.25


def test_a_mean_over_slices_is_no_surer_than_its_smallest_slice() -> None:
    spec = MetricSpec(
        "combine",
        "mean",
        {"by": "mean", "weights": (), "missing": "zero", "slices": "s", "title": "", "columns": False},
        (ACCURACY,),
    )

    def sliced(*sizes: int) -> LoadedGold:
        ids = [str(item) for item in range(sum(sizes))]
        of_slices = [f"s{number}" for number, size in enumerate(sizes) for _ in range(size)]
        values = np.array([[True, False]] * len(ids))
        column = SliceColumn(Slicing(column="s"), None, ())
        return LoadedGold(Matrix(ids, ("a", "b"), values, None, {"s": of_slices}), slice_columns={"s": column})

    size = sample_size(spec, sliced(300, 20))
    assert size.drawn == pytest.approx((1 / 300 + 1 / 20) / (1 / 300**2 + 1 / 20**2))
    assert 20 < size.freedom < 23
    assert sample_size(ACCURACY, sliced(300, 20)).drawn == 320
    assert sample_size(replace(spec, options={**spec.options, "by": "minimum"}), sliced(300, 20)).drawn == 20
    gold = sliced(300, 5)
    wrong = Matrix(gold.answers.ids, ("b",), np.array([[True]] * 305))
    groups = tie_groups({"right": compare(gold, gold.answers), "wrong": compare(gold, wrong)}, spec, seed=1, rounds=99)
    assert [run.group for run in groups] == [1, 1]


@pytest.mark.slow
def test_both_tests_agree_with_the_normal_approximation() -> None:
    one, other = field([0.3, 0.35], items=3000).values()
    difference = hits(one) - hits(other)
    expected = 2 * stats.norm.sf(abs(difference.mean()) / (difference.std() / np.sqrt(len(difference))))
    assert 0.001 < expected < 0.5
    for method in ("bootstrap", "randomization"):
        ours = paired_test(one, other, ACCURACY, seed=1, method=method, rounds=10_000)  # type: ignore[arg-type]
        assert ours is not None
        assert ours.p_value == pytest.approx(expected, abs=0.02)
        assert ours.lead == pytest.approx(difference.mean())


@pytest.mark.slow
@pytest.mark.parametrize("method", ["bootstrap", "randomization"])
def test_equally_good_runs_rarely_differ(method: str) -> None:
    """At 0.05, about ten of 200 true null hypotheses are rejected. The probability of 24 or more is 1 in 10,000."""
    rejections = 0
    for seed in range(200):
        one, other = field([0.4, 0.4], items=150, seed=seed).values()
        test = paired_test(one, other, ACCURACY, seed=seed, method=method, rounds=400)  # type: ignore[arg-type]
        rejections += test is not None and test.p_value <= 0.05
    assert 1 <= rejections < 24


@pytest.mark.parametrize("key", ["accuracy", "f1_macro", "f1:a", "kappa", "mcc", "jaccard", "hamming_loss"])
def test_sums_of_contributions_equal_the_metric(key: str) -> None:
    """The sums equal the metric for every sample and every exchange of answers."""
    name, _, part = key.partition(":")
    spec = MetricSpec(name, part or None)
    runs = list(field([0.3, 0.6], items=40).values())
    sums, recomputed = field_of(runs, spec), _Recomputed(runs, spec)
    assert type(sums) is not type(recomputed)
    rngs = [np.random.default_rng(8) for _ in range(4)]
    np.testing.assert_allclose(sums.resampled(rngs[0], 50), recomputed.resampled(rngs[1], 50), atol=1e-9)
    np.testing.assert_allclose(sums.exchanged(rngs[2], 50), recomputed.exchanged(rngs[3], 50), atol=1e-9)


def test_samples_do_not_depend_on_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = field([0.2, 0.5])
    whole = intervals(runs, ACCURACY, seed=2, rounds=100)
    monkeypatch.setattr("scoring.significance.resampling._CELLS", 1000)
    assert intervals(runs, ACCURACY, seed=2, rounds=100) == whole


@pytest.mark.parametrize("method", ["bootstrap", "randomization"])
def test_groups_part_where_the_items_distinguish_runs(method: str) -> None:
    runs = field([0.8, 0.1, 0.8, 0.1, 0.45], items=500)
    lines = tie_groups(runs, ACCURACY, seed=1, method=method, rounds=2000)  # type: ignore[arg-type]
    assert [line.group for line in lines] == [1, 1, 2, 3, 3]
    assert {line.name for line in lines[:2]} == {"run 1", "run 3"}
    assert [line.value for line in lines] == sorted([compute(run, ACCURACY) for run in runs.values()], reverse=True)
    assert [line.p_value is None for line in lines] == [True, False, True, True, False]


def test_less_is_better_for_a_loss() -> None:
    runs = field([0.8, 0.1], items=500)
    spec = MetricSpec("hamming_loss")
    lines = tie_groups(runs, spec, seed=1, rounds=500)
    assert [(line.name, line.group) for line in lines] == [("run 1", 1), ("run 0", 2)]
    test = paired_test(runs["run 1"], runs["run 0"], spec, seed=1, rounds=500)
    assert test is not None
    assert test.lead > 0.2


@pytest.mark.parametrize("key", ["accuracy", "icm", "f1_macro"])
@pytest.mark.parametrize("method", ["bootstrap", "randomization"])
def test_copies_tie_and_change_nothing_for_others(key: str, method: str) -> None:
    spec = MetricSpec(key)
    runs: dict[str, Comparison] = dict(field([0.1, 0.14, 0.2, 0.24, 0.5]))
    copies = {f"copy of {name}": run for name, run in reversed(runs.items())}
    alone = tie_groups(runs, spec, seed=3, method=method, rounds=500)  # type: ignore[arg-type]
    both = tie_groups(runs | copies, spec, seed=3, method=method, rounds=500)  # type: ignore[arg-type]
    assert [line for line in both if line.name in runs] == alone
    groups = {line.name: line.group for line in both}
    assert all(groups[f"copy of {name}"] == groups[name] for name in runs)
    assert next(line.p_value for line in both if line.name == f"copy of {alone[0].name}") == 1.0


def test_an_undefined_value_has_no_rank() -> None:
    gold = LoadedGold(labels({str(item): "ab"[item % 2] for item in range(12)}))
    runs = {"silent": compare(gold, labels({}, ["a", "b"])), "right": compare(gold, gold.answers)}
    spec = MetricSpec("system_precision")
    lines = tie_groups(runs, spec, seed=1, rounds=100)
    assert [(line.name, line.group) for line in lines] == [("right", 1), ("silent", None)]
    assert intervals(runs, spec, seed=1, rounds=100)["silent"] is None
    assert paired_test(runs["silent"], runs["right"], spec, seed=1) is None


def test_samples_without_a_value_are_counted() -> None:
    """Kappa is undefined on samples with only one class. With two items, this is half of the samples."""
    gold = LoadedGold(labels({"1": "a", "2": "b"}))
    found = interval(compare(gold, gold.answers), MetricSpec("kappa"), seed=1, rounds=1000)
    assert found is not None
    assert 400 < found.undefined < 600
    assert found.value == found.high == 1.0


def test_what_cannot_be_tested_is_rejected(monkeypatch: pytest.MonkeyPatch) -> None:
    runs = field([0.1, 0.2, 0.3])
    with pytest.raises(ValueError, match=r"tests at 0\.05 need at least 19 rounds, not 18"):
        tie_groups(runs, ACCURACY, seed=1, rounds=18)
    with pytest.raises(ValueError, match=r"level must be between 0 and 1, such as 0\.95, not 95"):
        interval(runs["run 0"], ACCURACY, seed=1, level=95)
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1, such as 0\.05, not 5"):
        tie_groups(runs, ACCURACY, seed=1, alpha=5)
    with pytest.raises(ValueError, match="rounds must be at least 1, not 0"):
        tie_groups(runs, ACCURACY, seed=1, rounds=0)
    other = field([0.1], seed=9)["run 0"]
    with pytest.raises(ValueError, match="different gold standards"):
        paired_test(runs["run 0"], other, ACCURACY, seed=1)


def test_spans_need_contributions(monkeypatch: pytest.MonkeyPatch) -> None:
    f1 = METRICS["span_f1"]
    own = replace(f1, name="own", compute=lambda comparison, spec: f1.compute(comparison, spec), contributions=None)
    monkeypatch.setitem(METRICS, "own", own)
    spans = Spans.of_offsets(["1"], np.array([3]), np.array([0, 1]))
    with pytest.raises(TypeError, match="cannot be broken down"):
        field_of([compare(LoadedGold(spans), spans)], MetricSpec("own"))


def test_a_generator_continues_where_a_seed_repeats() -> None:
    (run,) = field([0.4]).values()
    rng = np.random.default_rng(7)
    first, second = (interval(run, MetricSpec("f1_macro"), seed=rng, rounds=200) for _ in range(2))
    assert first == interval(run, MetricSpec("f1_macro"), seed=7, rounds=200)
    assert first != second


BITS = """
from scoring.definition import MetricSpec
from scoring.significance import intervals, tie_groups
from tests.scoring.significance.test_significance import field
runs = field([0.1 + 0.01 * number for number in range(12)], items=700)
for key in ("icm", "icm_norm", "f1_macro"):
    print(intervals(runs, MetricSpec(key), seed=1, rounds=400))
    for method in ("bootstrap", "randomization"):
        print(tie_groups(runs, MetricSpec(key), seed=1, method=method, rounds=400))
"""


@pytest.mark.slow
def test_the_same_bits_with_one_thread_and_with_two() -> None:
    printed = set()
    for threads in ("1", "2"):
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": threads, "PYTHONHASHSEED": threads}
        done = subprocess.run([sys.executable, "-c", BITS], env=environment, capture_output=True, text=True, check=True)
        printed.add(done.stdout)
    assert len(printed) == 1
    assert "GroupedRun" in printed.pop()


def test_the_sums_are_exact() -> None:
    """Any order of summation gives bit-for-bit the same sums, even for contributions that are not counts."""
    runs = list(field([0.1, 0.4], items=997).values())
    columns = field_of(runs, MetricSpec("icm")).columns  # type: ignore[attr-defined]
    weights = np.random.default_rng(1).multinomial(997, np.full(997, 1 / 997), 20).astype(float)
    order = np.random.default_rng(2).permutation(997)
    assert (weights @ columns == weights[:, order] @ columns[order]).all()
    assert len(np.unique(columns)) > 3


def test_command(tiny: Definition, capsys: pytest.CaptureFixture[str]) -> None:
    def write(name: str, values: str) -> Path:
        entries = [{"id": item, "value": value, "test_case": "TINY"} for item, value in zip(ITEMS, values, strict=True)]
        path = tiny.folder / name
        path.write_text(json.dumps(entries), encoding="utf-8")
        return path

    right = ("AB" * len(ITEMS))[: len(ITEMS)]
    gold, good, bad = write("gold.json", right), write("good.json", right), write("bad.json", "A" * len(ITEMS))
    arguments = ["significance", "--task", str(tiny.folder), "--track", "task1-hard", "--gold", str(gold)]
    few = [*arguments, "--rounds", "200", "--seed", "3"]
    assert main([*few, str(bad), str(good)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[1].split() == ["run", "value", "low", "high", "rank", "letters", "group", "p"]
    assert [line.split()[0] for line in printed[2:]] == ["good.json", "bad.json"]
    assert main([*few, str(good), str(bad), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["seed"], answer["rounds"], answer["level"]) == (3, 200, 0.95)
    assert answer["runs"][0]["group"] == 1
    ranks = [[run[key] for key in ("rank", "rank_low", "rank_high", "letters", "cluster")] for run in answer["runs"]]
    assert ranks == [[1, 1, 1, ["a"], 1], [2, 2, 2, ["b"], 2]]
    assert answer["runs"][0]["interval"]["low"] <= answer["runs"][0]["value"]
    for spelling in ("randomization", "randomisation"):
        assert main([*few, "--method", spelling, str(good), str(bad), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["method"] == "randomization"
    assert main([*few, str(write("wrong.json", "X" * len(ITEMS)))]) == 1
    assert "label-outside-domain" in capsys.readouterr().out
    assert main([*few, "--metric", "none", str(good)]) == 2
    assert main([*arguments, "--rounds", "5", str(good), str(bad)]) == 2


def test_leads_are_paired_tests_with_bounds() -> None:
    runs = field([0.1, 0.3, 0.9])
    found = leads(runs, ACCURACY, seed=7, rounds=500)
    assert {name: list(others) for name, others in found.items()} == {
        "run 0": ["run 1", "run 2"],
        "run 1": ["run 2"],
        "run 2": [],
    }
    for one, other, lead in [(one, other, lead) for one, others in found.items() for other, lead in others.items()]:
        test = paired_test(runs[one], runs[other], ACCURACY, seed=7, rounds=500)
        assert test is not None
        assert lead.lead == test.lead
        differences = hits(runs[one]) - hits(runs[other])
        assert lead.low <= differences.mean() <= lead.high
        expected = stats.bootstrap((differences,), np.mean, n_resamples=2000, method="percentile", rng=1)
        assert (lead.low, lead.high) == pytest.approx(expected.confidence_interval, abs=0.03)
    assert (
        found["run 0"]["run 2"].p_value
        == paired_test(runs["run 0"], runs["run 2"], ACCURACY, seed=7, rounds=500).p_value
    )
    assert leads({}, ACCURACY, seed=7) == {}
