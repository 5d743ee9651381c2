import numpy as np
import pytest
from scipy import stats
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from scoring.analysis.confusion import NO_ANSWER, by_class, class_table, confusion, labels
from scoring.analysis.field import Summary, disagreement, missed_by_all, rank_correlation, right, summary, summary_table
from scoring.answers import Answers, Matrix, Spans
from scoring.metrics import Comparison, LoadedGold, compare
from scoring.metrics.comparison import MatrixComparison

CLASSES = ("NO", "A", "B")


def one_hot(letters: str, ids: str = "") -> Matrix:
    """Return one label per item, given by its first letter, or `.` for none: "NAB" is NO, A, B."""
    values = np.array([[name[0] == letter for name in CLASSES] for letter in letters])
    return Matrix(list(ids) or [str(row) for row in range(len(letters))], CLASSES, values)


def compared(gold: Answers, run: Answers) -> Comparison:
    return compare(LoadedGold(gold), run)


def compared_labels(gold: str, run: str, ids: str = "") -> MatrixComparison:
    comparison = compared(one_hot(gold), one_hot(run, ids))
    assert isinstance(comparison, MatrixComparison)
    return comparison


def test_confusion_by_hand() -> None:
    matrix = confusion(compared_labels("NNNAAB", "NNAAAN"))
    assert matrix.classes == CLASSES
    assert matrix.counts.tolist() == [[2, 1, 0], [0, 2, 0], [1, 0, 0]]
    assert matrix.table().as_csv().splitlines() == [",NO,A,B", "NO,2,1,0", "A,0,2,0", "B,1,0,0"]


def test_items_left_out_have_a_column_of_their_own() -> None:
    matrix = confusion(compared_labels("NAB", "NA", ids="01"))
    assert matrix.classes == (*CLASSES, NO_ANSWER)
    assert matrix.counts.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 0, 1], [0, 0, 0, 0]]


def test_a_gold_item_without_a_label_has_a_row_of_its_own() -> None:
    matrix = confusion(compared_labels("N.", "NA"))
    assert matrix.classes == (*CLASSES, NO_ANSWER)
    assert matrix.counts.tolist() == [[1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]]


def test_several_labels_have_no_confusion_but_a_table() -> None:
    gold = Matrix(["1", "2"], CLASSES, np.array([[False, True, True], [True, False, False]]))
    run = Matrix(["1", "2"], CLASSES, np.array([[False, True, False], [True, True, False]]))
    comparison = compared(gold, run)
    assert isinstance(comparison, MatrixComparison)
    with pytest.raises(ValueError, match="several labels"):
        confusion(comparison)
    lines = class_table(by_class(comparison)).as_csv().splitlines()
    assert lines[1:] == ["NO,1,1,1,1.0,1.0,1.0", f"A,1,2,1,0.5,1.0,{2 / 3}", "B,1,0,0,,0.0,0.0"]


def test_by_class_and_confusion_as_scikit_learn_has_them() -> None:
    rng = np.random.default_rng(8)
    gold, run = (rng.choice([0, 1, 2], size=300, p=share) for share in ([0.5, 0.3, 0.2], [0.2, 0.4, 0.4]))
    ids = [str(row) for row in range(300)]
    for comparison in (
        compared(Matrix(ids, ("x",), gold[:, None]), Matrix(ids, ("x",), run[:, None])),
        compared_labels("".join("NAB"[code] for code in gold), "".join("NAB"[code] for code in run)),
    ):
        assert isinstance(comparison, MatrixComparison)
        assert confusion(comparison).counts.tolist() == confusion_matrix(gold, run).tolist()
        expected = np.array(precision_recall_fscore_support(gold, run)[:3]).T
        found = [[line.precision, line.recall, line.f1] for line in by_class(comparison)]
        assert np.array(found, float) == pytest.approx(expected)


def test_a_columns_values_and_only_the_judged_cells() -> None:
    absent = np.array([[False, False], [False, True], [False, False]])
    gold = Matrix(["1", "2", "3"], ("HS", "TR"), np.array([[1, 1], [0, 0], [1, 0]]), absent)
    run = Matrix(["1", "2", "3"], ("HS", "TR"), np.array([[1, 0], [1, 1], [1, 0]]))
    comparison = compared(gold, run)
    assert isinstance(comparison, MatrixComparison)
    assert confusion(comparison).counts.tolist() == [[0, 1], [0, 2]]
    assert confusion(comparison, "TR").counts.tolist() == [[1, 0], [1, 0]]
    assert right(comparison).tolist() == [False, False, True]
    assert right(compared(gold, gold)).tolist() == [True] * 3


def test_labels_and_their_cooccurrence() -> None:
    answers = Matrix(["1", "2"], CLASSES, np.array([[False, True, True], [False, True, False]]))
    found = labels(answers)
    assert found.counts.tolist() == [0, 2, 1]
    assert found.together.tolist() == [[0, 0, 0], [0, 2, 1], [0, 1, 1]]
    assert found.table().as_csv().splitlines() == ["class,items,share", "NO,0,0.0", "A,2,1.0", "B,1,0.5"]
    soft = labels(Matrix(["1", "2"], ("A", "B"), np.array([[0.25, 0.75], [0.5, 0.5]])))
    assert soft.counts.tolist() == [0.75, 1.25]
    assert soft.together.tolist() == [[0.75, 0.75], [0.75, 1.25]]
    empty = labels(Matrix([], ("A",), np.zeros((0, 1), bool)))
    assert empty.table().as_csv().splitlines() == ["class,items,share", "A,0,"]


def test_summary_by_hand() -> None:
    """Check the summary against values computed by hand.

    1, 2, 3, 4, 10 minus their mean 4 are −3, −2, −1, 0, 6. The squares add up to 50, the cubes to 180, and the fourth
    powers to 1394.
    """
    found = summary([3, None, 1, 10, 2, 4])
    assert found == Summary(5, 1, 2, 4, 3, 4, 10, pytest.approx(12.5**0.5), pytest.approx(36 / 10**1.5), 1394 / 5 / 100)
    assert summary([]) == Summary(0)
    assert summary([2.0]) == Summary(1, 2, 2, 2, 2, 2, 2, None, None, None)
    assert summary([2.0, 2.0]).skewness is None
    lines = summary_table({"a": found, "b": summary([2.0])}).as_csv().splitlines()
    assert lines[0] == ",a,b"
    assert lines[6] == "Q3,4.0,2.0"
    assert lines[8].startswith("std. dev.,3.535")
    assert lines[8].endswith(",")


def test_items_that_all_get_wrong() -> None:
    gold = LoadedGold(one_hot("NNAAB"))
    runs = {name: compare(gold, one_hot(given)) for name, given in {"x": "NANAN", "y": "NAN.A", "z": "ANBAA"}.items()}
    found = missed_by_all(runs)
    assert found.items == ("2", "4")
    assert found.by_answer == {"NO": (0, 2), "A": (1, 2), "B": (1, 1)}
    assert found.same == {}  # there is no item to which all three runs give the same answer
    assert missed_by_all({name: runs[name] for name in "yz"}).same == {"A": 1}  # item 4, but not item 2
    text = found.table().as_text().splitlines()
    assert text[0] == "Missed by all of x, y, z"
    assert text[-1].split() == ["all", "2", "5", "0.4000"]


def test_disagreement_of_runs() -> None:
    gold = LoadedGold(one_hot("NNAA"))
    runs = {name: compare(gold, one_hot(given)) for name, given in {"x": "NNAA", "y": "NNAB", "z": "BBBB"}.items()}
    assert disagreement(runs).rows == (("x", 0, 0.25, 1), ("y", 0.25, 0, 0.75), ("z", 1, 0.75, 0))


def test_spans_are_right_when_every_offset_is() -> None:
    gold = Spans.of_offsets(["1", "2", "3"], np.array([3, 4, 7]), np.array([0, 2, 2, 3]))
    run = Spans.of_offsets(["3", "1", "2"], np.array([3, 4]), np.array([0, 0, 2, 2]))
    comparison = compared(gold, run)
    assert right(comparison).tolist() == [True, True, False]
    assert missed_by_all({"run": comparison}).by_answer == {"(none)": (0, 1), "1–5 characters": (1, 2)}
    long = Spans(["1", "2"], np.array([0, 9, 0]), np.array([4, 16, 40]), np.array([0, 2, 3]))
    nothing = Spans.of_offsets(["1", "2"], np.zeros(0, np.int64), np.array([0, 0, 0]))
    missed = missed_by_all({"run": compared(long, nothing)}).by_answer
    assert missed == {"11–20 characters": (1, 1), "21 or more characters": (1, 1)}


def test_weights_are_neither_right_nor_wrong() -> None:
    soft = Matrix(["1"], ("A", "B"), np.array([[0.25, 0.75]]))
    comparison = compared(soft, soft)
    assert isinstance(comparison, MatrixComparison)
    with pytest.raises(ValueError, match="correct or incorrect"):
        right(comparison)
    with pytest.raises(ValueError, match="not available for weights"):
        by_class(comparison)


def test_rank_correlation_is_scipys_over_the_runs_that_have_both() -> None:
    first, second = [0.1, 0.4, 0.4, None, 0.9], [3.0, 1.0, 2.0, 5.0, 0.5]
    kept = [at for at, value in enumerate(first) if value is not None]
    expected = stats.spearmanr([first[at] for at in kept], [second[at] for at in kept]).statistic
    assert rank_correlation(first, second) == pytest.approx(expected, abs=1e-12)
    assert rank_correlation([1.0, 1.0], [1.0, 2.0]) is None
    assert rank_correlation([1.0, None], [1.0, 2.0]) is None
