"""Comparison with scikit-learn and scipy on random answers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from scipy.spatial.distance import cityblock, jensenshannon
from sklearn import metrics as sk
from sklearn.metrics.pairwise import haversine_distances

from scoring.answers import Matrix
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare, compute, contributions
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.curves import precision_recall, roc

seeds = st.integers(0, 2**32 - 1)
CLASSES = ("a", "b", "c", "d")


def matrix(values: Any) -> Matrix:
    array = np.asarray(values)
    return Matrix([str(row) for row in range(len(array))], CLASSES[: array.shape[1]], array)


def score(name: str, gold: Any, run: Any, part: str | None = None, **options: str) -> float | None:
    return compute(compare(LoadedGold(matrix(gold)), matrix(run)), MetricSpec(name, part, options))


def one_hot(classes: Any) -> Any:
    return np.eye(len(CLASSES), dtype=bool)[classes]


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(2, 40), classes=st.integers(1, 4))
def test_one_label(seed: int, items: int, classes: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.integers(0, classes, (2, items))
    in_gold = np.unique(gold)
    for average in ("macro", "micro", "weighted"):
        labels = in_gold if average == "macro" else None
        theirs = sk.precision_recall_fscore_support(gold, run, labels=labels, average=average, zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), theirs[:3], strict=True):
            assert score(f"{name}_{average}", one_hot(gold), one_hot(run)) == pytest.approx(value, abs=1e-12)
    for over, labels in (("seen", None), ("declared", range(len(CLASSES)))):
        theirs = sk.precision_recall_fscore_support(gold, run, labels=labels, average="macro", zero_division=0)
        for name, value in zip(("precision", "recall", "f1"), theirs[:3], strict=True):
            assert score(f"{name}_macro", one_hot(gold), one_hot(run), over=over) == pytest.approx(value, abs=1e-12)
    assert score("accuracy", one_hot(gold), one_hot(run)) == pytest.approx(sk.accuracy_score(gold, run))
    if len(in_gold) > 1:
        assert score("mcc", one_hot(gold), one_hot(run)) == pytest.approx(sk.matthews_corrcoef(gold, run), abs=1e-12)
        assert score("kappa", one_hot(gold), one_hot(run)) == pytest.approx(sk.cohen_kappa_score(gold, run), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(2, 40), in_gold=st.integers(2, 4))
def test_correlation_of_tables_and_labels_where_the_gold_lacks_values(seed: int, items: int, in_gold: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.integers(0, in_gold, items), rng.integers(0, 4, items)
    if len(np.unique(gold)) == 1:
        return  # the metric is undefined
    theirs = sk.matthews_corrcoef(gold, run)
    spec = MetricSpec("mcc")
    labels = compare(LoadedGold(matrix(one_hot(gold))), matrix(one_hot(run)))
    table = compare(LoadedGold(matrix(gold[:, None])), matrix(run[:, None]))
    declared = compare(LoadedGold(matrix(gold[:, None]), declared={"a": (0, 1, 2, 3)}), matrix(run[:, None]))
    for comparison in (labels, table, declared):
        assert compute(comparison, spec) == pytest.approx(theirs, abs=1e-12)
    for comparison in (labels, declared):
        parts = contributions(comparison, spec)
        assert parts is not None
        assert parts.combine(parts.values.sum(axis=0)) == pytest.approx(theirs, abs=1e-12)
    if set(run) - set(gold):
        assert contributions(table, spec) is None


def test_correlation_keeps_unknown_values_apart() -> None:
    gold, run = [1, 1, 1, 0, 0, 0, 0, 1], [1, 1, 2, 0, 0, 0, 3, 3]
    table = score("mcc", [[value] for value in gold], [[value] for value in run])
    labels = score("mcc", one_hot(gold), one_hot(run))
    assert table == labels == pytest.approx(sk.matthews_corrcoef(gold, run), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 40))
def test_several_labels(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.random((2, items, 4)) < 0.4
    assert score("hamming_loss", gold, run) == pytest.approx(sk.hamming_loss(gold, run))
    assert score("jaccard", gold, run) == pytest.approx(
        sk.jaccard_score(gold, run, average="samples", zero_division=1.0)
    )
    assert score("exact_match_ratio", gold, run) == pytest.approx(sk.accuracy_score(gold, run))
    if gold.any():
        for name, theirs in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
            value = theirs(gold, run, average="micro", zero_division=0)
            assert score(f"{name}_micro", gold, run) == pytest.approx(value, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 40))
def test_soft_labels(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.dirichlet([0.5, 0.5, 0.5], (2, items))
    divergence = np.mean(jensenshannon(gold, run, base=2, axis=1) ** 2)
    assert score("jensen_shannon", gold, run) == pytest.approx(divergence, abs=1e-9)
    one = np.eye(3)[rng.integers(0, 3, items)]
    assert score("brier", one, run) == pytest.approx(
        sk.brier_score_loss(one.argmax(axis=1), run, labels=[0, 1, 2], scale_by_half=False)
    )


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 40), base=st.sampled_from([("2", 2.0), ("e", np.e), ("10", 10.0)]))
def test_distances_of_soft_labels(seed: int, items: int, base: tuple[str, float]) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.dirichlet([0.5, 0.5, 0.5], (2, items))
    name, number = base
    rows = list(zip(gold, run, strict=True))
    distances = jensenshannon(gold, run, base=number, axis=1)
    relative = stats.entropy(gold, np.maximum(run, 1e-9), base=number, axis=1)
    surprise = stats.entropy(gold, base=number, axis=1) + stats.entropy(gold, run, base=number, axis=1)
    wanted = {
        "jensen_shannon": distances**2,
        "jensen_shannon_distance": distances,
        "kullback_leibler": relative,
        "soft_cross_entropy": surprise,
    }
    for metric, values in wanted.items():
        options = {"epsilon": "1e-9"} if metric == "kullback_leibler" else {}
        ours = score(metric, gold, run, base=name, **options)
        assert ours == pytest.approx(values.mean(), abs=1e-7 if metric == "kullback_leibler" else 1e-9)
    assert score("manhattan", gold, run) == pytest.approx(np.mean([cityblock(*row) for row in rows]), abs=1e-12)
    moved = [stats.wasserstein_distance(range(3), range(3), *row) for row in rows]
    assert score("wasserstein", gold, run) == pytest.approx(np.mean(moved), abs=1e-12)


@pytest.mark.slow
@settings(max_examples=80)
@given(seed=seeds, items=st.integers(2, 60), levels=st.sampled_from([3, 1000]))
def test_curves_and_their_areas(seed: int, items: int, levels: int) -> None:
    rng = np.random.default_rng(seed)
    gold = np.append([0.0, 1.0], rng.integers(0, 2, items)).reshape(-1, 1)
    run = rng.integers(0, levels, (items + 2, 1)) / levels
    truth, weights = gold[:, 0], run[:, 0]
    assert score("roc_auc", gold, run, "a") == pytest.approx(sk.roc_auc_score(truth, weights), abs=1e-12)
    assert score("average_precision", gold, run, "a") == pytest.approx(sk.average_precision_score(truth, weights))
    comparison = compare(LoadedGold(matrix(gold)), matrix(run))
    assert isinstance(comparison, MatrixComparison)
    curve = roc(comparison, "a")
    assert curve is not None
    for ours, theirs in zip(
        (curve.x, curve.y, curve.thresholds), sk.roc_curve(truth, weights, drop_intermediate=False), strict=True
    ):
        assert ours.tolist() == pytest.approx(theirs.tolist())
    points = precision_recall(comparison, "a")
    assert points is not None
    precision, recall, thresholds = sk.precision_recall_curve(truth, weights)
    assert points.x.tolist() == pytest.approx(recall[::-1].tolist())
    assert points.y.tolist() == pytest.approx(precision[::-1].tolist())
    assert points.thresholds[1:].tolist() == thresholds[::-1].tolist()


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(2, 40), levels=st.sampled_from([3, 100000]), shift=st.sampled_from([0.0, 1e6]))
@pytest.mark.parametrize(
    ("name", "theirs"),
    [
        ("pearson", lambda gold, run: stats.pearsonr(gold, run).statistic),
        ("spearman", lambda gold, run: stats.spearmanr(gold, run).statistic),
        ("kendall", lambda gold, run: stats.kendalltau(gold, run).statistic),
        ("mae", sk.mean_absolute_error),
        ("rmse", sk.root_mean_squared_error),
    ],
)
def test_numbers(name: str, theirs: Callable[..., float], seed: int, items: int, levels: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.integers(0, levels, (2, items)) * 1.0 + shift
    if np.ptp(gold) == 0 or np.ptp(run) == 0:
        if name in ("pearson", "spearman", "kendall"):
            assert score(name, gold[:, None], run[:, None]) is None
        return
    assert score(name, gold[:, None], run[:, None]) == pytest.approx(theirs(gold, run), abs=1e-9)


@pytest.mark.slow
@settings(max_examples=80)
@given(seed=seeds, items=st.integers(1, 60), levels=st.integers(1, 6), tolerance=st.sampled_from([0, 0.5, 1, 2]))
def test_values_with_an_order(seed: int, items: int, levels: int, tolerance: float) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.integers(0, levels, (2, items))
    columns = gold[:, None], run[:, None]
    close = sk.accuracy_score(np.abs(gold - run) <= tolerance, np.ones(items, bool))
    assert score("accuracy_within", *columns, tolerance=str(tolerance)) == pytest.approx(close, abs=1e-12)
    by_value = [sk.mean_absolute_error(gold[gold == value], run[gold == value]) for value in np.unique(gold)]
    assert score("mae_macro", *columns) == pytest.approx(np.mean(by_value), abs=1e-12)
    if len(np.unique([gold, run])) == 1:
        assert score("kappa_quadratic", *columns) is None
        return
    theirs = sk.cohen_kappa_score(gold, run, labels=range(levels), weights="quadratic")
    assert score("kappa_quadratic", *columns) == pytest.approx(theirs, abs=1e-12)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 30), columns=st.integers(1, 4), empty=st.sampled_from(["zero", "one", "skip"]))
def test_mean_f1_of_columns_of_zeros_and_ones(seed: int, items: int, columns: int, empty: str) -> None:
    rng = np.random.default_rng(seed)
    gold, run = (rng.random((2, items, columns)) < rng.random(columns) ** 2).astype(np.int64)
    division = {"zero": 0.0, "one": 1.0, "skip": np.nan}[empty]
    theirs = sk.f1_score(gold, run, average=None, zero_division=division).reshape(-1)[-columns:]
    if columns == 1:
        theirs = np.array([sk.f1_score(gold[:, 0], run[:, 0], average="binary", zero_division=division)])
    ours = score("f1_positive_mean", gold, run, empty=empty)
    defined = theirs[~np.isnan(theirs)]
    assert ours == (pytest.approx(defined.mean(), abs=1e-12) if len(defined) else None)


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 40))
def test_distances_on_the_globe(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = rng.uniform([-90, -180], [90, 180], (2, items, 2))
    run[0] = gold[0]
    theirs = 6371.0088 * np.diag(haversine_distances(np.radians(gold), np.radians(run)))
    columns = {"latitude": "a", "longitude": "b"}
    assert score("haversine_mean", gold, run, **columns) == pytest.approx(theirs.mean(), abs=1e-9)
    assert score("haversine_median", gold, run, **columns) == pytest.approx(np.median(theirs), abs=1e-9)
    near = np.mean(theirs <= 5000)
    assert score("accuracy_within_km", gold, run, km="5000", **columns) == pytest.approx(near, abs=1e-12)
    miles = score("haversine_mean", gold, run, radius="3958.7613", **columns)
    assert miles == pytest.approx(theirs.mean() / 1.609344, rel=1e-6)
