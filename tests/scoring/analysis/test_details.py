import json

import numpy as np
from sklearn.metrics import roc_curve

from scoring.analysis.details import CLASSES, COLUMNS, DECIMALS, SEGMENTS, details, field_details
from scoring.answers import Answers, Matrix, Spans
from scoring.metrics import LoadedGold, compare


def of(gold: Answers, run: Answers) -> dict[str, object]:
    found = details(compare(LoadedGold(gold), run), ())
    assert json.loads(json.dumps(found, allow_nan=False)) == json.loads(json.dumps(found))
    return json.loads(json.dumps(found))


def matrix(values: np.ndarray, columns: tuple[str, ...]) -> Matrix:
    return Matrix([str(row) for row in range(len(values))], columns, values)


def test_labels_have_a_table_by_class_and_a_confusion_matrix() -> None:
    gold, run = np.eye(2, dtype=bool)[[0, 0, 1, 1]], np.eye(2, dtype=bool)[[0, 1, 1, 1]]
    (found,) = of(matrix(gold, ("NO", "YES")), matrix(run, ("NO", "YES")))["classes"]
    assert found["column"] is None
    assert found["confusion"] == {"classes": ["NO", "YES"], "counts": [[1, 1], [0, 2]]}
    assert found["lines"][1] == {
        "name": "YES", "gold": 2, "run": 3, "both": 2, "precision": 2 / 3, "recall": 1.0, "f1": 0.8,
    }  # fmt: skip


def test_several_labels_have_no_confusion_matrix() -> None:
    gold = np.array([[True, True], [False, True]])
    (found,) = of(matrix(gold, ("A", "B")), matrix(gold, ("A", "B")))["classes"]
    assert found["confusion"] is None
    assert [line["both"] for line in found["lines"]] == [1, 2]


def test_each_column_of_a_table_has_its_own() -> None:
    values = np.array([[0, 1], [1, 1]])
    found = of(matrix(values, ("HS", "TR")), matrix(values, ("HS", "TR")))["classes"]
    assert [one["column"] for one in found] == ["HS", "TR"]
    assert found[0]["confusion"] == {"classes": ["0", "1"], "counts": [[1, 0], [0, 1]]}


def test_measurements_are_not_classes() -> None:
    values = np.arange(CLASSES + 1)[:, None]
    assert of(matrix(values, ("degree",)), matrix(values, ("degree",))) == {"classes": []}


def test_weights_have_points_of_the_curve_that_scikit_learn_draws() -> None:
    random = np.random.default_rng(1)
    truth = random.random(60) < 0.4
    weights = random.random(60).round(1)  # with ties
    gold = np.stack([1 - truth, truth], axis=1).astype(float)
    run = np.stack([1 - weights, weights], axis=1)
    found = of(matrix(gold, ("NO", "YES")), matrix(run, ("NO", "YES")))["curves"][1]
    x, y, _ = roc_curve(truth, weights, drop_intermediate=False)
    assert found["name"] == "YES"
    distances = np.abs(np.array(found["roc"])[:, None] - np.stack([x, y], axis=1)).max(axis=2)
    assert len(found["roc"]) > 3
    assert distances.min(axis=1).max() <= 10**-DECIMALS / 2


def test_curves_have_few_segments_and_keep_their_ends() -> None:
    random = np.random.default_rng(2)
    truth, weights = random.random(5000) < 0.5, random.random(5000)
    gold, run = truth.astype(float)[:, None], weights[:, None]
    (found,) = of(matrix(gold, ("YES",)), matrix(run, ("YES",)))["curves"]
    assert len(found["roc"]) == SEGMENTS + 1
    assert found["roc"][0] == [0, 0]
    assert found["roc"][-1] == [1, 1]


def test_spans_have_none() -> None:
    spans = Spans.of_offsets(["1"], np.array([3]), np.array([0, 1]))
    assert of(spans, spans) == {}


def labelled(letters: str) -> Matrix:
    return matrix(np.array([[name == letter for name in "NY"] for letter in letters]), ("N", "Y"))


def test_a_field_says_how_hard_items_are_and_how_far_runs_differ() -> None:
    gold = LoadedGold(labelled("NNYY"))
    runs = {"a": "NNYN", "b": "NYYN", "c": "NNNN"}
    found = field_details({name: compare(gold, labelled(letters)) for name, letters in runs.items()})
    assert json.loads(json.dumps(found)) == {
        "labels": {
            "classes": ["N", "Y"],
            "items": 4,
            "counts": [2, 2],
            "together": [[2, 0], [0, 2]],
            "sizes": [0, 4],
            "slices": {},
        },
        "difficulty": [1, 0, 2, 1],  # one item answered correctly by no run, two by two runs, one by all
        "missed": [
            {
                "best": 3,
                "runs": ["a", "b", "c"],
                "missed": 1,
                "judged": 4,
                "by_answer": {"N": [0, 2], "Y": [1, 2]},
                "same": {"N": 1},
            }
        ],
        "disagreement": {
            "a": {"a": 0.0, "b": 0.25, "c": 0.25},
            "b": {"a": 0.25, "b": 0.0, "c": 0.5},
            "c": {"a": 0.25, "b": 0.5, "c": 0.0},
        },
    }


def test_labels_per_item_leave_out_the_whole() -> None:
    table = np.array([[0, 0, 0], [1, 1, 0], [1, 1, 1], [1, 0, 1]])
    gold = LoadedGold(matrix(table, ("whole", "a", "b")), {"whole": ("a", "b")})
    assert field_details({"a": compare(gold, gold.answers)})["labels"]["sizes"] == [1, 2, 1]


def test_a_field_of_weights_has_labels_alone() -> None:
    gold = LoadedGold(matrix(np.array([[0.5, 0.5], [1.0, 0.0]]), ("N", "Y")))
    found = field_details({"a": compare(gold, gold.answers)})
    assert list(found) == ["labels"]
    assert field_details({}) == {}


def test_very_wide_tables_and_soft_labels_have_no_details_by_column() -> None:
    names = tuple(f"c{at}" for at in range(COLUMNS + 1))
    values = np.array([[0, 1] * (COLUMNS // 2) + [1]] * 3)
    assert of(matrix(values, names), matrix(values, names)) == {"classes": []}
    assert of(matrix(values.astype(float), names), matrix(values.astype(float), names)) == {"curves": []}
    kept = matrix(values[:, :COLUMNS], names[:COLUMNS])
    assert len(of(kept, kept)["classes"]) == COLUMNS
