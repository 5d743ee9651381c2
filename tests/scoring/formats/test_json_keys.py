"""JSON as campaigns write it: the option `keys` of formats with objects, and tables whose rows are objects."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from scoring.answers import Matrix, Ranking, Texts, Tuples
from scoring.formats import read_gold, read_run, suffix, write_run
from scoring.items.index import ItemIndex
from scoring.reports.messages import LANGUAGES
from scoring.reports.printing import report_text
from scoring.reports.problems import Report, translate
from tests.for_each import for_each
from tests.scoring.formats.test_writing import assert_same, read_back, track

IDS = ["1", "2", "3"]
NUMBERS: dict[str, Any] = {"ids": ["number"], "values": ["number"]}


def read(options: Mapping[str, Any], data: bytes | object, *, lines: bool = False) -> tuple[Any, list[str]]:
    """Return the answers in a file, and the codes of its problems. Data other than bytes are written as JSON."""
    if not isinstance(data, bytes):
        entries = data if lines and isinstance(data, list) else [data]
        data = "\n".join(map(json.dumps, entries)).encode()
    report = Report()
    answers = read_run(track(**options), data, report, items=ItemIndex(IDS))
    for problem in report:
        assert all(translate(problem, language).message for language in LANGUAGES)
    return answers, [problem.code for problem in report]


LABELS: dict[str, Any] = {"kind": "json-labels", "classes": ["0", "1"]}
BOTH: dict[str, Any] = {"ids": ["number", "text"], "values": ["text", "number", "boolean"]}
ACCEPTED = [
    pytest.param(LABELS | {"keys": NUMBERS}, [{"id": n, "value": 1} for n in (1, 2, 3)], id="numbers"),
    pytest.param(
        LABELS | {"keys": BOTH, "lines": True},
        [{"id": 1, "value": "1"}, {"id": "2", "value": 1}, {"id": 3, "value": "1"}],
        id="both",
    ),
    pytest.param(
        LABELS | {"classes": ["false", "true"], "keys": {"values": ["boolean"]}},
        [{"id": n, "value": True} for n in IDS],
        id="booleans",
    ),
    pytest.param(LABELS | {"keys": {"by_id": True}}, dict.fromkeys(IDS, "1"), id="by id"),
    pytest.param(
        LABELS | {"keys": {"by_id": True, "inside": "data"}, "value": "label"},
        {"version": 1, "data": {n: {"label": "1"} for n in IDS}},
        id="objects by id, inside another",
    ),
    pytest.param(LABELS | {"keys": {"by_id": True}, "lines": True}, [{n: "1"} for n in IDS], id="a line per id"),
    pytest.param(
        LABELS | {"keys": {"nested": True, "extra": "ignore"}, "id": "doc.id", "value": "out.best.label"},
        [{"doc": {"id": n, "lang": "en"}, "out": {"best": {"label": "1"}}, "time": 3} for n in IDS],
        id="nested",
    ),
    pytest.param(
        LABELS | {"keys": {"inside": "predictions"}},
        {"predictions": [{"id": n, "value": "1"} for n in IDS]},
        id="inside",
    ),
    pytest.param(
        LABELS | {"multi": True, "keys": NUMBERS}, [{"id": n, "value": [1]} for n in (1, 2, 3)], id="several labels"
    ),
]


@for_each(("options", "data"), ACCEPTED)
def test_labels_are_read_as_declared(options: dict[str, Any], data: Any) -> None:
    answers, codes = read(options, data, lines=bool(options.get("lines")))
    assert codes == []
    assert isinstance(answers, Matrix)
    assert answers.ids == IDS
    assert answers.values[:, 1].all()


@for_each(("options", "data"), ACCEPTED)
def test_what_is_written_is_read_again(options: dict[str, Any], data: Any, tmp_path: Path) -> None:
    answers, _ = read(options, data, lines=bool(options.get("lines")))
    where = track(**options)
    path = tmp_path / f"run{suffix(where)}"
    write_run(where, answers, path)
    assert_same(read_back(where, path, IDS), answers)
    if options["keys"] is not BOTH and options["keys"].get("extra") != "ignore" and "inside" not in options["keys"]:
        lines = path.read_text().splitlines()
        assert (
            [json.loads(line) for line in lines] == data if options.get("lines") else json.loads("".join(lines)) == data
        )


REJECTED = [
    pytest.param(LABELS, [{"id": n, "value": "1"} for n in (1, 2, 3)], ["id-not-a-text"], id="ids, undeclared"),
    pytest.param(LABELS, [{"id": n, "value": 1} for n in IDS], ["value-not-a-label"], id="values, undeclared"),
    pytest.param(
        LABELS | {"keys": {"ids": ["number"]}},
        [{"id": n, "value": "1"} for n in IDS],
        ["json-other-type"],
        id="ids as text",
    ),
    pytest.param(
        LABELS | {"keys": {"values": ["number"]}},
        [{"id": n, "value": "1"} for n in IDS],
        ["json-other-type"],
        id="labels as text",
    ),
    pytest.param(
        LABELS | {"keys": {"values": ["number"]}},
        [{"id": n, "value": True} for n in IDS],
        ["value-not-a-label"],
        id="a boolean is no number",
    ),
    pytest.param(
        LABELS | {"keys": {"values": ["number"]}}, [{"id": n, "value": 1.0} for n in IDS], ["decimal-point"], id="1.0"
    ),
    pytest.param(
        LABELS | {"keys": {"extra": "reject"}},
        [{"id": n, "value": "1", "why": "x"} for n in IDS],
        ["json-extra-key"],
        id="extra keys",
    ),
    pytest.param(
        LABELS | {"keys": {"by_id": True}},
        b'{"1": "1", "2": "0", "3": "1", "2": "1"}',
        ["json-repeated-id"],
        id="twice",
    ),
    pytest.param(
        LABELS | {"keys": {"by_id": True}, "lines": True},
        [{"1": "1"}, {"2": "1", "3": "0"}, {"2": "0"}],
        ["duplicate-ids"],
        id="twice on two lines",
    ),
    pytest.param(
        LABELS | {"keys": {"by_id": True}}, [{"id": n, "value": "1"} for n in IDS], ["json-other-shape"], id="a list"
    ),
    pytest.param(LABELS | {"keys": {"by_id": True}}, b'{"1": "1", ', ["json-truncated"], id="truncated"),
    pytest.param(LABELS | {"keys": {"inside": "data"}}, {"other": []}, ["json-other-shape"], id="not inside"),
    pytest.param(LABELS | {"keys": {"inside": "data"}}, {"data": []}, ["json-not-a-list"], id="empty inside"),
    pytest.param(
        LABELS | {"keys": {"by_id": True}, "value": "label"},
        {"1": {"label": "1"}, "2": "1", "3": {"label": "2"}},
        ["json-missing-key", "json-unknown-key", "label-outside-domain"],
        id="an entry without its key",
    ),
    pytest.param(
        LABELS | {"keys": {"nested": True}, "value": "a.b"},
        b'[{"id": "1", "a": {"b": "1", "b": "0"}}, {"id": "2", "a": {"b": "1"}}, {"id": "3", "a": "1"}]',
        ["json-duplicate-key", "json-missing-key", "json-unknown-key"],
        id="nested, repeated and missing",
    ),
    pytest.param(
        LABELS | {"value": "a.b"},
        [{"id": n, "a": {"b": "1"}} for n in IDS],
        ["json-missing-key", "value-not-a-label"],
        id="nested, undeclared",
    ),
    pytest.param(
        {"kind": "table-labels", "id": "id", "label": "y", "classes": ["0", "1"], "json": True},
        [{"id": 1, "y": 1}, {"id": 2, "y": True}, {"id": 3, "y": 2}, "x"],
        ["json-not-an-object", "id-not-a-text", "label-outside-domain", "unknown-ids"],
        id="rows",
    ),
]


@for_each(("options", "data", "expected"), REJECTED)
def test_everything_else_is_rejected(options: dict[str, Any], data: Any, expected: list[str]) -> None:
    answers, codes = read(options, data, lines=bool(options.get("lines")))
    assert answers is None
    assert codes == expected


def test_texts_shares_documents_and_tuples_have_the_same_keys() -> None:
    keys = {"by_id": True}
    texts, codes = read({"kind": "json-texts", "keys": keys}, {"1": "Rome", "2": "", "3": "a\nb"})
    assert (codes, isinstance(texts, Texts) and texts.texts) == ([], [("Rome",), ("",), ("a\nb",)])
    shares, codes = read(
        {"kind": "json-soft", "classes": ["A", "B"], "keys": {"ids": ["number"], "nested": True}, "value": "p.all"},
        [{"id": n, "p": {"all": {"A": 0.25, "B": 0.75}}} for n in (1, 2, 3)],
    )
    assert (codes, isinstance(shares, Matrix) and shares.values[0].tolist()) == ([], [0.25, 0.75])
    ranks, codes = read({"kind": "id-lists", "keys": keys}, {n: ["d2", "d1"] for n in IDS})
    assert (codes, isinstance(ranks, Ranking) and ranks.documents[:2]) == ([], ["d2", "d1"])
    found, codes = read(
        {"kind": "tuples", "columns": ["a", "b"], "tuples": "lists", "keys": keys}, {n: [["x", "y"]] for n in IDS}
    )
    assert (codes, isinstance(found, Tuples) and found.rows) == ([], [("x", "y")] * 3)


NUMERIC: dict[str, Any] = {
    "kind": "table",
    "id": "id",
    "columns": {"p": {"kind": "number", "low": 0}, "y": {"kind": "ordinal", "values": [0, 1]}},
}


@for_each(
    ("json_rows", "data"),
    [
        pytest.param(True, [{"id": int(n), "p": 0.5, "y": "1"} for n in IDS], id="list"),
        pytest.param({"lines": True}, [{"id": n, "p": "5e-1", "y": 1} for n in IDS], id="lines"),
        pytest.param({"by_id": True}, {n: {"p": 0.5, "y": 1} for n in IDS}, id="by id"),
        pytest.param({"inside": "runs"}, {"runs": [{"id": n, "p": 0.5, "y": 1} for n in IDS]}, id="inside"),
    ],
)
def test_rows_of_tables_can_be_objects(json_rows: Any, data: Any, tmp_path: Path) -> None:
    options = NUMERIC | {"json": json_rows}
    answers, codes = read(options, data, lines=json_rows == {"lines": True})
    assert codes == []
    assert (answers.ids, answers.values.tolist()) == (IDS, [[0.5, 1]] * 3)
    where = track(**options)
    write_run(where, answers, tmp_path / "run")
    assert_same(read_back(where, tmp_path / "run", IDS), answers)


def test_problems_in_rows_have_the_line_of_the_object() -> None:
    entries = [{"id": n, "p": 0.5, "y": 1} for n in IDS]
    entries[2]["p"] = -1
    report = Report()
    for content, line in ((json.dumps(entries, indent=1), 12), ("\n".join(map(json.dumps, entries)), 3)):
        report = Report()
        how = {"lines": True} if line == 3 else True
        assert read_run(track(**NUMERIC, json=how), content.encode(), report, items=ItemIndex(IDS)) is None
        assert [(problem.code, problem.line, problem.item) for problem in report] == [
            ("value-outside-domain", line, "3")
        ]


def test_spans_and_tuples_can_have_an_object_each() -> None:
    options = {"kind": "tuples", "columns": ["rel", "to"], "file": "table", "id": "id", "json": {"lines": True}}
    data = [
        {"id": 1, "rel": "r", "to": "x"},
        {"id": 1, "rel": "r", "to": "y"},
        {"id": 2},
        {"id": 3, "rel": None, "to": ""},
    ]
    answers, codes = read(options, data, lines=True)
    assert (codes, answers.rows) == ([], [("r", "x"), ("r", "y")])


def test_a_gold_file_may_have_other_keys_and_several_references() -> None:
    report = Report()
    where = track(kind="json-texts", keys={"by_id": True, "extra": "reject"}, value="answers")
    data = json.dumps({n: {"answers": ["a", "b"], "question": "?"} for n in IDS}).encode()
    gold = read_gold(where, data, where.format, report)
    assert list(report) == []
    assert isinstance(gold, Texts)
    assert gold.texts == [("a", "b")] * 3


def test_the_check_says_what_it_read() -> None:
    report = Report()
    where = track(**LABELS, keys=NUMBERS | {"extra": "ignore"})
    data = json.dumps([{"id": n, "value": 1, "why": "x", "score": 2} for n in (1, 2, 3)]).encode()
    read_run(where, data, report, items=ItemIndex(IDS))
    assert report_text(report, "run.json").splitlines() == [
        "run.json: valid.",
        "",
        'Entries read: 3. The first one is item 1 with "1".',
        "",
        "Keys that are not used: why, score.",
    ]
    assert report.as_dict() == {"ok": True, "problems": []}
    table = read_run(track(**NUMERIC, json=True), b'[{"id": 1, "p": 0.5, "y": 1}]', report)
    assert table is not None
    assert report.notes[-1].message == "Entries read: 1. The first one is item id: 1 with p: 0.5, y: 1."
