"""Frequent mistakes: each is recognized and reported as a single problem, with its fix."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import Definition, check, load_definition, score
from scoring.reports.messages import LANGUAGES
from scoring.reports.problems import Problem, translate
from tests.scoring.conftest import DEFINITION, ITEMS

LABELS = [{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]
OPTIONS = """
  - slug: task6-{name}
    format: {{{format}}}
    items: items.txt
    metrics: [accuracy]
    rank_by: accuracy
naming:"""
FORMATS = {
    "lines": "kind: json-labels, classes: [A, B], lines: true",
    "binary": 'kind: json-labels, classes: ["0", "1"]',
    "csv": "kind: table, id: id, columns: [HS]",
    "strict": "kind: table, id: id, columns: [HS], extra_columns: reject",
    "bare": "kind: table, id: id, columns: [HS], header: none",
    "labels": 'kind: table-labels, id: id, classes: ["0", "1"]',
}


@pytest.fixture
def task(write_task: Callable[[str], Path]) -> Definition:
    text = DEFINITION
    for name, form in FORMATS.items():
        text = text.replace("\nnaming:", OPTIONS.format(name=name, format=form), 1)
    return load_definition(write_task(text))


def rows(cells: str, header: str = "id,HS\n") -> bytes:
    """Return a table. `cells` may contain the row's number as {n} and its item as {item}."""
    return (header + "".join(cells.format(n=n, item=item) + "\n" for n, item in enumerate(ITEMS))).encode()


def lines(content: list[dict[str, object]]) -> bytes:
    return "".join(json.dumps(entry) + "\n" for entry in content).encode()


SLIPS = {
    "JSON Lines for a list": ("task1-hard", lines(list(LABELS)), "json-lines-for-list", "a single list"),
    "a list for JSON Lines": ("task6-lines", json.dumps(LABELS, indent=1).encode(), "json-list-for-lines", "per line"),
    "numbers with a point": ("task6-csv", rows("{item},1.0"), "decimal-point", "Write 1 "),
    "labels with a point": ("task6-labels", rows("{item},0.0", "id,label\n"), "decimal-point", "Write 0 "),
    "JSON numbers with a point": (
        "task6-binary",
        json.dumps([{"id": item, "value": 1.0} for item in ITEMS]).encode(),
        "decimal-point",
        "Write 1 ",
    ),
    "row numbers without a name": ("task6-strict", rows("{n},{item},1", ",id,HS\n"), "index-column", "index=False"),
    "row numbers read and written again": (
        "task6-strict",
        rows("{n},{item},1", "Unnamed: 0,id,HS\n"),
        "index-column",
        "index=False",
    ),
    "row numbers without a header": ("task6-bare", rows("{n},{item},1", ""), "index-column", "index=False"),
    "ids as an index without a name": ("task6-csv", rows("{item},1", ",HS\n"), "index-without-name", "Name it id"),
    "a line for Excel": ("task6-csv", rows("{item};1", "sep=;\nid;HS\n"), "excel-separator-line", "commas"),
    "a line for Excel, in quotes": ("task6-csv", rows("{item},1", '"sep=,"\r\nid,HS\n'), "excel-separator-line", "sep"),
    "whole lines in quotes": ("task6-csv", rows('"{item},1"', '"id,HS"\n'), "quoted-lines", "Write id,HS"),
    "whole lines in quotes, no header": ("task6-bare", rows('"{item},1"', ""), "quoted-lines", "Write i0,1"),
    "columns under each other's names": ("task6-csv", rows("1,{item}"), "columns-swapped", "are under HS, not id"),
    "columns in another order": ("task6-bare", rows("1,{item}", ""), "columns-swapped", "are under HS, not id"),
    "JSON for a table": ("task6-csv", json.dumps([{"id": "i1", "HS": 1}]).encode(), "json-for-table", "id,HS ⏎ i0,…"),
    "JSON Lines for a table": ("task6-csv", lines([{"id": "i1", "HS": 1}] * 3), "json-for-table", "id,HS ⏎ i0,…"),
    "a table for JSON": ("task1-hard", rows("{item},A"), "table-for-json", '[{"id": "i0", "value": "NO", '),
    "a table for JSON Lines": ("task6-lines", rows("{item}\tA", "id\tHS\n"), "table-for-json", '{"id": "i0", "value"'),
    "two runs": ("task6-csv", rows("{item},1") * 2, "several-runs", "2 runs"),
    "two runs with one header": ("task6-csv", rows("{item},1") + rows("{item},0", ""), "several-runs", "2 runs"),
    "three runs without a header": ("task6-bare", rows("{item},1", "") * 3, "several-runs", "3 runs"),
    "two lists of the same items": ("task1-hard", json.dumps(LABELS).encode() * 2, "several-runs", "2 runs"),
    "the same JSON Lines twice": ("task6-lines", lines(list(LABELS)) * 2, "several-runs", "2 runs"),
    "two lists": (
        "task1-hard",
        json.dumps(LABELS[:4]).encode() + b"\n" + json.dumps(LABELS[4:]).encode(),
        "json-several-lists",
        "2 lists",
    ),
    "a Markdown table": (
        "task6-csv",
        rows("| {item} |  1 |", "|id|HS|\n|:--|--:|\n"),
        "markdown-table",
        "commas between the cells",
    ),
    "a Markdown table without bars at its ends": (
        "task6-csv",
        rows("{item} | 1", "id | HS\n---|---\n"),
        "markdown-table",
        "one row per line",
    ),
    "a table in a frame": (
        "task6-csv",
        b"+----+----+\n| id | HS |\n+====+====+\n" + rows("| {item} | 1 |\n+----+----+", ""),
        "markdown-table",
        "to_csv",
    ),
    "a table with bars only": ("task6-csv", rows("| {item} | 1 |", "| id | HS |\n"), "markdown-table", "commas"),
    "a comma after the last object": (
        "task1-hard",
        json.dumps(LABELS, indent=1).replace("\n]", ",\n]").encode(),
        "json-syntax",
        "found ,; expected no comma before the closing bracket",
    ),
    "a comma after the last key": (
        "task1-hard",
        json.dumps(LABELS).replace("}", ", }", 1).encode(),
        "json-syntax",
        "column 48: found ,; expected no comma before the closing bracket",
    ),
}


def problems(task: Definition, track: str, data: bytes) -> list[Problem]:
    return list(check(task, track, data))


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_is_one_problem_with_its_fix(task: Definition, slip: str) -> None:
    track, data, code, words = SLIPS[slip]
    (problem,) = [one for one in problems(task, track, data) if one.severity == "error"]
    assert (problem.code, problem.count) == (code, 1)
    assert words in problem.message
    sentences = {translate(problem, language).message for language in LANGUAGES}
    assert len(sentences) == len(LANGUAGES)


def test_a_markdown_table_is_read_on(task: Definition) -> None:
    data = (
        rows("| {item} | 1 |", "| id | HS |\n|----|----|\n").replace(b"i3 | 1", b"i3 | 7").replace(b"| i5 | 1 |\n", b"")
    )
    assert {problem.code: problem.line for problem in problems(task, "task6-csv", data)} == {
        "markdown-table": 1,
        "value-outside-domain": 6,
        "missing-items": None,
    }


def test_several_runs_are_checked_on(task: Definition) -> None:
    data = rows("{item},1") + rows("{item},1").replace(b"i3,1", b"i3,7")
    assert {problem.code for problem in problems(task, "task6-csv", data)} == {"several-runs", "value-outside-domain"}


@pytest.mark.parametrize("twice", [b"i0,1\n", b"i0,1\ni1,1\n"])
def test_some_repeated_items_are_not_another_run(task: Definition, twice: bytes) -> None:
    assert [problem.code for problem in problems(task, "task6-csv", rows("{item},1") + twice)] == ["duplicate-ids"]


def test_a_missing_key_says_how_to_add_it(task: Definition) -> None:
    (problem,) = problems(task, "task6-lines", lines([{"id": item} for item in ITEMS]))
    assert (problem.code, "Each entry needs value. Add it, or" in problem.message) == ("json-missing-key", True)


def test_wrong_values_in_swapped_columns_are_still_listed(task: Definition) -> None:
    data = rows("1,{item}").replace(b"1,i3\n", b"7,i3\n")
    found = {problem.code: problem.count for problem in problems(task, "task6-csv", data)}
    assert found == {"columns-swapped": 1, "value-outside-domain": 1}


def test_columns_with_a_few_items_among_the_values_are_not_swapped(task: Definition) -> None:
    found = {problem.code for problem in problems(task, "task6-csv", rows("1,{item}").replace(b"1,i2", b"i2,1"))}
    assert "columns-swapped" not in found


def test_row_numbers_are_a_warning_where_further_columns_are(task: Definition) -> None:
    (problem,) = problems(task, "task6-csv", rows("{n},{item},1", ",id,HS\n"))
    assert (problem.code, problem.severity) == ("index-column", "warning")


def test_other_wrong_values_are_still_listed(task: Definition) -> None:
    data = rows("{item},1.0").replace(b"i3,1.0", b"i3,7")
    found = {problem.code: problem.count for problem in problems(task, "task6-csv", data)}
    assert found == {"decimal-point": 1, "value-outside-domain": 1}


def test_a_misspelled_column_is_not_mistaken_for_an_index(task: Definition) -> None:
    (problem,) = problems(task, "task6-csv", rows("{n},{item},1", ",id,Hs\n"))
    assert (problem.code, problem.places) == ("header-column-missing", ("HS",))


@pytest.mark.parametrize("track", ["task6-binary", "task6-labels"])
def test_labels_with_a_point_are_scored_where_the_official_evaluators_do_so(task: Definition, track: str) -> None:
    if track == "task6-labels":
        right = rows("{item},1", "id,label\n")
        run = right.replace(b"i3,1", b"i3,1.0")
    else:
        right = json.dumps([{"id": item, "value": "1"} for item in ITEMS]).encode()
        run = right.replace(b'"i3", "value": "1"', b'"i3", "value": "1.0"')
    result = score(task, track, run, right, lenient=True)
    (problem,) = result.report
    assert (problem.code, problem.severity) == ("label-outside-domain", "warning")
    assert result.scores == {"accuracy": 0.9}
    assert [error.code for error in score(task, track, run, right).report.errors] == ["decimal-point"]


def test_ids_in_another_unicode_form_are_missing_where_the_official_evaluators_say_so(task: Definition) -> None:
    named = ["caf\u00e9", "na\u00efve", "plain"]
    right = [{"id": name, "value": "1"} for name in named]
    run = [entry | {"id": unicodedata.normalize("NFD", entry["id"])} for entry in right]
    result = score(task, "task6-binary", json.dumps(run).encode(), json.dumps(right).encode(), lenient=True)
    assert [(problem.code, problem.severity) for problem in result.report] == [("ids-unicode-form", "warning")]
    assert result.scores == {"accuracy": pytest.approx(1 / 3)}


@pytest.mark.parametrize(("data", "code"), [(b'{"id": "i1"}', "json-not-a-list"), (b"{x\n{y", "json-syntax")])
def test_what_is_no_json_lines_is_not_mistaken_for_them(task: Definition, data: bytes, code: str) -> None:
    assert [problem.code for problem in problems(task, "task1-hard", data)] == [code]


@pytest.mark.parametrize(("right", "wrong"), [("NFC", "NFD"), ("NFD", "NFC")])
def test_ids_in_another_unicode_form_are_reported_as_such(task: Definition, right: str, wrong: str) -> None:
    named = ["caf\u00e9", "na\u00efve", "plain"]
    (task.folder / "items.txt").write_text("\n".join(unicodedata.normalize(right, name) for name in named))  # type: ignore[arg-type]
    entries = [entry | {"id": unicodedata.normalize(wrong, name)} for name, entry in zip(named, LABELS, strict=False)]  # type: ignore[arg-type]
    (problem,) = problems(task, "task1-hard", json.dumps(entries, ensure_ascii=False).encode())
    assert (problem.code, problem.count, problem.expected) == ("ids-unicode-form", 2, right)
    assert f'normalize("{right}", id)' in problem.message
    missing, form = problems(task, "task1-hard", json.dumps(entries[1:], ensure_ascii=False).encode())
    assert (missing.code, missing.count, form.code, form.count) == ("missing-items", 1, "ids-unicode-form", 1)
