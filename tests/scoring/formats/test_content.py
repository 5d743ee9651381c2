"""Hostile and careless run files are rejected with a stable code and the problem's location, without an exception."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scoring import Definition, DefinitionError, Problem, check, load_definition
from scoring.limits import BYTES_AN_ITEM, RUN_BYTES_FREE
from tests.scoring.conftest import DEFINITION, ITEMS

Edit = Callable[[list[dict[str, Any]]], object]


def labels(value: object = "A") -> list[dict[str, Any]]:
    return [{"id": item, "value": value, "test_case": "TINY"} for item in ITEMS]


def shares() -> list[dict[str, Any]]:
    return [{"id": item, "value": {"NO": 0.5, "A": 0.25, "B": 0.25}} for item in ITEMS]


def table(*rows: str, header: str = "doc,pos,whole,left") -> bytes:
    return "\n".join([header, *rows]).encode()


ROWS = [f"d,{number},1,1" for number in range(10)]
PLAIN = [f"{item}\t1" for item in ITEMS]
SPANS = [f"{item}\t[1, 2]" for item in ITEMS]


def only(definition: Definition, track: str, data: bytes) -> Problem:
    """Return the only problem that the check finds."""
    report = check(definition, track, data)
    assert len(report.problems) == 1, [problem.message for problem in report]
    return report.problems[0]


def lines(rows: list[str], end: str = "\n") -> bytes:
    return end.join(rows).encode()


# Accepted files


@pytest.mark.parametrize(
    ("track", "data"),
    [
        ("task1-hard", json.dumps(labels()).encode()),
        ("task1-hard", json.dumps(labels(), indent=1).encode() + b"\n\n"),
        ("task1-hard", b"\xef\xbb\xbf" + json.dumps(labels()[::-1]).encode()),
        ("task1-hard", json.dumps(labels()).replace("A", "\\u0041").encode()),
        ("task2-hard", json.dumps([{"id": item, "value": ["NO", "A"]} for item in ITEMS]).encode()),
        ("task1-soft", json.dumps(shares()).encode()),
        ("task3-table", table(*ROWS)),
        ("task3-table", table(*(f'"d","{number}","1","1"' for number in range(10)))),
        ("task3-table", table(*(f"1,{number},1,d" for number in range(10)), header="left,pos,whole,doc")),
        ("task3-table", table(*ROWS, "o,1,1,", "o,2,0,")),
        ("task4-plain", lines(PLAIN)),
        ("task4-plain", lines(["id\tHS", *PLAIN])),
        ("task5-spans", lines(SPANS)),
        ("task5-spans", lines([f"{item}\t[]" for item in ITEMS])),
    ],
)
def test_valid_files_have_no_problems(tiny: Definition, track: str, data: bytes) -> None:
    assert check(tiny, track, data).problems == []


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("tail", [0, 1, 3])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_final_blank_lines_do_not_matter(tiny: Definition, end: str, tail: int, mark: bytes) -> None:
    for track, rows in (("task3-table", ["doc,pos,whole,left", *ROWS]), ("task4-plain", PLAIN), ("task5-spans", SPANS)):
        assert check(tiny, track, mark + lines(rows, end) + end.encode() * tail).problems == []


# Files of any format


@pytest.mark.parametrize("track", ["task1-hard", "task1-soft", "task3-table", "task4-plain", "task5-spans"])
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (b"", "empty-file"),
        (b" \r\n\n", "empty-file"),
        (b"i1\t\xff\xfe\n", "not-utf8"),
        (b"i1\t0\x00\n", "nul-character"),
        (b"<!DOCTYPE html><html></html>", "not-a-text"),
        (b"PK\x03\x04" + bytes(30), "not-a-text"),
        (b"%PDF-1.7", "not-a-text"),
    ],
)
def test_what_is_no_text_is_named(tiny: Definition, track: str, data: bytes, code: str) -> None:
    assert only(tiny, track, data).code == code


@pytest.mark.parametrize("track", ["task1-hard", "task1-soft", "task3-table", "task4-plain", "task5-spans"])
@pytest.mark.parametrize("data", ["i1\té\n".encode("utf-16"), "i1\t0\n".encode("utf-16-le")])
def test_another_encoding_is_named_first(tiny: Definition, track: str, data: bytes) -> None:
    codes = [problem.code for problem in check(tiny, track, data)]
    assert codes[0] == "not-utf8-but"
    assert codes.count("not-utf8-but") == 1


# JSON files


@pytest.mark.parametrize(
    ("data", "code"),
    [
        (json.dumps(labels()).encode()[:-20], "json-truncated"),
        (b'[{"id": "i1"', "json-truncated"),
        (b'[{"id": "i1', "json-truncated"),
        (b"[{'id': 'i1'}]", "json-syntax"),
        (b"[1, 2,]", "json-syntax"),
        (json.dumps(labels()).encode() + b"]", "json-syntax"),
        (b'{"x1": "A"}', "json-not-a-list"),
        (b"3", "json-not-a-list"),
        (b"null", "json-not-a-list"),
        (b"[]", "json-not-a-list"),
        (b"[" * 200_000, "json-too-deep"),
        (b'[{"id": ' * 100_000, "json-too-deep"),
    ],
)
def test_what_is_no_list_of_objects(tiny: Definition, data: bytes, code: str) -> None:
    for track in ("task1-hard", "task2-hard", "task1-soft"):
        assert only(tiny, track, data).code == code


@pytest.mark.parametrize(
    ("edit", "code", "item"),
    [
        (lambda run: run[3].update(value="C"), "label-outside-domain", "i3"),
        (lambda run: run[3].update(value="a"), "label-outside-domain", "i3"),
        (lambda run: run[3].update(value="YES"), "inner-class", "i3"),
        (lambda run: run[3].update(value=["A"]), "value-not-a-label", "i3"),
        (lambda run: run[3].update(value=None), "value-not-a-label", "i3"),
        (lambda run: run[3].update(value=10**30), "value-not-a-label", "i3"),
        (lambda run: run[3].pop("value"), "json-missing-key", "i3"),
        (lambda run: run[3].pop("test_case"), "json-missing-key", "i3"),
        (lambda run: run[3].update(test_case="OTHER"), "wrong-constant", "i3"),
        (lambda run: run[3].update(id=7), "id-not-a-text", "#4"),
        (lambda run: run[3].update(id="i3\ud800"), "id-not-a-text", "#4"),
        (lambda run: run[3].update(id="i\x00"), "id-not-a-text", "#4"),
        (lambda run: run[3].update(confidence=0.9), "json-unknown-key", "i3"),
        (lambda run: run.append("x"), "json-not-an-object", "#11"),
        (lambda run: run.append(run[0]), "duplicate-ids", "i0"),
        (lambda run: run.pop(), "missing-items", "i9"),
        (lambda run: run.append(run[0] | {"id": "z"}), "unknown-ids", "z"),
    ],
)
def test_errors_of_labels(tiny: Definition, edit: Edit, code: str, item: str) -> None:
    run = labels()
    edit(run)
    problems = {problem.code: problem for problem in check(tiny, "task1-hard", json.dumps(run).encode())}
    assert problems[code].item == item
    assert problems[code].severity == ("warning" if code == "json-unknown-key" else "error")


@pytest.mark.parametrize(
    ("value", "code", "suggestion"),
    [
        ("A", "value-not-a-list", '["A"]'),
        ([], "no-label", None),
        (["A", "A"], "label-twice", None),
        (["A", "c"], "label-outside-domain", None),
        (["a"], "label-outside-domain", "A"),
        ([1], "class-numbers", "1 → A"),
        ([1.5], "value-not-a-list", None),
    ],
)
def test_errors_of_lists_of_labels(tiny: Definition, value: object, code: str, suggestion: str | None) -> None:
    problem = only(tiny, "task2-hard", json.dumps([{"id": item, "value": value} for item in ITEMS]).encode())
    assert (problem.code, problem.count, problem.suggestion) == (code, 10, suggestion)


@pytest.mark.parametrize(
    ("share", "code"),
    [
        ("NaN", "share-not-a-number"),
        ("Infinity", "share-not-a-number"),
        ("-Infinity", "share-not-a-number"),
        ("1e999", "share-not-a-number"),
        ("9" * 5000, "share-not-a-number"),
        ("9" * 39, "share-out-of-range"),
        ("-0.25", "share-out-of-range"),
        ('"0.25"', "share-not-a-number"),
        ("true", "share-not-a-number"),
        ("null", "share-not-a-number"),
        ("[" * 50 + "]" * 50, "share-not-a-number"),
    ],
)
def test_errors_of_shares(tiny: Definition, share: str, code: str) -> None:
    text = json.dumps(shares()).replace("0.5", share, 1)
    problems = {problem.code: problem for problem in check(tiny, "task1-soft", text.encode())}
    assert problems[code].item == "i0"
    assert len(problems[code].message) < 400


def test_sums_missing_and_unknown_classes(tiny: Definition) -> None:
    run = shares()
    run[1]["value"]["NO"] = 0.6
    run[2]["value"]["NO"] = 0.5009  # the sum is within the tolerance
    del run[3]["value"]["A"]
    run[4]["value"]["yes"] = 0.0
    run[5]["value"] = "A"
    problems = {problem.code: problem for problem in check(tiny, "task1-soft", json.dumps(run).encode())}
    assert problems.keys() == {"wrong-sum", "missing-label", "label-outside-domain", "value-not-shares"}
    assert problems["wrong-sum"].places[:2] == ("i1: 1.1", "i3: 0.75")
    assert problems["missing-label"].item == "i3"
    assert problems["label-outside-domain"].item == "i4"


@pytest.mark.parametrize("track", ["task1-hard", "task1-soft"])
def test_a_repeated_key_is_seen_whatever_its_place(tiny: Definition, track: str) -> None:
    text = json.dumps(labels() if track == "task1-hard" else shares())
    for key, again in (('"id": "i3"', '"id": "i4"'), ('"value": ', '"value": 1, "value": '), ('"A"', '"A", "A"')):
        if key == '"A"' and track == "task1-hard":
            continue
        doubled = again if key == '"value": ' else f"{again}, {key}" if key.startswith('"id"') else '"A": 0, "A"'
        codes = {problem.code for problem in check(tiny, track, text.replace(key, doubled, 1).encode())}
        assert codes == {"json-duplicate-key"}


def test_twenty_ids_are_listed_and_the_total_said(tiny: Definition) -> None:
    run = labels() + [{"id": f"z{number}", "value": "A", "test_case": "TINY"} for number in range(45)]
    problem = only(tiny, "task1-hard", json.dumps(run).encode())
    assert (problem.code, problem.count, len(problem.places)) == ("unknown-ids", 45, 20)
    assert "z19, … and 25 more ids" in problem.message
    assert "z20" not in problem.message


def test_all_errors_at_once(tiny: Definition) -> None:
    run = labels()
    run[0]["value"], run[1]["id"], run[2]["test_case"] = "C", "i9", "X"
    codes = {problem.code for problem in check(tiny, "task1-hard", json.dumps(run).encode()).errors}
    assert codes == {"label-outside-domain", "duplicate-ids", "missing-items", "wrong-constant"}


# Tables


@pytest.mark.parametrize(
    ("data", "code", "line"),
    [
        (table(*ROWS[:-1], 'd,9,"1,1'), "quote-open", 11),
        (table(*ROWS[:-1], 'd,9,"1"x,1'), "quote-misplaced", 11),
        (table(*ROWS[:-1], f"d,9,{'1' * 200_000},1"), "cell-too-long", 11),
        (table(*ROWS).replace(b",", b";"), "wrong-separator", 1),
        (table(*ROWS).replace(b",", b"\t"), "wrong-separator", 1),
        (table(*ROWS[:-1], "d,9,1"), "ragged-row", 11),
        (table(*ROWS[:-1], "d,9,1,1,1"), "ragged-row", 11),
        (table(*ROWS, header="doc,pos,whole,whole"), "header-column-missing", 1),
        (table(*ROWS, header="doc,pos,Whole,left"), "header-column-missing", 1),
        (table(*ROWS), "header-column-missing", 1),
        (table(), "no-rows", None),
        (table(*ROWS[:-1], "d,9,2,1"), "value-outside-domain", 11),
        (table(*ROWS[:-1], "d,9,,1"), "value-missing", 11),
        (table(*ROWS[:-1], "d,9,=1+1,1"), "value-outside-domain", 11),
        (table(*ROWS[:-1], "d,9,0,1"), "part-without-whole", 11),
        (table(*ROWS[:-1], "d,9,1,0"), "whole-without-part", 11),
        (table(*ROWS, "o,1,1,1"), "optional-items-missing", None),
        (table(*ROWS, "d,1,1,1"), "duplicate-ids", None),
        (table(*ROWS[:-1], "d,9 ,1,1"), "ids-changed", None),
        (table(*ROWS[1:], "-d,0,1,1"), "unknown-ids", None),
        (table(*(f"{row},x" for row in ROWS), header="doc,pos,whole,left,note"), "extra-columns", 1),
    ],
)
def test_errors_of_tables(tiny: Definition, data: bytes, code: str, line: int | None) -> None:
    if code == "header-column-missing" and data == table(*ROWS):
        data = data.split(b"\n", 1)[1]
    problems = {problem.code: problem for problem in check(tiny, "task3-table", data)}
    assert problems[code].line == line
    expected = "warning" if code in ("whole-without-part", "extra-columns") else "error"
    assert problems[code].severity == expected


def test_a_part_without_the_whole_may_be_a_warning(write_task: Callable[[str], Path]) -> None:
    rule = "implies: {whole: whole, parts: [left]"
    definition = load_definition(write_task(DEFINITION.replace(rule, f"{rule}, level: warning")))
    report = check(definition, "task3-table", table(*ROWS[:-2], "d,8,1,0", "d,9,0,1"))
    assert [(problem.severity, problem.code, problem.line) for problem in report] == [
        ("warning", "part-without-whole", 11)
    ]
    with pytest.raises(DefinitionError, match="expected error or warning"):
        load_definition(write_task(DEFINITION.replace(rule, f"{rule}, level: none")))


def test_a_duplicate_header_is_named(tiny: Definition) -> None:
    rows = [f"{row},0" for row in ROWS]
    assert only(tiny, "task3-table", table(*rows, header="doc,pos,whole,left,left")).code == "header-column-twice"


def test_what_a_cell_means_is_suggested(tiny: Definition) -> None:
    for cell, meant in ((" 1", "1"), ("1.0", "1"), ("True", "1"), ("false", "0"), ("hate", None)):
        problem = only(tiny, "task4-plain", lines([*PLAIN[:-1], f"i9\t{cell}"]))
        code = "decimal-point" if "." in cell else "value-outside-domain"
        assert (problem.code, problem.suggestion, problem.item) == (code, meant, "i9")


def test_the_nearest_id_is_suggested(tiny: Definition) -> None:
    (problem,) = check(tiny, "task4-plain", lines([*PLAIN[:-1], " i9\t1"]))
    assert (problem.code, problem.suggestion) == ("ids-changed", '" i9" → i9')


# Span files


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("i9 [1]", "span-line"),
        ("i9\t[1]\tx", "span-line"),
        ("\t[1]", "unknown-ids"),
        ("i9\t", "span-not-offsets"),
        ("i9\t1, 2", "span-not-offsets"),
        ("i9\t[1.5]", "span-not-offsets"),
        ("i9\t[1.0]", "decimal-point"),
        ("i9\t[true]", "span-not-offsets"),
        ("i9\t[[1]]", "span-not-offsets"),
        ("i9\tlist(range(3))", "span-not-offsets"),
        ("i9\t" + "[" * 100_000, "span-not-offsets"),
        ("i9\t[" + "9" * 5000 + "]", "span-not-offsets"),
        ("i9\t[9999999999]", "offset-too-large"),
        ("i9\t[-99999999999999999999, 1]", "offset-too-large"),
    ],
)
def test_errors_of_spans(tiny: Definition, line: str, code: str) -> None:
    problems = check(tiny, "task5-spans", lines([*SPANS[:-1], line])).errors
    assert code in {problem.code for problem in problems}
    assert all(problem.line == 10 for problem in problems if problem.code == code and problem.line)
    assert all(len(problem.message) < 400 for problem in problems)


def test_a_negative_offset_is_only_a_warning(tiny: Definition) -> None:
    problem = only(tiny, "task5-spans", lines([*SPANS[:-1], "i9\t[-1, 3]"]))
    assert (problem.severity, problem.code, problem.line) == ("warning", "offset-negative", 10)


@pytest.mark.slow
def test_shares_of_many_classes_may_fill_a_large_file(write_task: Callable[[str], Path], tmp_path: Path) -> None:
    classes = [f"intention-number-{number}" for number in range(150)]
    items = [f"i{number}" for number in range(3000)]
    task = load_definition(
        write_task(DEFINITION.replace('classes: ["NO", A, B], sum: 1}\n    hierarchy: kinds', f"classes: {classes}}}"))
    )
    run = tmp_path / "run.json"
    shares = {name: 1 / len(classes) for name in classes}
    run.write_text(json.dumps([{"id": item, "value": shares} for item in items], indent=2), encoding="utf-8")
    assert run.stat().st_size > RUN_BYTES_FREE + BYTES_AN_ITEM * len(items)
    assert check(task, "task1-soft", run, items).ok
