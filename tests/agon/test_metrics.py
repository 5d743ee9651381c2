"""`agon.compute` and `agon.score_many`: answers in memory get the same scores as a run file."""

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, f1_score, precision_score, recall_score

import agon
from agon import frames
from scoring import Definition, load_definition, score
from scoring.metrics.registry import UnknownMetricError
from tests.conftest import ROOT

GOLD, RUN = ["YES", "YES", "NO", "MAYBE"], ["YES", "NO", "NO", "NO"]
TINY = ROOT / "tests/portal/tiny_task"


@pytest.mark.parametrize(
    "make",
    [
        list,
        tuple,
        np.array,
        pd.Series,
        lambda values: pd.DataFrame({"label": values}),
        lambda values: dict(zip("abcd", values, strict=True)),
        lambda values: [[one] for one in values],
        lambda values: [{one} for one in values],
    ],
)
def test_labels_in_any_form(make: Any) -> None:
    found = agon.compute(["accuracy", "f1:YES", "f1_macro"], predictions=make(RUN), references=make(GOLD))
    macro = f1_score(GOLD, RUN, average="macro", zero_division=0)
    assert found == pytest.approx({"accuracy": accuracy_score(GOLD, RUN), "f1:YES": 2 / 3, "f1_macro": macro})


@pytest.mark.parametrize(
    ("name", "function"), [("precision", precision_score), ("recall", recall_score), ("f1", f1_score)]
)
def test_averages_over_the_classes_that_occur_equal_those_of_sklearn(name: str, function: Any) -> None:
    gold, run = ["A", "A"], ["A", "B"]
    expected = function(gold, run, average="macro", zero_division=0)
    found = agon.compute(f"{name}_macro", predictions=run, references=gold, over="seen")
    assert found == pytest.approx(expected)
    declared = agon.compute(
        f"{name}_macro", predictions=run, references=gold, over="declared", classes=["A", "B", "C", "D"]
    )
    assert declared == pytest.approx(expected / 2)
    entities = [[(0, 1, label)] for label in gold], [[(0, 1, label)] for label in run]
    by_type = agon.compute(f"entity_{name}_macro", predictions=entities[1], references=entities[0], over="seen")
    assert by_type == pytest.approx(expected)


def test_predictions_for_other_items_add_no_classes() -> None:
    gold, run = {"a": "A", "b": "B"}, {"a": "A", "b": "B", "z": "Z"}
    assert agon.compute("f1_macro", predictions=run, references=gold, over="seen") == 1


def test_types_that_pandas_or_json_change_do_not_matter() -> None:
    assert agon.compute("accuracy", predictions=pd.Series([1, None, 0]), references=[1, 1, 0]) == pytest.approx(2 / 3)
    whole = agon.compute("brier", predictions=[{"A": 1, "B": 0}], references=[{"A": 0, "B": 1}])
    assert whole == agon.compute("brier", predictions=[{"A": 1.0, "B": 0.0}], references=[{"A": 0.0, "B": 1.0}])
    frame = pd.DataFrame({"HS": [1, 0, None], "TR": [0, 0, 1]})
    assert agon.compute("f1_macro:HS", predictions=frame, references=frame) == 1


def test_rankings() -> None:
    gold = [{"d1": 2, "d2": 0, "d3": 1}, ["d4"]]
    assert agon.compute("map", predictions=[["d1", "d3"], ["d4"]], references=gold) == 1
    assert agon.compute("mrr", predictions=[{"d2": 0.9, "d1": 0.8}, []], references=gold) == pytest.approx(1 / 4)


def test_dictionaries_and_series_are_aligned_by_id() -> None:
    gold = {"a": "YES", "b": "NO", "c": "NO"}
    run = {"c": "NO", "z": "YES", "a": "YES"}
    assert agon.compute("accuracy", predictions=run, references=gold) == pytest.approx(2 / 3)
    assert agon.compute("accuracy", predictions=pd.Series(run), references=pd.Series(gold)) == pytest.approx(2 / 3)
    assert agon.compute("accuracy", predictions=["YES", "NO", "NO"], references=gold) == 1
    assert agon.compute("accuracy", predictions=["YES", None, float("nan")], references=gold) == pytest.approx(1 / 3)


def test_numbers() -> None:
    gold, run = [0.1, 0.5, 0.9], np.array([0.2, 0.5, 0.6])
    assert agon.compute("pearson", predictions=run, references=gold) == pytest.approx(np.corrcoef(run, gold)[0, 1])
    assert agon.compute("mae", predictions=[1, 2, 3], references=[1, 3, 3]) == pytest.approx(1 / 3)
    assert agon.compute("f1:1", predictions=[1, 0, 1], references=[1, 1, 1]) == pytest.approx(0.8)


def test_weights_and_frames_of_them() -> None:
    gold, run = [{"YES": 0.75, "NO": 0.25}], [{"YES": 0.5, "NO": 0.5}]
    by_rows = agon.compute("cross_entropy", predictions=run, references=gold)
    assert by_rows == 1
    assert agon.compute("cross_entropy", predictions=pd.DataFrame(run), references=pd.DataFrame(gold)) == by_rows


def test_several_labels_flags_and_spans() -> None:
    gold, run = [["A"], ["A", "B"], []], [["A", "B"], ["B"], []]
    assert agon.compute("f1:A", predictions=run, references=gold) == pytest.approx(2 / 3)
    flags = [pd.DataFrame([{"A": "A" in one, "B": "B" in one} for one in rows]) for rows in (run, gold)]
    assert agon.compute("f1:A", predictions=flags[0], references=flags[1]) == pytest.approx(2 / 3)
    spans = agon.compute("span_f1", predictions=[[(0, 3)], []], references=[[(1, 3)], []])
    assert spans == pytest.approx(0.9)


@pytest.mark.parametrize(
    ("metric", "run", "gold", "said"),
    [
        ("accuracy", ["A"], ["A", "B"], r"predictions \(1\) and references \(2\) differ"),
        ("accuracy", ["A", "B"], ["A", None], "The reference of item 1 is missing"),
        ("pearson", ["A"], ["A"], "supports"),
        ("mae", ["A"], [1], "every prediction must be a "),
        ("cross_entropy", ["A"], [{"A": 1.0}], "every prediction must be a "),
        ("span_f1", [[(3, 1)]], [[(1, 3)]], "is not a span"),
        ("entity_f1", [[(0, 2, "A")]], [[(0, 2)]], "triple of start, end and type"),
        ("entity_f1", [[(2, 2, "A")]], [[(0, 2, "A")]], "is not a span"),
        ("entity_f1_surface", [[(0, 2, "A")]], [[(0, 2, "A")]], "require the item texts"),
        ("tuple_f1", [[("a",)]], [[("a", "b")]], "is not a tuple of 2 values"),
        ("tuple_f1", [["ab"]], [[("a", "b")]], "is not a tuple of 2 values"),
        ("tuple_f1", [[{"z": "a"}]], [[{"x": "a"}]], "has the column z; the columns are x"),
        ("tuple_f1:z", [[{"x": "a"}]], [[{"x": "a"}]], "z is not one of x"),
        ("haversine_mean", [{"x": 1.0}], [{"x": 1.0}], "requires the latitude option"),
        ("f1", ["A"], ["A"], "requires a class"),
        ("accuracy", pd.Series(["A", "B"], ["x", "x"]), pd.Series(["A", "B"]), "Item x appears twice"),
        ("accuracy", [object()], [object()], "not object"),
        ("accuracy:B", ["A"], ["A"], "does not accept a class or column"),
        ("accuracy", [{"x": 1, "y": 0}], [{"x": 1, "y": 0}], "requires a class or column, such as accuracy:x"),
        ("precision_at:no", [["a"]], [["a"]], "must be a whole number"),
        ("map", [["a", "a"]], [["a"]], "Document a appears twice"),
        ("map", ["a"], [["a"]], "must be a list or a mapping of documents"),
    ],
)
def test_what_does_not_fit_is_said(metric: str, run: Any, gold: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        agon.compute(metric, predictions=run, references=gold)


@pytest.mark.parametrize(
    ("metric", "given", "said"),
    [
        ("f1_macro", {"over": "sen"}, "over must be one of gold, seen, declared, not sen"),
        ("f1_macro", {"bins": 3}, "f1_macro has no option bins"),
        ("f1_macro", {"classes": ["A"]}, "B is not one of the classes A"),
        ("f1_macro", {"classes": "AB"}, "classes must be a list"),
        ("f1:C", {"classes": ["A", "B"]}, "C is not one of A, B"),
        ("exact_match", {"classes": ["A", "B"]}, "classes applies only to"),
    ],
)
def test_invalid_options_and_classes_are_said(metric: str, given: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        agon.compute(metric, predictions=["A", "B"], references=["A", "A"], **given)


def test_values_of_a_table_are_checked() -> None:
    table = [{"x": 1}, {"x": 2}]
    assert agon.compute("f1_macro", predictions=table, references=table, classes={"x": [0, 1, 2]}, over="declared") == (
        pytest.approx(2 / 3)
    )
    with pytest.raises(ValueError, match="2 is not one of the classes of x: 0, 1"):
        agon.compute("f1_macro", predictions=table, references=table, classes=[0, 1])


def test_tuples_and_entities() -> None:
    gold = [[("food", "good"), ("staff", "bad")], []]
    assert agon.compute("tuple_f1", predictions=[[("food", "good")], []], references=gold) == pytest.approx(2 / 3)
    assert agon.compute("tuple_f1:1", predictions=[[("food", "bad")], []], references=gold) == pytest.approx(2 / 3)
    named = {"a": [{"what": "food", "how": "good"}], "b": []}
    assert agon.compute("tuple_f1_macro", predictions={"a": [{"what": "food"}]}, references=named, by="how") == 0
    assert agon.compute("tuple_f1:what", predictions={"a": [{"what": "food"}]}, references=named) == 1
    entities = [[(0, 3, "PER"), (8, 12, "LOC")], [(0, 3, "PER")]]
    run = [[(0, 3, "PER")], [(0, 3, "LOC")]]
    assert agon.compute("entity_f1", predictions=run, references=entities) == pytest.approx(2 / 5)
    assert agon.compute("entity_f1:PER", predictions=run, references=entities) == pytest.approx(2 / 3)
    texts = ["Ana and Rome", "Ana"]
    found = agon.compute("entity_recall_surface", predictions=run, references=entities, texts=texts)
    assert found == 1 / 2  # one of the two surface forms, Ana and Rome, was found
    by_id = {"x": entities[0], "y": entities[1]}, {"y": run[1], "x": run[0]}
    swapped = {"y": texts[1], "x": texts[0]}
    again = agon.compute("entity_recall_surface", predictions=by_id[1], references=by_id[0], texts=swapped)
    assert again == found


def test_another_metric() -> None:
    with pytest.raises(UnknownMetricError, match="did you mean accuracy"):
        agon.compute("acuracy", predictions=RUN, references=GOLD)


@pytest.fixture
def task() -> Definition:
    return load_definition(TINY)


def test_many_runs_are_scored_with_one_gold(task: Definition) -> None:
    runs = [TINY / "baselines/one_yes.json", TINY / "gold/one.json"]
    found = agon.score_many(runs, task=TINY, track="one", gold=TINY / "gold/one.json")
    assert {name: one.scores for name, one in found.items()} == {
        path.name: score(task, "one", path, TINY / "gold/one.json").scores for path in runs
    }
    frame = found.to_pandas()
    assert list(frame.index) == ["one_yes.json", "one.json"]
    assert frame.loc["one.json", "accuracy"] == 1
    named = agon.score_many({"gold": runs[1]}, task=task, track="one", gold=TINY / "gold/one.json")
    assert (list(named), len(named), named["gold"].report.ok) == (["gold"], 1, True)


def test_data_become_a_dataset_where_the_package_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data.csv").write_text("id,text\n1,a\n2,b\n")
    data = frames.read(tmp_path / "data.csv")
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(ImportError, match="pip install datasets"):
        data.to_datasets()
    stand_in: Any = ModuleType("datasets")
    stand_in.Dataset = type("Dataset", (), {"from_pandas": lambda frame, preserve_index: (type(frame), preserve_index)})
    monkeypatch.setitem(sys.modules, "datasets", stand_in)
    assert data.to_datasets() == (pd.DataFrame, False)
    assert data.set_index("id").__class__ is pd.DataFrame
    assert frames.TaskData(data.set_index("id")).to_datasets() == (pd.DataFrame, True)


def test_a_function_stays_one_after_its_first_call() -> None:
    for _ in range(2):
        assert agon.compute("accuracy", predictions=["A"], references=["A"]) == 1
        assert callable(agon.score_many)
