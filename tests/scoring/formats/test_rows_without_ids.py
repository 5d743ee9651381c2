"""Tables as campaigns write them: rows without ids, comment lines, texts in a column, and tags with a prefix."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scoring import Definition, DefinitionError, check, load_definition, score
from scoring.answers import Entities, Matrix, Texts
from scoring.formats import read_gold, read_run, write_run
from scoring.items.index import ItemIndex
from scoring.reports.problems import Report
from tests.for_each import for_each
from tests.scoring.formats.test_fuzz import mutated
from tests.scoring.formats.test_writing import assert_same, read_back, track

IDS = ["1", "2", "3"]
SCORES: dict[str, Any] = {
    "kind": "table", "ids": "numbers", "header": "none", "columns": ["score"], "values": "number",
}  # fmt: skip


def read(options: dict[str, Any], data: bytes, texts: dict[str, str] | None = None) -> tuple[Any, list[str]]:
    report = Report()
    answers = read_run(track(**options), data, report, items=ItemIndex(IDS), texts=texts)
    return answers, [problem.code for problem in report]


LABELS: dict[str, Any] = {"kind": "table-labels", "ids": "numbers", "classes": ["A", "B"]}


@for_each(
    ("options", "data"),
    [
        pytest.param(SCORES, b"0.5\n-1\n3e2\n", id="a number on each line"),
        pytest.param(LABELS, b"text,label\nx,A\ny,B\nz,A\n", id="labels with a header"),
        pytest.param(
            LABELS | {"json": {"lines": True}}, b'{"label": "A"}\n{"label": "B"}\n{"label": "A"}\n', id="JSON"
        ),
        pytest.param(
            {"kind": "table-soft", "ids": "numbers", "classes": ["A", "B"], "separator": "tab"},
            b"A\tB\n0.5\t0.5\n1\t0\n0\t1\n",
            id="shares",
        ),
        pytest.param(SCORES | {"comments": "#"}, b"# system: x\n0.5\n# y\n-1\n3e2\n", id="comments"),
    ],
)
def test_the_order_of_the_rows_says_the_item(options: dict[str, Any], data: bytes, tmp_path: Path) -> None:
    answers, codes = read(options | {"extra_columns": "ignore"}, data)
    assert codes == []
    assert isinstance(answers, Matrix)
    assert answers.ids == IDS
    where = track(**options)
    write_run(where, answers, tmp_path / "run")
    assert_same(read_back(where, tmp_path / "run", IDS), answers)


@for_each(
    ("data", "expected"),
    [
        pytest.param(b"0.5\n1\n", ["row-count"], id="a row too few"),
        pytest.param(b"0.5\n1\n2\n3\n", ["row-count"], id="a row too many"),
        pytest.param(b"0.5\n1\n2\n" * 2, ["several-runs"], id="two runs"),
        pytest.param(b"0.5\nx\n2\n", ["value-not-a-number"], id="no number"),
        pytest.param(b"# system: x\n0.5\n1\n", ["value-not-a-number"], id="an undeclared comment"),
        pytest.param(b"score\n0.5\n1\n2\n", ["header-line"], id="an undeclared header"),
        pytest.param(b"0.5\n1,2\n2\n", ["ragged-row"], id="a row too long"),
        pytest.param(b"", ["empty-file"], id="empty"),
    ],
)
def test_another_number_of_rows_is_an_error(data: bytes, expected: list[str]) -> None:
    answers, codes = read(SCORES, data)
    assert answers is None
    assert codes == expected


def test_rows_with_texts_must_be_in_the_order_of_the_items() -> None:
    options = LABELS | {"same_text": "text"}
    texts = {"1": "A dog", "2": "a  cat", "3": "birds"}
    assert read(options, b"text,label\nA dog,A\na cat,B\nbirds,A\n", texts)[1] == []
    assert read(options, b"label\nA\nB\nA\n", texts)[1] == []
    report = Report()
    data = b"text,label\nA dog,A\nbirds,A\na cat,B\n"
    assert read_run(track(**options), data, report, items=ItemIndex(IDS), texts=texts) is None
    assert [(problem.code, problem.line, problem.count) for problem in report] == [("row-text", 3, 2)]


TASK = """
agon: 1
slug: pairs
title: Pairs
year: 2027
languages: [en]
tracks:
  - slug: main
    format: {kind: table, ids: numbers, same_text: text, columns: [score], values: number}
    items: items.txt
    texts: texts.tsv
    metrics: [mae]
    rank_by: mae
naming: {run: "{track}_{team}"}
phases: [{slug: open, opens: "2027-01-01 00:00 UTC", scores: at-once, official: best}]
gold: [{track: main, file: gold.csv}]
"""


@pytest.fixture
def pairs(tmp_path: Path) -> Definition:
    (tmp_path / "task.yaml").write_text(TASK, encoding="utf-8")
    (tmp_path / "items.txt").write_text("1\n2\n", encoding="utf-8")
    (tmp_path / "texts.tsv").write_text("id\ttext\n1\tone, two\n2\tthree\n", encoding="utf-8")
    (tmp_path / "gold.csv").write_text("score\n1\n2\n", encoding="utf-8")
    return load_definition(tmp_path)


def test_a_run_without_ids_is_checked_and_scored(pairs: Definition, tmp_path: Path) -> None:
    run = b'text,score\n"one, two",2\nthree,4\n'
    assert score(pairs, "main", run, tmp_path / "gold.csv").scores == {"mae": 1.5}
    wrong = check(pairs, "main", b'text,score\nthree,4\n"one, two",2\n')
    assert [(problem.code, problem.expected) for problem in wrong] == [("row-text", "one, two")]
    (tmp_path / "task.yaml").write_text(TASK.replace("    texts: texts.tsv\n", ""), encoding="utf-8")
    with pytest.raises(DefinitionError, match="same_text requires the item texts of the split test"):
        load_definition(tmp_path)


def test_texts_in_a_column(tmp_path: Path) -> None:
    where = track(kind="table-texts", id="ID", text=["Spanish", "second"], separator="tab", quotes="none")
    report = Report()
    gold = read_gold(where, b"ID\tSpanish\tsecond\n1\thola\tbuenas\n2\tuno\t\n", where.format, report)
    assert list(report) == []
    assert isinstance(gold, Texts)
    assert gold.texts == [("hola", "buenas"), ("uno",)]
    run = read_run(where, b'ID\tSpanish\n2\tone "x"\n1\t\n', report, items=ItemIndex(["1", "2"]))
    assert list(report) == []
    assert isinstance(run, Texts)
    assert run.texts == [('one "x"',), ("",)]
    write_run(where, run, tmp_path / "run.tsv")
    assert_same(read_back(track(kind="table-texts", id="ID", text="Spanish", separator="tab", quotes="none"),
                          tmp_path / "run.tsv", ["1", "2"]), run)  # fmt: skip
    long = b"ID\tSpanish\n1\t" + b"x" * 5001 + b"\n2\tb\n"
    assert read_run(where, long, report, items=ItemIndex(["1", "2"])) is None
    assert [problem.code for problem in report] == ["text-too-long"]


def test_tags_may_have_a_prefix(tmp_path: Path) -> None:
    """As in the segmentation files of DISRPT, whose last column is CoNLL-U's column for other values."""
    where = track(kind="conll", classes=["seg"], prefix="Seg=", ids="comments")
    data = (
        b"# sent_id = s1\n1\tIf\tSeg=B-seg\n2\tnot\tSpaceAfter=No|Seg=I-seg\n3\t,\t_\n4\tgo\tSeg=B-seg\n5\t.\tSeg=O\n\n"
    )
    report = Report()
    found = read_run(where, data, report, items=ItemIndex(["s1"]))
    assert list(report) == []
    assert isinstance(found, Entities)
    assert found.of_item(0) == [("seg", 0, 2), ("seg", 3, 4)]
    write_run(where, found, tmp_path / "run")
    assert "\tSeg=B-seg\n" in (tmp_path / "run").read_text()
    assert_same(read_back(where, tmp_path / "run", ["s1"]), found)
    wrong = read_run(where, data.replace(b"Seg=B-seg", b"Seg=B-edu"), report)
    assert wrong is None
    assert [(problem.code, problem.count) for problem in report][:1] == [("label-outside-domain", 2)]


def test_a_file_may_lack_optional_columns(tmp_path: Path) -> None:
    options: dict[str, Any] = {"kind": "table", "id": "id", "columns": {"A": "a", "B": "b"}, "optional": ["b"]}
    where, report = track(**options), Report()
    full, short = b"id,A,B\n1,1,0\n2,0,1\n3,0,0\n", b"id,A\n1,1\n2,0\n3,0\n"
    for data, absent in ((full, None), (short, [[False, True]] * 3)):
        found = read_run(where, data, report, items=ItemIndex(IDS))
        assert list(report) == []
        assert isinstance(found, Matrix)
        assert (None if found.absent is None else found.absent.tolist()) == absent
        write_run(where, found, tmp_path / "run")
        assert (tmp_path / "run").read_bytes() == data
    assert read_run(where, b"id,B\n1,1\n2,0\n3,0\n", report, items=ItemIndex(IDS)) is None
    assert [problem.code for problem in report] == ["header-column-missing"]
    assert read_run(where, b"id,A,B\n1,1,\n2,0,1\n3,0,0\n", Report(), items=ItemIndex(IDS)) is None


MUTATED = {
    "numbers": (SCORES | {"comments": "#"}, b"# c\n0.5\n-1\n3e2\n"),
    "texts": (LABELS | {"same_text": "text"}, b"text,label\nx,A\ny,B\nz,A\n"),
    "rows": (LABELS | {"json": {"lines": True, "nested": True}}, b'{"label": "A"}\n{"label": "B"}\n{"label": "A"}\n'),
    "by id": (
        {"kind": "json-labels", "classes": ["A", "B"], "keys": {"by_id": True, "inside": "x"}},
        b'{"x": {"1": "A", "2": "B", "3": "A"}}',
    ),
    "nested": (
        {"kind": "json-labels", "classes": ["0", "1"], "value": "o.l", "keys": {"nested": True, "values": ["number"]}},
        b'[{"id": "1", "o": {"l": 1}}, {"id": "2", "o": {"l": 0}}, {"id": "3", "o": {"l": 1}}]',
    ),
    "objects": (
        {"kind": "table", "id": "id.x", "columns": ["p", "y"], "optional": ["y"], "json": {"nested": True}},
        b'[{"id": {"x": 1}, "p": 1, "y": 0}, {"id": {"x": 2}, "p": 1}, {"id": {"x": 3}, "p": true}]',
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", MUTATED)
@settings(max_examples=40)
@given(data=st.data())
def test_no_content_raises(name: str, data: st.DataObject) -> None:
    options, valid = MUTATED[name]
    content, where = data.draw(mutated(valid) | st.binary(max_size=60)), track(**options)
    for lenient in (False, True):
        report = Report()
        items, texts = ItemIndex(IDS), {"1": "x", "2": "y"}
        answers = read_run(where, content, report, items=items, texts=texts, lenient=lenient)
        assert (answers is None) == (not report.ok)
        assert all(problem.message for problem in report)
        if answers is not None and not lenient:
            assert sorted(answers.ids) == IDS
