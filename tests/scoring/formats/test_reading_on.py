"""After a problem with a table's layout, the rest of the file is still checked."""

from collections.abc import Callable
from pathlib import Path
from time import process_time

import pytest

from scoring import Definition, check, load_definition
from scoring.check import read_answers
from scoring.reports.problems import Problem
from tests.scoring.conftest import DEFINITION, ITEMS

TRACK = """
  - slug: task6-labels
    format: {kind: table-labels, id: id, classes: ["YES", "NO"]}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
naming:"""
REST = "i0,YES\ni1,yes\ni2,NO\ni2,NO\ni3,no\ni4,5\n"  # wrong labels, a repeated id and missing items
FOUND = {"label-outside-domain", "duplicate-ids", "missing-items"}


@pytest.fixture
def task(write_task: Callable[[str], Path]) -> Definition:
    return load_definition(write_task(DEFINITION.replace("\nnaming:", TRACK, 1)))


def problems(task: Definition, text: str) -> dict[str, Problem]:
    return {problem.code: problem for problem in check(task, "task6-labels", text.encode())}


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"id,label\n{REST}".replace(",", ";"), "wrong-separator"),
        (f"id,label\n{REST}".replace(",", "\t"), "wrong-separator"),
        (f"id,label\n{REST}".replace(",", "|"), "wrong-separator"),
        ("id;text;label\n" + REST.replace(",", ";x;"), "wrong-separator"),
        (f"sep=;\nid;label\n{REST.replace(',', ';')}", "excel-separator-line"),
        (f"id,Label\n{REST}", "header-column-missing"),
        (f" id,label \n{REST}", "header-column-missing"),
        (f"id,prediction\n{REST}", "header-column-missing"),
        (f"text,prediction\n{REST}", "header-column-missing"),
        (f",label\n{REST}", "index-without-name"),
        (REST, "header-column-missing"),
        (f"id,label\n{REST}i5,YES,x\ni6\n", "ragged-row"),
    ],
)
def test_a_wrong_layout_hides_no_other_problem(task: Definition, text: str, code: str) -> None:
    found = problems(task, text)
    assert found.keys() >= FOUND | {code}
    missing = found["missing-items"]
    assert missing.count == (3 if code == "ragged-row" else 5)  # items in unreadable rows are not missing
    assert found["duplicate-ids"].places == ("i2",)


def test_a_header_is_expected_with_the_right_separator(task: Definition) -> None:
    assert problems(task, f"id,Label\n{REST}".replace(",", ";"))["header-column-missing"].expected == "id,label"


def test_columns_in_another_order_are_found_by_their_ids(task: Definition) -> None:
    rows = "".join(",".join(reversed(line.split(","))) + "\n" for line in REST.splitlines())
    assert problems(task, f"answer,text\n{rows}").keys() == FOUND | {"header-column-missing"}


def test_a_text_with_the_right_separator_is_not_mistaken(task: Definition) -> None:
    assert "wrong-separator" not in problems(task, "id;label,x\ni0,YES\n")


def test_each_wrong_value_gets_its_own_suggestion(task: Definition) -> None:
    assert problems(task, f"id,label\n{REST}")["label-outside-domain"].suggestion == "yes → YES, no → NO"
    same = REST.replace("no\n", "yes\n").replace(",5", ",yes")
    assert problems(task, f"id,label\n{same}")["label-outside-domain"].suggestion == "YES"


def test_blanks_and_look_alikes_are_shown(task: Definition) -> None:
    assert problems(task, f"id, label\n{REST}")["header-column-missing"].suggestion == '" label" → label'
    label = problems(task, f"id,label\n{REST.replace('yes', chr(0x3A5) + 'ES')}")["label-outside-domain"]
    assert (label.found, label.suggestion) == ("\\u03a5ES", "\\u03a5ES → YES, no → NO")


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("row", "code", "line"),
    [('"i5,YES', "quote-open", 8), ('i5,"YES', "quote-open", 8), ('"i5"x,YES', "quote-misplaced", 8)],
)
def test_a_wrong_quotation_mark_hides_no_other_problem(
    task: Definition, row: str, code: str, line: int, end: str
) -> None:
    text = f"id,label\n{REST}{row}\ni6,maybe\ni7,YES\ni8,YES\n".replace("\n", end)
    found = problems(task, text)
    assert found.keys() >= FOUND | {code}
    assert (found[code].line, found["label-outside-domain"].count) == (line, 4)
    assert "i6" not in found["missing-items"].places


def test_lines_with_wrong_quotation_marks_take_linear_time(task: Definition) -> None:
    text = "id,label\n" + '"i0,""YES\n' * 90_000
    start = process_time()
    found = problems(task, text)
    assert process_time() - start < 2
    assert "quote-open" in found or "quote-misplaced" in found


@pytest.mark.parametrize(
    ("encoding", "code"),
    [
        ("utf-16", "not-utf8-but"),
        ("utf-16-le", "not-utf8-but"),
        ("utf-16-be", "not-utf8-but"),
        ("utf-32", "not-utf8-but"),
        ("latin-1", "not-utf8"),
        ("cp1252", "not-utf8"),
    ],
)
def test_another_encoding_hides_no_other_problem(task: Definition, encoding: str, code: str) -> None:
    data = f"id,label\n{REST}i5,S\u00ed\n".encode(encoding)
    report = check(task, "task6-labels", data)
    codes = [problem.code for problem in report]
    assert set(codes) == FOUND | {code}
    assert codes.count(code) == 1
    (label,) = [problem for problem in report if problem.code == "label-outside-domain"]
    assert "line 7: S\u00ed" in label.message.replace("i5: ", "line 7: ") or "S\u00ed" in label.message
    assert label.excerpt is not None
    assert label.excerpt.text == "i1,yes"


@pytest.mark.parametrize("encoding", ["utf-16", "latin-1"])
@pytest.mark.parametrize("track", ["task1-hard", "task2-hard", "task3-table", "task4-plain", "task5-spans"])
def test_a_run_in_another_encoding_is_never_scored(tiny: Definition, track: str, encoding: str) -> None:
    answers, report = read_answers(tiny, track, "i1\t\u00e9\n".encode(encoding))
    assert answers is None
    assert not report.ok


LINES = [f'{{"id": "{item}", "value": "{value}"}}' for item, value in zip(ITEMS, ["YES", "no"] * 5, strict=True)]


@pytest.fixture
def by_line(write_task: Callable[[str], Path]) -> Definition:
    track = TRACK.replace("table-labels, id: id", "json-labels, lines: true")
    return load_definition(write_task(DEFINITION.replace("\nnaming:", track, 1)))


@pytest.mark.parametrize("broken", ['{"id": "i2", "value": YES}', '{"id": "i2", "value": "YES"', '{"id": "i2" "x"}}'])
def test_a_line_that_is_not_json_hides_no_other_problem(by_line: Definition, broken: str) -> None:
    body = "\n".join([*LINES[:2], broken, *LINES[3:9], LINES[3]]).encode()
    found = check(by_line, "task6-labels", body)
    (syntax,) = [problem for problem in found if problem.code.startswith("json-")]
    assert (syntax.line, syntax.excerpt and syntax.excerpt.line) == (3, 3)
    rest = {problem.code: problem.places for problem in found if problem is not syntax}
    assert rest["missing-items"] == (ITEMS[9],)
    assert rest["duplicate-ids"] == (ITEMS[3],)
    assert rest["label-outside-domain"][0].startswith(f"{ITEMS[1]}:")


def test_lines_that_are_mostly_not_json_are_one_problem(by_line: Definition) -> None:
    (problem,) = check(by_line, "task6-labels", b"yes\nno\nno\n")
    assert problem.code == "json-syntax"
