"""Reports on problems: names first, the same problem once, excerpts and lines of code."""

import ast
from typing import Any

import pytest
from django.template.loader import render_to_string

from portal.queries.code_fixes import code_fix
from portal.queries.problem_report import problem_report
from scoring.reports.problems import Excerpt, Report
from tests.for_each import for_each


def problem(code: str, file: str | None = "a.json", *, severity: Any = "error", **fields: Any) -> dict[str, Any]:
    report = Report()
    report.add(severity, code, file=file, **fields)
    return report.problems[0].as_dict()


def label(file: str, line: int, found: str = "Yes", count: int = 5) -> dict[str, Any]:
    excerpts = [Excerpt(line + number, f'"value": "{found}"', 10, 10 + len(found)) for number in range(3)]
    places = tuple(f"i{number}: {found}" for number in range(count))
    known = {"item": "i0", "found": found, "expected": "one of YES, NO", "suggestion": "YES"}
    quoted = {"excerpt": excerpts[0], "more_excerpts": tuple(excerpts[1:])}
    return problem("label-outside-domain", file, count=count, places=places, **known, **quoted)


def text(*problems: dict[str, Any]) -> str:
    return " ".join(render_to_string("problems/_report.html", {"problems": problems}).split())


def test_names_come_before_contents_and_errors_before_warnings() -> None:
    unknown_key = problem("json-unknown-key", severity="warning", count=1, places=("x",))
    name = problem("name-extension", "b.jsn", found=".jsn", expected=".json", suggestion="b.json")
    report = problem_report([unknown_key, label("a.json", 4), name])
    assert [finding.problem["code"] for finding in report.naming] == ["name-extension"]
    (contents,) = report.contents
    assert [finding.problem["code"] for finding in contents.findings] == ["label-outside-domain", "json-unknown-key"]
    assert report.has_parts
    shown = text(unknown_key, label("a.json", 4), name)
    assert shown.index("Names and archive") < shown.index("name-extension") < shown.index("label-outside-domain")


def test_the_same_problem_in_several_files_is_one_finding_with_lines_of_each() -> None:
    files = [f"task{number}.json" for number in range(4)]
    report = problem_report(label(file, 10 * number + 1) for number, file in enumerate(files))
    (part,) = report.contents
    (finding,) = part.findings
    assert (part.files, finding.count, part.extent) == (tuple(files), 20, "20 labels")
    assert [(example.file, example.excerpt["line"]) for example in finding.examples] == [
        ("task0.json", 1),
        ("task1.json", 11),
        ("task2.json", 21),
    ]
    shown = text(*(label(file, 1) for file in files))
    assert "and 19 more labels" in shown
    assert "in 4 files" in shown
    assert shown.count('href="/errors/label-outside-domain/"') == 1


def test_different_fixes_stay_apart() -> None:
    other = label("b.json", 1) | {"suggestion": "NO"}
    assert [part.files for part in problem_report([label("a.json", 1), other]).contents] == [("a.json",), ("b.json",)]


def test_every_wrong_name_gets_its_own() -> None:
    names = [problem("name-team", f"{n}_X.json", found="X", expected="Y", suggestion=f"{n}_Y.json") for n in "abcd"]
    (finding,) = problem_report(names).naming
    assert [rename.name for rename in finding.renames] == ["a_Y.json", "b_Y.json", "c_Y.json", "d_Y.json"]
    assert text(*names).count('class="name whole"') == 4


def test_three_lines_are_quoted_and_the_rest_is_counted() -> None:
    shown = text(label("a.json", 7, "<b>"))
    assert shown.count('class="excerpt"') == 3
    assert "<mark>&lt;b&gt;</mark>" in shown
    assert "Labels that the track does not define." in shown  # the places are in the excerpts
    assert "and 4 more labels" in shown
    assert "<h3>" not in shown  # a single file needs no heading


def test_problems_without_a_place_keep_their_whole_message() -> None:
    shown = text(problem("missing-items", count=2, places=("i1", "i2"), item="i1"))
    assert "Missing items: i1, i2. Add an entry for every item in the track." in shown
    assert "excerpt" not in shown


CODE = [
    pytest.param('df["COLUMN"].astype(int)', {"code": "decimal-point", "found": "1.0"}, id="numbers with a point"),
    pytest.param('df.to_csv("a.csv", index=False)', {"code": "index-column", "file": "a.csv"}, id="row numbers"),
    pytest.param('"a.tsv", sep="\\t", index=False', {"code": "index-column", "file": "a.tsv"}, id="tabs"),
    pytest.param('sep="\\t"', {"code": "wrong-separator", "expected": "tabs"}, id="another separator"),
    pytest.param("lines=True", {"code": "json-list-for-lines"}, id="one object per line"),
    pytest.param("astype(str)", {"code": "id-not-a-text", "count": 1, "places": ("1",)}, id="ids as numbers"),
    pytest.param("sum(shares.values())", {"code": "wrong-sum", "count": 1, "places": ("i1",)}, id="sums"),
    pytest.param("json.dump(", {"code": "json-syntax", "line": 1, "found": "'id': 1"}, id="Python for JSON"),
    pytest.param(
        'rename(columns={"Id": "id"})', {"code": "header-column-missing", "suggestion": "Id → id"}, id="columns"
    ),
    pytest.param('"a\\"); x(\\"", index=False', {"code": "index-column", "file": 'a"); x("'}, id="quotes in names"),
]


@for_each(["part", "fields"], CODE)
def test_a_line_of_code_fixes_what_is_common(part: str, fields: dict[str, Any]) -> None:
    found = code_fix(problem(**fields))
    assert found is not None
    assert part in found
    ast.parse(found)
    assert len(found.splitlines()) == 1


def test_what_has_no_common_fix_gets_no_code() -> None:
    assert code_fix(problem("missing-items", count=1, places=("i1",))) is None
    assert code_fix(problem("json-syntax", line=1, found="}", expected="x")) is None
