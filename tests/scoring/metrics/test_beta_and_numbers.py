"""F with a beta, errors over several columns, R² and marked characters, compared with scikit-learn."""

from collections.abc import Callable

import numpy as np
import pytest
from sklearn import metrics as sk

from scoring.answers import Spans
from scoring.definition import MetricSpec
from scoring.metrics import METRICS, LoadedGold, compare, compute, contributions, describe
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.examples import read_answers
from tests.scoring.metrics.test_against_scipy_and_sklearn import matrix, one_hot, score

SEEDS = range(120)
Differences = dict[str, float]


@pytest.fixture(scope="module")
def compared(pytestconfig: pytest.Config) -> Callable[..., None]:
    def check(largest: Differences) -> None:
        with pytestconfig.pluginmanager.getplugin("capturemanager").global_and_fixture_disabled():
            print("\nlargest differences:", ", ".join(f"{name} {most:.1e}" for name, most in largest.items()))
        assert max(largest.values()) <= 1e-9, largest

    return check


def note(largest: Differences, name: str, ours: float | None, theirs: float) -> None:
    assert ours is not None, name
    largest[name] = max(largest.get(name, 0.0), abs(ours - float(theirs)))


@pytest.mark.slow
def test_f_beta_of_labels_as_in_sklearn(compared: Callable[..., None]) -> None:
    largest: Differences = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        gold, run = rng.integers(0, rng.integers(1, 5), (2, rng.integers(1, 30)))
        beta = float(rng.choice([0.0, 0.5, 1.0, 2.0, 10.0]))
        for average in ("macro", "micro", "weighted"):
            labels = np.unique(gold) if average == "macro" else None
            theirs = sk.fbeta_score(gold, run, beta=beta, labels=labels, average=average, zero_division=0)
            ours = score(f"f1_{average}", one_hot(gold), one_hot(run), beta=str(beta))
            note(largest, f"f1_{average}", ours, theirs)
        theirs = sk.fbeta_score(gold, run, beta=beta, labels=[gold[0]], average=None, zero_division=0)[0]
        note(largest, "f1", score("f1", one_hot(gold), one_hot(run), "abcd"[gold[0]], beta=str(beta)), theirs)
    compared(largest)


@pytest.mark.slow
def test_f_beta_of_rankings_is_that_of_precision_and_recall(compared: Callable[..., None]) -> None:
    """The number of relevant documents among the first k is a set, so sklearn can score it as labels."""
    largest: Differences = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        names = rng.permutation(12)
        wanted, found = rng.random(12) < 0.5, [str(name) for name in names[: rng.integers(5, 12)]]
        wanted[0] = True
        beta, k = float(rng.choice([0.5, 2.0, 3.0])), int(rng.integers(1, 5))
        sides = [
            {"q": ", ".join(f"{name} {int(is_wanted)}" for name, is_wanted in enumerate(wanted))},
            {"q": ", ".join(f"{name} {-rank}" for rank, name in enumerate(found))},
        ]
        first = np.isin(np.arange(12), [int(name) for name in found[:k]])
        theirs = sk.fbeta_score(wanted, first, beta=beta, zero_division=0)
        gold, run = (read_answers("rankings", side) for side in sides)
        note(largest, "f1_at", value(f"f1_at:{k}", gold, run, beta=str(beta)), theirs)
    compared(largest)


def test_headings_name_the_beta() -> None:
    info = describe(MetricSpec("f1_macro", None, {"beta": "0.5"}))
    assert (info.title, info.short) == ("Macro F0.5", "Macro F0.5")
    assert "(1 + β²) · hits / (predicted + β² · actual), β = 0.5" in info.formula
    assert describe(MetricSpec("f1_at", "5", {"beta": "2"})).title == "F2 at 5"
    for name in ("f1", "f1_macro", "f1_at"):
        plain = describe(MetricSpec(name))
        assert (plain.title, plain.short, plain.formula) == (
            METRICS[name].title,
            METRICS[name].short,
            METRICS[name].formula,
        )


@pytest.mark.slow
def test_success_with_the_best_documents_as_sets() -> None:
    """Count as TSAR 2022 does: the first k documents include one with the highest count in the gold."""
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        gold, run, hits, k = {}, {}, 0, int(rng.integers(1, 5))
        for query in range(rng.integers(1, 6)):
            counts = {f"d{name}": int(rng.integers(1, 4)) for name in rng.permutation(9)[: rng.integers(1, 6)]}
            found = [f"d{name}" for name in rng.permutation(9)[: rng.integers(0, 9)]]
            best = {name for name, count in counts.items() if count == max(counts.values())}
            hits += bool(best & {*found[:k]})
            gold[str(query)] = ", ".join(f"{name} {count}" for name, count in counts.items())
            run[str(query)] = ", ".join(f"{name} {-rank}" for rank, name in enumerate(found))
        sides = read_answers("rankings", gold), read_answers("rankings", run)
        assert value(f"success_best_at:{k}", *sides) == pytest.approx(hits / len(gold), abs=1e-12)
    irrelevant = read_answers("rankings", {"q": "d1 0, d2 0"})
    assert value("success_best_at:1", irrelevant, irrelevant) == 0


@pytest.mark.slow
def test_numbers_as_in_sklearn(compared: Callable[..., None]) -> None:
    largest: Differences = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        shift, scale = rng.choice([0.0, 1e3, -50.0]), rng.choice([1e-3, 1.0, 100.0])
        gold, run = rng.integers(0, 9, (2, rng.integers(2, 30), 3)) * scale + shift
        theirs = sk.root_mean_squared_error(gold.ravel(), run.ravel())
        note(largest, "rmse_columns", score("rmse_columns", gold, run), theirs)
        theirs = sk.root_mean_squared_error(gold[:, [0, 2]].ravel(), run[:, [0, 2]].ravel())
        note(largest, "rmse_columns:a+c", score("rmse_columns", gold, run, "a+c"), theirs)
        distances = np.linalg.norm(gold - run, axis=1)
        theirs = sk.root_mean_squared_error(np.zeros(len(gold)), distances)
        note(largest, "rmse_columns per item", score("rmse_columns", gold, run, per="item"), theirs)
        if np.ptp(gold[:, 1]) > 0:
            note(largest, "r2", score("r2", gold, run, "b"), sk.r2_score(gold[:, 1], run[:, 1]))
        else:
            assert score("r2", gold, run, "b") is None
    compared(largest)


def test_unjudged_cells_do_not_count() -> None:
    gold, run = (
        read_answers("table", {"1": "x 1, y ?", "2": "x 3, y 2", "3": "x ?, y ?"}),
        read_answers("table", {"1": "x 2, y 9", "2": "x 3, y 4", "3": "x 9, y 9"}),
    )
    assert value("rmse_columns", gold, run) == pytest.approx(np.sqrt((1 + 0 + 4) / 3))
    assert value("rmse_columns", gold, run, per="item") == pytest.approx(np.sqrt((1 + 4) / 2))
    assert value("r2:x", gold, run) == 1 - 1 / 2


def test_samples_of_the_squares_are_those_of_the_numbers() -> None:
    rng = np.random.default_rng(5)
    gold, run = rng.normal(7, 2, (2, 25, 1))
    parts = contributions(compare(LoadedGold(matrix(gold)), matrix(run)), MetricSpec("r2"))
    assert parts is not None
    for _ in range(20):
        rows = rng.integers(0, 25, 25)
        found = parts.combine(np.bincount(rows, minlength=25) @ parts.values)
        assert found == pytest.approx(sk.r2_score(gold[rows, 0], run[rows, 0]), abs=1e-9)


def marked(characters: np.ndarray) -> Spans:
    offsets = [np.flatnonzero(row) for row in characters]
    starts = np.cumsum([0, *map(len, offsets)])
    return Spans.of_offsets([str(row) for row in range(len(characters))], np.concatenate(offsets), starts)


@pytest.mark.slow
def test_characters_as_in_sklearn(compared: Callable[..., None]) -> None:
    largest: Differences = {}
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        gold, run = rng.random((2, rng.integers(1, 8), rng.integers(1, 40))) < rng.choice([0.02, 0.3, 0.9])
        sides = marked(gold), marked(run)
        iou = [sk.jaccard_score(*pair, zero_division=1.0) for pair in zip(gold, run, strict=True)]
        note(largest, "span_iou", value("span_iou", *sides), np.mean(iou))
        note(largest, "span_precision_micro", value("span_precision_micro", *sides), sk.precision_score(
            gold.ravel(), run.ravel(), zero_division=0
        ))  # fmt: skip
        if gold.any():
            for name, function in (("recall", sk.recall_score), ("f1", sk.f1_score)):
                theirs = function(gold.ravel(), run.ravel(), zero_division=0)
                note(largest, f"span_{name}_micro", value(f"span_{name}_micro", *sides), theirs)
        else:
            assert value("span_f1_micro", *sides) is value("span_recall_micro", *sides) is None
    compared(largest)


def test_characters_marked_twice_count_once() -> None:
    gold = Spans(["1"], np.array([0, 2]), np.array([4, 6]), np.array([0, 2]))
    run = Spans(["1"], np.array([3, 3, 3]), np.array([5, 7, 2**50]), np.array([0, 3]))
    assert value("span_iou", gold, run) == pytest.approx(3 / 2**50)
    assert compute(compare(LoadedGold(gold), run), MetricSpec("span_recall_micro")) == 1 / 2
