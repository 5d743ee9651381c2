"""Sets of tuples, compared with sklearn (one binary column per tuple) and scipy's assignment for partial credit."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment
from sklearn import metrics as sk
from sklearn.preprocessing import MultiLabelBinarizer

from scoring.answers import Tuples
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold, compare
from scoring.metrics.assignment import best_totals, greedy_total
from scoring.metrics.validation import validate
from scoring.significance import intervals, tie_groups
from tests.scoring.metrics.answers import value
from tests.scoring.metrics.examples import read_answers
from tests.scoring.metrics.test_registry import track

COLUMNS = ("aspect", "category", "polarity")
WORDS = ("food", "the food", "Staff", "the staff here", "")
POLARITIES = ("good", "bad", "mixed")
Sets = list[set[tuple[str, ...]]]
seeds = st.integers(0, 2**32 - 1)


def drawn(rng: np.random.Generator, items: int) -> Sets:
    def one() -> tuple[str, ...]:
        return WORDS[rng.integers(5)], "abc"[rng.integers(3)], POLARITIES[rng.integers(3)]

    return [{one() for _ in range(rng.integers(0, 6))} for _ in range(items)]


def tuples(sets: Sets) -> Tuples:
    return Tuples.of_sets(COLUMNS, {str(row): own for row, own in enumerate(sets)})


def projected(sets: Sets, places: tuple[int, ...]) -> Sets:
    return [{tuple(one[place] for place in places) for one in own} for own in sets]


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(2, 25))
def test_sets_as_sklearn_counts_them(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = drawn(rng, items), drawn(rng, items)
    for part, places in ((None, (0, 1, 2)), ("aspect+polarity", (0, 2)), ("category", (1,))):
        left, right = projected(gold, places), projected(run, places)
        binarizer = MultiLabelBinarizer().fit([*left, *right])
        sides = binarizer.transform(left), binarizer.transform(right)
        ending = f":{part}" if part else ""
        answers = tuples(gold), tuples(run)
        if len(binarizer.classes_) < 2:
            continue  # for sklearn, a single column is not a multilabel problem
        if any(left):
            for name, function in (
                ("precision", sk.precision_score),
                ("recall", sk.recall_score),
                ("f1", sk.f1_score),
            ):
                theirs = function(*sides, average="micro", zero_division=0)
                assert value(f"tuple_{name}{ending}", *answers) == pytest.approx(theirs, abs=1e-9)
        else:
            assert value(f"tuple_f1{ending}", *answers) is None
        theirs = sk.f1_score(*sides, average="samples", zero_division=1.0)
        assert value(f"tuple_f1_items{ending}", *answers) == pytest.approx(theirs, abs=1e-9)
        assert value(f"tuple_exact_match{ending}", *answers) == pytest.approx(sk.accuracy_score(*sides))


@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 25))
def test_macro_over_the_gold_s_values_of_a_column(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = drawn(rng, items), drawn(rng, items)
    found = []
    for polarity in sorted({one[2] for own in gold for one in own}):
        sides = [
            {(row, one[0]) for row, own in enumerate(side) for one in own if one[2] == polarity} for side in (gold, run)
        ]
        found.append(2 * len(sides[0] & sides[1]) / (len(sides[0]) + len(sides[1])))
    theirs = sum(found) / len(found) if found else None
    assert value("tuple_f1_macro:aspect", tuples(gold), tuples(run), by="polarity") == pytest.approx(theirs, abs=1e-9)


def overlap(left: str, right: str) -> float:
    if left == right:
        return 1.0
    one, other = Counter(left.split()), Counter(right.split())
    return 2 * sum((one & other).values()) / (sum(one.values()) + sum(other.values()))


@pytest.mark.slow
@settings(max_examples=60)
@given(seed=seeds, items=st.integers(1, 12))
def test_partial_credit_as_scipy_assigns_it(seed: int, items: int) -> None:
    rng = np.random.default_rng(seed)
    gold, run = drawn(rng, items), drawn(rng, items)
    for credit, same in (("columns", None), ("overlap", None), ("columns", "polarity"), ("overlap", "category")):
        total, listed = 0.0, sum(map(len, gold)) + sum(map(len, run))
        for left, right in zip(gold, run, strict=True):
            table = np.zeros((len(left), len(right)))
            for row, one in enumerate(left):
                for column, other in enumerate(right):
                    if same is None or one[COLUMNS.index(same)] == other[COLUMNS.index(same)]:
                        pairs = list(zip(one, other, strict=True))
                        shares = [overlap(*pair) if credit == "overlap" else float(len({*pair}) == 1) for pair in pairs]
                        table[row, column] = sum(shares) / 3
            total += table[linear_sum_assignment(table, maximize=True)].sum()
        options = {"credit": credit} | ({"same": same} if same else {})
        theirs = 2 * total / listed if any(gold) else None
        assert value("tuple_f1_partial", tuples(gold), tuples(run), **options) == pytest.approx(theirs, abs=1e-9)


@settings(max_examples=100)
@given(seed=seeds, shape=st.tuples(st.integers(1, 6), st.integers(1, 6)), levels=st.sampled_from([2, 4, 1000]))
def test_the_best_total_is_the_best_of_all_pairings(seed: int, shape: tuple[int, int], levels: int) -> None:
    table = np.random.default_rng(seed).integers(0, levels, shape) / levels
    flat = table if shape[0] <= shape[1] else table.T
    every = (
        sum(flat[row, column] for row, column in enumerate(order))
        for order in permutations(range(max(shape)), min(shape))
    )
    assert best_totals([table]) == [pytest.approx(max(every), abs=1e-12)]
    assert greedy_total(table) <= best_totals([table])[0] + 1e-12


def test_the_best_totals_of_many_tables_are_those_of_scipy() -> None:
    """Tables of all shapes, some with many equal credits and some empty, are solved at the same time."""
    rng = np.random.default_rng(7)
    tables = []
    for _ in range(600):
        shape, levels = rng.integers(0, 12, 2), int(rng.integers(1, 9))
        tables.append(rng.integers(0, levels + 1, shape) / levels)
    tables.append(rng.random((40, 70)))
    expected = [table[linear_sum_assignment(table, maximize=True)].sum() for table in tables]
    assert best_totals(tables) == pytest.approx(expected, abs=1e-12)


def test_the_greedy_total_takes_the_largest_credit_first() -> None:
    table = np.array([[0.9, 0.8], [0.8, 0.1]])
    assert greedy_total(table) == pytest.approx(1.0)
    assert best_totals([table]) == [pytest.approx(1.6)]


def test_case_counts_unless_it_is_ignored() -> None:
    gold, run = read_answers("tuples", {"1": "Food good"}), read_answers("tuples", {"1": "food Good"})
    for name in ("tuple_f1", "tuple_f1_items", "tuple_exact_match", "tuple_f1_partial"):
        assert value(name, gold, run) == 0
        assert value(name, gold, run, case="ignore") == 1


def test_undefined_values_are_none() -> None:
    nothing, something = read_answers("tuples", {"1": "", "2": ""}), read_answers("tuples", {"1": "a b", "2": ""})
    assert value("tuple_f1", nothing, something) is None
    assert value("tuple_recall", nothing, something) is None
    assert value("tuple_precision", nothing, something) == 0
    assert value("tuple_precision", something, nothing) == 0
    assert value("tuple_f1_macro", nothing, something, by="y") is None
    assert value("tuple_f1_items", nothing, something) == 1 / 2


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (MetricSpec("tuple_f1", "who"), "who is not one of what, kind, or several joined by +"),
        (MetricSpec("tuple_f1_macro"), "requires the by option: {name: tuple_f1_macro, by: COLUMN}"),
        (MetricSpec("tuple_f1_macro", None, {"by": "what"}), "by must be one of kind, not what"),
        (MetricSpec("tuple_f1_partial", None, {"same": "kind+who"}), "same must be one of what, kind, or several"),
        (MetricSpec("tuple_f1", where=("right", "what")), "right requires labels or a table, not tuples"),
        (MetricSpec("entity_f1"), "typed-spans runs, not tuples"),
    ],
)
def test_invalid_columns_are_named(spec: MetricSpec, words: str) -> None:
    where = track("tuples", columns=("what", "kind"), values={"kind": ("X",)})
    assert words in str(validate(spec, where))
    assert validate(MetricSpec("tuple_f1_macro", "what", {"by": "kind"}), where) is None


def test_runs_of_tuples_have_intervals_and_tie_groups() -> None:
    rng = np.random.default_rng(5)
    gold = drawn(rng, 80)
    worse = [set() if rng.random() < 0.6 else own for own in gold]
    runs = {name: tuples(sets) for name, sets in (("gold", gold), ("again", gold), ("worse", worse))}
    standard, spec = LoadedGold(tuples(gold)), MetricSpec("tuple_f1")
    compared = {name: compare(standard, run) for name, run in runs.items()}
    found = intervals(compared, spec, seed=1, rounds=500)["worse"]
    assert found is not None
    assert found.low < found.value < found.high < 1
    groups = {one.name: one.group for one in tie_groups(compared, spec, seed=1, rounds=500)}
    assert groups == {"gold": 1, "again": 1, "worse": 2}
