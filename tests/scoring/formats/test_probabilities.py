"""Optional columns of a table with the probability that a value is 1, and the ROC curves drawn from them."""

import json
from pathlib import Path

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score, roc_curve

from scoring.analysis.details import CELLS_A_SEGMENT, DECIMALS, SEGMENTS, details
from scoring.answers import Matrix, joined
from scoring.definition import Track
from scoring.definition.tracks import FORMAT
from scoring.definition.yaml_values import parse_document
from scoring.formats import FORMATS, read_gold, read_run, write_run
from scoring.items.index import ItemIndex
from scoring.metrics import LoadedGold, compare
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.curves import area_under, roc_of_probabilities
from scoring.reports.problems import Report
from tests.scoring.formats.test_writing import track

OPTIONS = {"id": "id", "columns": ["a", "b"], "probabilities": {"a": "p_a", "b": "p_b"}}
HEADER = "id,a,b,p_a,p_b\n"


@pytest.fixture
def where() -> Track:
    return track("table", **OPTIONS)


def read(where: Track, text: str, optional: tuple[str, ...] = ()) -> tuple[Matrix | None, Report]:
    report = Report()
    found = read_run(where, text.encode(), report, items=ItemIndex(["1", "2"]), optional=optional)
    assert found is None or isinstance(found, Matrix)
    return found, report


def test_a_run_has_all_columns_or_none(where: Track) -> None:
    found, report = read(where, HEADER + "1,0,1,0.25,0.75\n2,1,1,1,0\n")
    assert (found is not None, list(report)) == (True, [])
    assert found is not None
    assert found.probabilities is not None
    assert found.probabilities.tolist() == [[0.25, 0.75], [1, 0]]
    without, report = read(where, "id,a,b\n1,0,1\n2,1,1\n")
    assert without is not None
    assert (without.probabilities, list(report)) == (None, [])
    nothing, report = read(where, "id,a,b,p_b\n1,0,1,0.5\n2,1,1,0.5\n")
    assert nothing is None
    assert [(one.code, one.places) for one in report] == [("header-column-missing", ("p_a",))]


@pytest.mark.parametrize(
    ("cell", "code"),
    [
        ("1.5", "value-outside-domain"),
        ("-0.1", "value-outside-domain"),
        ("nan", "value-not-a-number"),
        ("", "value-missing"),
    ],
)
def test_wrong_probabilities(where: Track, cell: str, code: str) -> None:
    found, report = read(where, HEADER + f"1,0,1,0.25,0.75\n2,1,1,{cell},0\n")
    assert found is None
    assert [(one.code, one.line, one.column) for one in report] == [(code, 3, 4)]


def test_optional_items_need_probabilities_too(where: Track) -> None:
    found, report = read(where, HEADER + "1,0,1,0.25,0.75\n2,1,1,0,0\n3,0,0,,\n", ("3",))
    assert found is None
    assert [one.code for one in report] == ["value-missing"]


def test_gold_files_have_none(where: Track) -> None:
    found = read_gold(where, (HEADER + "1,0,1,2,x\n").encode(), where.format, Report())
    assert isinstance(found, Matrix)
    assert found.probabilities is None


def test_what_is_written_is_read_again(where: Track, tmp_path: Path) -> None:
    found, _ = read(where, HEADER + "1,0,1,0.25,0.75\n2,1,1,1.0,0.0\n")
    assert found is not None
    write_run(where, found, tmp_path / "run.csv")
    again, report = read(where, (tmp_path / "run.csv").read_text())
    assert (again is not None, list(report)) == (True, [])
    assert again is not None
    assert again.probabilities is not None
    assert found.probabilities is not None
    assert again.probabilities.tolist() == found.probabilities.tolist()


@pytest.mark.parametrize(
    ("changed", "place"),
    [
        ({"probabilities": {"c": "p_c"}}, "probabilities.c"),
        ({"probabilities": {"a": "b"}}, "probabilities.a"),
        ({"probabilities": {"a": "p", "b": "p"}}, "probabilities.a"),
        ({"header": "none"}, "probabilities"),
    ],
)
def test_wrong_declarations(changed: dict[str, object], place: str) -> None:
    report = Report()
    value = parse_document(json.dumps({"kind": "table", **OPTIONS, **changed}), report, formats=FORMATS)
    assert value is not None
    FORMAT.read(value)
    assert place in [one.item for one in report.errors]


def compared(truth: np.ndarray, weights: np.ndarray, kept: int | None = None) -> MatrixComparison:
    """Compare a run of `kept` items with a gold standard whose last item has no labels."""
    ids = [str(row) for row in range(len(truth) + 1)]
    absent = np.zeros((len(ids), 2), bool)
    absent[-1] = True
    gold = Matrix(ids, ("a", "b"), np.vstack([truth, [[0, 0]]]), absent)
    given = np.vstack([weights, [[0.5, 0.5]]])
    run = Matrix(ids, ("a", "b"), (given > 0.5).astype(int), probabilities=given)
    if kept is not None:
        rows = np.arange(kept)
        run = run.select(rows, [ids[row] for row in rows])
    found = compare(LoadedGold(gold), run)
    assert isinstance(found, MatrixComparison)
    return found


@pytest.mark.parametrize("seed", range(4))
def test_the_area_over_all_columns_is_scikit_learns(seed: int) -> None:
    random = np.random.default_rng(seed)
    truth = (random.random((80, 2)) < 0.4).astype(int)
    weights = np.clip(truth * 0.3 + random.random((80, 2)) * 0.7, 0, 1).round(2)  # with ties
    curve = roc_of_probabilities(compared(truth, weights))
    assert curve is not None
    assert area_under(curve) == pytest.approx(roc_auc_score(truth.ravel(), weights.ravel()), abs=1e-12)
    x, y, _ = roc_curve(truth.ravel(), weights.ravel(), drop_intermediate=False)
    assert np.allclose(curve.x, x)
    assert np.allclose(curve.y, y)


def test_missing_items_come_last() -> None:
    random = np.random.default_rng(9)
    truth, weights = (random.random((40, 2)) < 0.5).astype(int), random.random((40, 2))
    curve = roc_of_probabilities(compared(truth, weights, kept=30))
    weights[30:] = -1
    assert curve is not None
    assert area_under(curve) == pytest.approx(roc_auc_score(truth.ravel(), weights.ravel()))
    assert roc_of_probabilities(compared(truth, weights, kept=0)) is None


def cells_in_segments(points: list[tuple[float, float]], truth: np.ndarray) -> list[int]:
    """Return the number of cells in each segment of a ROC curve."""
    totals = np.array([(truth == 0).sum(), (truth == 1).sum()])
    return [round(cells) for cells in (np.diff(points, axis=0) * totals).sum(axis=1)]


def test_curves_have_few_long_segments() -> None:
    random = np.random.default_rng(3)
    truth, weights = (random.random((100, 2)) < 0.4).astype(int), random.random((100, 2))
    found = details(compared(truth, weights), ())["probabilities"]
    assert cells_in_segments(found["roc"], truth) == [20] * SEGMENTS
    assert (found["roc"][0], found["roc"][-1]) == ((0, 0), (1, 1))
    x, y, _ = roc_curve(truth.ravel(), weights.ravel(), drop_intermediate=False)
    whole = set(zip(x.round(DECIMALS).tolist(), y.round(DECIMALS).tolist(), strict=True))
    assert set(found["roc"]) <= whole
    few = details(compared(truth[:4], weights[:4]), ())["probabilities"]
    assert few["roc"] == [(0, 0), (1, 1)]
    assert "probabilities" not in details(compared(np.ones((9, 2), int), weights[:9]), ())


def test_a_curve_does_not_reveal_the_labels_of_chosen_items() -> None:
    """Each chosen item has a probability of its own, but permuting their labels does not change the curve."""
    random = np.random.default_rng(5)
    truth, weights = (random.random((1000, 2)) < 0.5).astype(int), np.zeros((1000, 2))
    chosen = slice(0, 95)
    weights[chosen, 0] = np.linspace(1, 0.9, 95)
    curves = [details(compared(truth, weights), ())["probabilities"]["roc"]]
    truth[chosen, 0] = np.sort(truth[chosen, 0])
    curves.append(details(compared(truth, weights), ())["probabilities"]["roc"])
    assert curves[0] == curves[1]


@pytest.mark.parametrize("seed", range(20))
def test_every_segment_covers_a_tenth_of_the_cells_whatever_the_steps_are(seed: int) -> None:
    random = np.random.default_rng(seed)
    items = int(random.integers(2, 400))
    truth = (random.random((items, 2)) < 0.5).astype(int)
    truth[0] = [0, 1]
    weights = (random.random((items, 2)) ** random.integers(1, 30)).round(int(random.integers(1, 6)))
    cells = cells_in_segments(details(compared(truth, weights), ())["probabilities"]["roc"], truth)
    assert sum(cells) == 2 * items
    assert len(cells) == 1 or min(cells) >= max(CELLS_A_SEGMENT, 2 * items / SEGMENTS)


def test_only_cells_with_probabilities_count() -> None:
    random = np.random.default_rng(7)
    truth, weights = (random.random((60, 2)) < 0.5).astype(int), random.random((60, 2))
    weights[:, 1] = np.nan
    found = details(compared(truth, weights), ())["probabilities"]["roc"]
    assert cells_in_segments(found, truth[:, 0]) == [10] * 6


def test_runs_of_several_files_keep_their_probabilities(where: Track) -> None:
    found, _ = read(where, HEADER + "1,0,1,0.25,0.75\n2,1,1,1,0\n")
    plain, _ = read(where, "id,a,b\n1,0,1\n2,1,1\n")
    assert found is not None
    assert plain is not None
    both, mixed = joined({"x": found, "y": found}), joined({"x": found, "y": plain})
    assert isinstance(both, Matrix)
    assert isinstance(mixed, Matrix)
    assert both.probabilities is not None
    assert both.probabilities[2:].tolist() == [[0.25, 0.75], [1, 0]]
    assert mixed.probabilities is None
