"""Files of another shape than the track's: each is recognized and reported as one problem with its fix."""

import json
from typing import Any

import pytest

from scoring.formats import read_gold, read_run
from scoring.items.index import ItemIndex
from scoring.reports.messages import LANGUAGES
from scoring.reports.problems import Problem, Report, translate
from tests.scoring.formats.test_writing import track

NUMBERS = ItemIndex(["1", "2", "3"])
TABLE = {"id": "id", "classes": ["A", "B"]}
BARE = {**TABLE, "header": "none", "separator": "\t", "quotes": "none"}
TUPLES = {"id": "id", "columns": ["x", "y"], "file": "table"}


def problems(kind: str, options: dict[str, Any], text: str, **further: Any) -> list[Problem]:
    report = Report()
    read_run(track(kind, **options), text.encode(), report, items=NUMBERS, **further)
    for problem in report:
        assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES)
    return list(report)


SLIPS: list[tuple[str, dict[str, Any], str, str, str, int]] = [
    ("table-labels", TABLE, "id,label,\n1,A,\n2,B,\n3,B,\n", "trailing-separator", "warning", 1),
    (
        "table-labels",
        {**TABLE, "extra_columns": "reject"},
        "id,label,\n1,A,\n2,B,\n3,B,\n",
        "trailing-separator",
        "error",
        1,
    ),
    ("table-labels", TABLE, "id,label\n1,A,\n2,B,\n3,B,\n", "trailing-separator", "error", 2),
    ("table-labels", TABLE, "id,label\n1,A\n2,B,,\n3,B\n", "trailing-separator", "error", 3),
    ("table-labels", BARE, "1\tA\t\n2\tB\t\n3\tB\t\n", "trailing-separator", "error", 1),
    (
        "table",
        {"id": "id", "columns": ["x"]},
        "id;x;\n1;0;\n2;1;\n3;1;\n".replace(";", ","),
        "trailing-separator",
        "warning",
        1,
    ),
    ("table-labels", TABLE, "id,label\n1,A\n2,B\n3,B\n,\n,\n", "empty-row", "warning", 5),
    ("table-labels", TABLE, 'id,label\n1,A\n"",""\n2,B\n3,B\n', "empty-row", "warning", 3),
    ("table-labels", TABLE, "id,label\n1,A\n   \n2,B\n3,B\n", "empty-row", "warning", 3),
    ("table-labels", TABLE, ",\nid,label\n1,A\n2,B\n3,B\n", "empty-row", "warning", 1),
    ("tuples", TUPLES, "id,x,y\n1,a,b\n2,,\n,,\n3,,\n", "empty-row", "warning", 4),
    ("table-labels", BARE, "id\tlabel\n1\tA\n2\tB\n3\tB\n", "header-line", "error", 1),
    ("table-labels", BARE, "tweet\tclass\n1\tA\n2\tB\n3\tB\n", "header-line", "error", 1),
    ("table-labels", BARE, "ID \tLabel\n1\tA\n2\tB\n3\tB\n", "header-line", "error", 1),
    ("table-labels", TABLE, "id,label\n1,A\n2,B\nid,label\n3,B\n", "header-line", "error", 4),
    ("table", {"id": "id", "columns": ["x"], "header": "none"}, "key,x\n1,0\n2,1\n3,1\n", "header-line", "error", 1),
    ("table-labels", BARE, '"1"\t"A"\n"2"\t"B"\n"3"\t"B"\n', "quoted-cells", "error", 1),
    (
        "table-labels",
        {**BARE, "header": "required"},
        '"id"\t"label"\n"1"\t"A"\n"2"\t"B"\n"3"\t"B"\n',
        "quoted-cells",
        "error",
        1,
    ),
    ("trec-qrels", {}, "query iter doc rel\n1 0 a 1\n2 0 b 0\n3 0 b 2\n", "header-line", "error", 1),
    (
        "trec-run",
        {},
        "qid Q0 doc rank score tag\n1 Q0 a 1 1 s\n2 Q0 b 1 2 s\n3 Q0 c 1 1 s\n",
        "header-line",
        "error",
        1,
    ),
    ("trec-run", {}, "1 Q0 a 1.0 1 s\n2 Q0 b 1.0 2 s\n3 Q0 c 1.0 1 s\n", "decimal-point", "error", 1),
    ("spans", {}, "id\tspans\n1\t[0, 1]\n2\t[]\n3\t[5]\n", "header-line", "error", 1),
    ("conll", {"classes": ["P"]}, "Token\tNER\na\tO\n\nb\tB-P\n\nc\tO\n", "header-line", "error", 1),
    ("text-lines", {"ids": "first"}, "id\ttext\n1\ta b\n2\tc\n3\td\n", "header-line", "error", 1),
    ("spans", {}, "1\t[0.0, 1.0]\n2\t[]\n3\t[5]\n", "decimal-point", "error", 1),
    ("spans", {"spans": "pairs"}, "1\t[[0.0, 1.0]]\n2\t[]\n3\t[[5, 6]]\n", "decimal-point", "error", 1),
    (
        "spans",
        {"file": "table", "spans": "rows", "id": "id"},
        "id,start,stop\n1,0.0,2.0\n2,,\n3,5.0,6.0\n",
        "decimal-point",
        "error",
        2,
    ),
]


@pytest.mark.parametrize(("kind", "options", "text", "code", "severity", "line"), SLIPS)
def test_a_stray_row_or_cell_is_one_problem(
    kind: str, options: dict[str, Any], text: str, code: str, severity: str, line: int
) -> None:
    (problem,) = problems(kind, options, text)
    assert (problem.code, problem.severity, problem.line) == (code, severity, line)


@pytest.mark.parametrize(
    ("kind", "options", "text", "codes"),
    [
        ("table-labels", BARE, "0\tA\n1\tA\n2\tB\n3\tB\n", ["unknown-ids"]),
        ("table-labels", BARE, "id\tlabel\n1\tA\n2\tC\n", ["header-line", "label-outside-domain", "missing-items"]),
        ("table-labels", TABLE, "id,label,\n1,A,x\n2,B,\n3,B,\n", ["extra-columns"]),
        ("table-labels", TABLE, "id,label\n1,A,x\n2,B,\n3,B\n", ["ragged-row"]),
        ("table-labels", BARE, '"1"\tA\n2\tB\n3\tB\n', ["ids-changed"]),
        ("table-labels", TABLE, "id,label\n,A\n1,A\n2,B\n3,B\n", ["unknown-ids"]),
    ],
)
def test_other_problems_are_reported_next_to_it_and_valid_rows_are_kept(
    kind: str, options: dict[str, Any], text: str, codes: list[str]
) -> None:
    assert [problem.code for problem in problems(kind, options, text)] == codes


def test_a_header_in_gold_is_reported() -> None:
    where, report = track("table-labels", **BARE), Report()
    read_gold(where, b"id\tlabel\n1\tA\n2\tB\n", where.format, report)
    assert [(problem.code, problem.line) for problem in report] == [("header-line", 1)]


PAIRS = [("1", "A"), ("2", "B"), ("3", "B")]
RECORDS = [{"id": item, "value": label} for item, label in PAIRS]
COLUMNS = {"id": [item for item, _ in PAIRS], "value": [label for _, label in PAIRS]}
INDEXED = {name: dict(enumerate(cells)) for name, cells in COLUMNS.items()}
LINES = [json.dumps(record) for record in RECORDS]
SHAPES: list[tuple[bool, str, str, str]] = [
    (False, json.dumps(dict(PAIRS)), "json-by-id", '[{"id": "1", "value": "A"}, …]'),
    (
        False,
        json.dumps({item: {"value": label} for item, label in PAIRS}),
        "json-by-id",
        '[{"id": "1", "value": "A"}, …]',
    ),
    (False, json.dumps({"predictions": RECORDS}), "json-wrapped", "under the key predictions"),
    (False, json.dumps({"version": 1, "data": RECORDS}), "json-wrapped", "under the key data"),
    (False, json.dumps(COLUMNS), "json-columns", 'orient="records"'),
    (False, json.dumps(INDEXED), "json-columns", 'orient="records"'),
    (
        False,
        json.dumps({"columns": ["id", "value"], "index": [0, 1, 2], "data": PAIRS}),
        "json-columns",
        'orient="records"',
    ),
    (False, json.dumps(dict(enumerate(RECORDS))), "json-columns", 'orient="records"'),
    (False, "\n".join(LINES), "json-lines-for-list", "a single list"),
    (False, ",\n".join(LINES), "json-lines-for-list", "a single list"),
    (False, "\n".join(json.dumps(record, indent=1) for record in RECORDS), "json-lines-for-list", "a single list"),
    (True, "\n".join(json.dumps(record, indent=1) for record in RECORDS), "json-lines-indented", "without indentation"),
    (True, ",\n".join(LINES), "json-lines-commas", "no commas"),
    (True, ",\n".join(LINES) + ",\n", "json-lines-commas", "no commas"),
    (False, json.dumps({"results": {"predictions": RECORDS}}), "json-wrapped", "under the key results.predictions"),
    (False, json.dumps([{item: label} for item, label in PAIRS]), "json-by-id", "The ids are keys"),
    (True, "\n".join(json.dumps({item: label}) for item, label in PAIRS), "json-by-id", "The ids are keys"),
    (True, json.dumps(RECORDS), "json-list-for-lines", "one object per line"),
    (True, json.dumps(dict(PAIRS)), "json-by-id", 'expected one object per item: {"id": "1", "value": "A"}'),
    (True, json.dumps({"predictions": RECORDS}), "json-wrapped", '{"id": "1", "value": "A"}'),
]


@pytest.mark.parametrize(("lines", "text", "code", "words"), SHAPES)
def test_json_of_another_shape_is_one_problem_with_an_example(lines: bool, text: str, code: str, words: str) -> None:
    options = {"classes": ["A", "B"], "lines": lines}
    (problem,) = problems("json-labels", options, text)
    assert (problem.code, problem.severity) == (code, "error")
    assert words in problem.message
    other = [problem.code for problem in problems("json-labels", options, text.replace('"B"', '"C"'))]
    assert other == [code, "label-outside-domain"]


@pytest.mark.parametrize(
    ("kind", "options", "example"),
    [
        ("json-labels", {"classes": ["A"], "multi": True}, '[{"id": "1", "value": ["A"]}, …]'),
        (
            "json-labels",
            {"classes": ["A"], "constants": {"test_case": "T"}},
            '[{"id": "1", "value": "A", "test_case": "T"}, …]',
        ),
        ("json-soft", {"classes": ["A", "B"]}, '[{"id": "1", "value": {"A": 0.5, "B": 0.5}}, …]'),
        ("json-texts", {"value": "output"}, '[{"id": "1", "output": "…"}, …]'),
        ("id-lists", {}, '[{"id": "1", "value": ["d7", "d2"]}, …]'),
        ("spans", {"file": "json", "spans": "pairs"}, '[{"id": "1", "value": [[10, 13]]}, …]'),
        ("tuples", {"columns": ["x"]}, '[{"id": "1", "value": [{"x": "…"}]}, …]'),
    ],
)
def test_examples_are_those_of_the_format(kind: str, options: dict[str, Any], example: str) -> None:
    for text in ("3", "{}", "[]"):
        (problem,) = problems(kind, options, text)
        assert (problem.code, problem.expected) == ("json-not-a-list", example)


def test_tuples_by_id_are_not_mistaken_for_a_list_in_an_object() -> None:
    (problem,) = problems("tuples", {"columns": ["x"]}, '{"1": [{"x": "a"}], "2": [], "3": []}')
    assert problem.code == "json-by-id"


@pytest.mark.parametrize("lines", [False, True])
def test_lists_are_no_records(lines: bool) -> None:
    text = "\n".join(map(json.dumps, PAIRS)) if lines else json.dumps(PAIRS)
    (problem,) = problems("json-labels", {"classes": ["A", "B"], "lines": lines}, text)
    assert (problem.code, problem.count) == ("json-not-an-object", 3)
    assert '{"id": "1", "value": "A"}' in problem.message


@pytest.mark.parametrize(
    ("record", "suggestion", "others"),
    [
        ({"ID": "{}", "label": "A"}, "ID → id, label → value", []),
        ({"Id": "{}", "value": "A"}, "Id → id", []),
        ({"tweet": "{}", "value": "A"}, "tweet → id", []),
        ({"id": "{}", "hard_label": "C"}, "hard_label → value", ["label-outside-domain"]),
        ({"id": "{}", "VALUE": "A", "note": 1}, "VALUE → value", ["json-unknown-key"]),
    ],
)
def test_keys_with_other_names_are_read_as_what_they_stand_for(
    record: dict[str, object], suggestion: str, others: list[str]
) -> None:
    text = json.dumps(
        [{key: one.format(item) if one == "{}" else one for key, one in record.items()} for item in "123"]
    )  # type: ignore[attr-defined]
    first, *rest = problems("json-labels", {"classes": ["A", "B"]}, text)
    assert (first.code, first.suggestion, first.count) == ("json-missing-key", suggestion, 3)
    assert [problem.code for problem in rest] == others


TYPED = {"classes": ["P"], "file": "json", "spans": "objects"}
TEXTS = {"1": "😀 Ann saw Bob", "2": "", "3": "Eve"}


def typed(*spans: dict[str, object]) -> str:
    return json.dumps([{"id": "1", "value": list(spans)}, {"id": "2", "value": []}, {"id": "3", "value": []}])


@pytest.mark.parametrize(
    ("spans", "code", "expected"),
    [
        ([{"start": 2, "stop": 5, "type": "P", "text": "Ann"}], None, None),
        ([{"start": 2, "stop": 5, "type": "P", "text": 7}], None, None),
        ([{"start": 3, "stop": 6, "type": "P", "text": "Ann"}], "offset-units", "characters, not UTF-16 units"),
        ([{"start": 0, "stop": 3, "type": "P", "text": "Ann"}], "offset-shifted", "offsets 2 larger"),
        ([{"start": 2, "stop": 5, "type": "P", "text": "Eva"}], "offset-text", "“Eva”"),
        ([{"start": 2, "stop": 5, "type": "P", "score": 1}], "json-unknown-key", None),
        ([{"start": 2.0, "stop": 5.0, "type": "P"}], "decimal-point", None),
    ],
)
def test_texts_of_spans_in_json_are_compared(
    spans: list[dict[str, object]], code: str | None, expected: str | None
) -> None:
    found = problems("typed-spans", TYPED, typed(*spans), texts=TEXTS)
    assert [problem.code for problem in found] == ([code] if code else [])
    if expected:
        assert (found[0].severity, found[0].expected, found[0].path) == ("warning", expected, "#1.value.1")


def test_texts_of_spans_in_rows_are_compared() -> None:
    options = {"classes": ["P"], "file": "table", "spans": "rows", "id": "id"}
    text = "id,start,stop,type,text\n1,2,5,P,Ann\n1,10,13,P,Bob\n2,,,,\n3,1,4,P,Eve\n"
    (problem,) = problems("typed-spans", options, text, texts=TEXTS)
    assert (problem.code, problem.line, problem.expected) == ("offset-shifted", 5, "offsets 1 smaller")
    assert (
        problems(
            "typed-spans",
            options,
            text.replace(",text", "")
            .replace(",Ann", "")
            .replace(",Bob", "")
            .replace(",Eve", "")
            .replace("2,,,,", "2,,,"),
        )
        == []
    )
