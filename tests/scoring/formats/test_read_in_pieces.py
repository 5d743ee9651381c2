"""Large files are read in pieces, by row, by sentence or with types, with the same results as in the patient way."""

import json
from collections.abc import Iterator
from dataclasses import fields
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from scoring.answers import Answers, Matrix
from scoring.definition import Track
from scoring.formats import conll, json_text, read_run, reading, table
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report
from tests.scoring.formats.test_writing import track

COLUMNS = [f"c{number}" for number in range(table.MANY_COLUMNS + 1)]


def read(where: Track, data: str, ids: list[str]) -> tuple[Answers | None, list[Any]]:
    report = Report()
    return read_run(where, data.encode(), report, items=ItemIndex(ids)), [problem.as_dict() for problem in report]


def plain(answers: Answers | None) -> list[Any]:
    """Return the content of answers, which contain arrays, so that it can be compared."""
    values = [] if answers is None else [getattr(answers, field.name) for field in fields(answers)]
    return [(value.dtype, value.tolist()) if isinstance(value, np.ndarray) else value for value in values]


def of_values(rows: list[list[str]], columns: list[str]) -> str:
    return "\n".join(",".join(row) for row in [["id", *columns], *rows])


TABLES = {
    "whole numbers": ({}, lambda at, n: str((at + n) % 2)),
    "numbers": ({"values": "number"}, lambda at, n: f"{at}.{n}e-1"),
    "a value that is not allowed": ({}, lambda at, n: "2" if (at, n) == (3, 7) else "1"),
    "a number out of range": ({"values": "number", "high": 5}, lambda at, n: "5.5" if (at, n) == (2, 9) else "5"),
    "an empty cell": ({}, lambda at, n: "" if (at, n) == (1, 1) else "0"),
    "a word": ({"values": "number"}, lambda at, n: "nan" if (at, n) == (0, 50) else "1"),
}


@pytest.mark.parametrize("name", TABLES)
def test_wide_tables_are_read_alike_by_row_and_by_column(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    options, cell = TABLES[name]
    ids = [f"i{at}" for at in range(4)]
    where = track("table", id="id", columns=COLUMNS, **options)
    orders = COLUMNS, ["c3", *COLUMNS[4:], "c0", "c2", "c1"]
    for order in orders:
        data = of_values([[item, *(cell(at, int(n[1:])) for n in order)] for at, item in enumerate(ids)], order)
        by_row, problems = read(where, data, ids)
        with monkeypatch.context() as patched:
            patched.setattr(table, "MANY_COLUMNS", 10_000)
            by_column, same = read(where, data, ids)
        assert (plain(by_row), problems) == (plain(by_column), same)
        assert (by_row is None) == bool(problems) == (name not in ("whole numbers", "numbers"))


def test_lists_of_numbers_may_have_any_blanks() -> None:
    where = track("table", id="id", separator="tab", columns=["a", "b"], values="number", list="all")
    lists = ["[1,2]", "[1, 2]", " [ 1 ,2 ] ", "[1,\u00a02]", "[1 2, 3]", "[, 2]"]
    found = [read(where, f"id\tall\nx\t{cell}", ["x"]) for cell in lists]
    assert all(isinstance(answers, Matrix) and answers.values.tolist() == [[1, 2]] for answers, _ in found[:4])
    assert [answers for answers, _ in found[4:]] == [None, None]
    assert [problems[0]["code"] for _, problems in found[4:]] == ["value-not-a-number", "value-missing"]


LINES = {
    "table": (track("table", id="id", columns=["a"]), "id,a\n" + "".join(f"i{n},{n % 2}\n" for n in range(9))),
    "table with an empty line": (track("table", id="id", columns=["a"]), "id,a\ni0,1\n\n" + "i1,0\n" * 3),
    "TREC": (track("trec-run"), "".join(f"i{n % 9} Q0 d{n} {n} {-n} t\n" for n in range(30))),
    "TREC with a header": (track("trec-run"), "query Q0 doc rank score tag\n" + "i1 Q0 d 1 1 t\n" * 2),
    "TREC with numbers that are not whole": (track("trec-run"), "i1 Q0 d 1 1 t\ni1 Q0 e 2.5 0 t\ni1 Q0 f x 0 t\n"),
    "TREC with long ranks": (track("trec-run"), "i1 Q0 d 0000000001 1 t\ni1 Q0 e 999999999 0 t\n"),
    "TREC with blank lines": (track("trec-run"), "\n\ni1 Q0 d 1 1 t\n\n  \ni1 Q0 e 2 0 t"),
}


@pytest.mark.parametrize("name", LINES)
def test_pieces_of_any_length_are_read_alike(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where, data = LINES[name]
    ids = [f"i{n}" for n in range(9)]
    answers, problems = read(where, data, ids)
    for length in (0, 7, 40):
        monkeypatch.setattr(reading, "PIECE", length)
        again, same = read(where, data, ids)
        assert (plain(again), same) == (plain(answers), problems)


def sentences() -> Iterator[str]:
    """Yield texts of tagged lines: valid ones, and some with other lines in between."""
    random = Random(7)
    tokens = ["Ann B-PER", "in O", "Rome\tI-PER", "- O", "# O", "-DOCSTART- O"]
    others = ["", " ", "# id = 1", "# text = x", "word", "\tO", "token tag", "a b c\tX-PER", "\u00a0 O"]
    for share in (0.0, 0.1, 0.5):
        for _ in range(60):
            lines = (
                random.choice(others if random.random() < share else [*tokens, ""]) for _ in range(random.randrange(12))
            )
            yield "\n".join(lines)


@pytest.mark.parametrize("ids", ["numbers", "comments"])
def test_sentences_are_read_alike_at_once_and_line_by_line(ids: str, monkeypatch: pytest.MonkeyPatch) -> None:
    where = track("conll", classes=["PER"], ids=ids)
    at_once = [read(where, text, ["1", "2"]) for text in sentences()]
    calls = list[bool]()

    def decline(*_: object) -> bool:
        calls.append(True)
        return False

    monkeypatch.setattr(conll._Sentences, "_read_tokens", decline)
    for text, (answers, problems) in zip(sentences(), at_once, strict=True):
        again, same = read(where, text, ["1", "2"])
        assert (plain(again), same) == (plain(answers), problems), text
    assert calls


def test_odd_numbers_in_json_are_found() -> None:
    for text in ("[1e5]", "[1.5E3]", f"[{'9' * 41}]", f"[0.{'1' * 41}]", '["a 1e"]'):
        assert json_text._may_have_odd_number(text)
    for text in ("[1]", f"[{'9' * 40}]", '["e1", "one"]', '["\ud800 \u00e9"]', f'["{"1 " * 50}"]'):
        assert not json_text._may_have_odd_number(text)


VALUES: tuple[object, ...] = ("a", " a \u00a0 b\t", "", "a  b", None, 7, 1.0, True, ["a"], "MISSING")


@pytest.mark.parametrize("form", ["objects", "lists"])
def test_tuples_are_read_alike_with_and_without_types(form: str) -> None:
    """An escaped letter in an id makes the reader read the file without types."""
    where = track("tuples", columns=["x", "y"], optional=["y"], values={"x": ["a", "b"]}, tuples=form)
    for first, second in product(VALUES, repeat=2):
        pairs = {"x": first, "y": second}
        entry = {name: value for name, value in pairs.items() if value != "MISSING"}
        value = [entry if form == "objects" else list(entry.values())] * 2
        data = json.dumps([{"id": "i", "value": value}], ensure_ascii=False)
        answers, problems = read(where, data, ["i"])
        again, same = read(where, data.replace('"i"', '"\\u0069"'), ["i"])
        assert plain(answers) == plain(again)
        assert [problem["code"] for problem in problems] == [problem["code"] for problem in same]


def test_an_item_with_very_many_labels_is_reported_once() -> None:
    where = track("table-labels", id="id", classes=["A", "B"], multi=True)
    _, problems = read(where, "id,label\n1," + "A " * 1000 + "\n2,A B\n", ["1", "2"])
    assert [(problem["code"], problem["count"]) for problem in problems] == [("label-twice", 1)]
