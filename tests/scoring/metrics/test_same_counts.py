"""Shortcuts for large tracks: the same counts as in the plain way."""

import numpy as np
import pytest

from scoring.answers import Matrix
from scoring.metrics import LoadedGold, compare
from scoring.metrics import counts as module
from scoring.metrics.comparison import MatrixComparison
from scoring.metrics.counts import marks, marks_of_all_columns, totals_of_column
from scoring.metrics.tuple_credit import _word_f1


def comparison(seed: int) -> MatrixComparison:
    random = np.random.default_rng(seed)
    ids, columns = [f"i{n}" for n in range(40)], ("a", "b", "c")
    gold, run = (random.integers(0, 6, (40, 3)) for _ in range(2))
    absent = random.random((40, 3)) < 0.2
    loaded = LoadedGold(Matrix(ids[:30], columns, gold[:30], absent[:30]), None, {"a": (0, 1, 9), "b": (), "c": ()})
    found = compare(loaded, Matrix(ids[5:], columns, run[5:]), count_outside=seed % 2 == 0)
    assert isinstance(found, MatrixComparison)
    return found


def test_totals_of_a_column_are_those_of_its_marks() -> None:
    for seed in range(6):
        found = comparison(seed)
        for column in ("a", "b", "c"):
            pairs = zip(totals_of_column(found, column), marks(found, column).totals(), strict=True)
            assert all(own.tolist() == wanted.tolist() for own, wanted in pairs)


def test_cells_are_counted_alike_at_once_and_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(6):
        found = comparison(seed)
        whole = marks_of_all_columns(found)
        with monkeypatch.context() as patched:
            patched.setattr(module, "CELLS_AT_ONCE", 7)
            parts = marks_of_all_columns(found)
        assert whole is not None
        assert parts is not None
        for name in ("hits", "says", "has", "judged", "given", "outside"):
            assert getattr(whole, name).tolist() == getattr(parts, name).tolist()


def test_shared_words_are_counted_with_their_repetitions() -> None:
    texts = ["a b", "a a b", "a a a", "", "c", "b b c"]
    for run in (texts[:1], texts[:2], texts):
        for gold in (texts[:1], texts[3:], texts):
            found = _word_f1(run, gold).tolist()
            for own, row in zip(run, found, strict=True):
                for wanted, value in zip(gold, row, strict=True):
                    words, others = own.split(), wanted.split()
                    shared = sum(min(words.count(word), others.count(word)) for word in {*words})
                    total = len(words) + len(others)
                    assert value == (2 * shared / total if total else 1.0)
