"""Excerpts of a run: the right line and part, shortened and escaped, and nothing else."""

import json
from time import process_time

import pytest

from scoring import Definition, Report, check
from scoring.reports.excerpts import add_excerpts
from scoring.reports.printing import report_text
from scoring.reports.problems import Excerpt, Problem
from tests.scoring.conftest import ITEMS


def excerpt_of(data: bytes, separator: str | None = None, **fields: object) -> Excerpt | None:
    report = Report([Problem("error", "label-outside-domain", "m", **fields)])  # type: ignore[arg-type]
    add_excerpts(report, data, separator)
    return report.problems[0].excerpt


def marked(excerpt: Excerpt | None) -> tuple[int, str, str]:
    assert excerpt is not None
    return excerpt.line, excerpt.text, excerpt.text[excerpt.start : excerpt.end]


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_cell_is_marked(end: str) -> None:
    data = end.join(["id,a,b", "i1,1,0", "i2,1,1"]).encode()
    assert marked(excerpt_of(data, ",", line=3, column=3, found="1")) == (3, "i2,1,1", "1")
    excerpt = excerpt_of(data, ",", line=3, column=3)
    assert excerpt is not None
    assert (excerpt.start, excerpt.end) == (5, 6)
    assert excerpt_of(data, ",", line=9) is None


def test_what_was_found_is_marked_after_the_id() -> None:
    assert marked(excerpt_of(b"1\t1 \n", line=1, item="1", found='"1 "')) == (1, "1\\t1 ", "1 ")


def test_a_value_in_json_is_found_by_its_id() -> None:
    data = json.dumps([{"id": item, "value": "A"} for item in ITEMS], indent=1).replace('"A"', '"Q"').encode()
    line, text, part = marked(excerpt_of(data, item="i3", found="Q"))
    assert (text.strip(), part) == ('"value": "Q"', "Q")
    assert data.decode().splitlines()[line - 1] == text
    assert marked(excerpt_of(b'[{"id": "i1"},{"id":', line=1, column=21, found="x"))[0] == 1


def test_a_long_line_is_shortened_around_the_mark_and_escaped() -> None:
    line = "a" * 5000 + "\x1b<b>" + "c" * 5000
    excerpt = excerpt_of(line.encode(), line=1, found="\\x1b<b>")
    assert excerpt is not None
    assert len(excerpt.text) < 220
    assert excerpt.text.isprintable()
    assert excerpt.text[excerpt.start : excerpt.end] == "\\x1b<b>"


def test_the_end_of_truncated_json_is_quoted(tiny: Definition) -> None:
    run = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS] * 20)[:-1].encode()
    (problem,) = check(tiny, "task1-hard", run)
    assert problem.code == "json-truncated"
    line, text, part = marked(problem.excerpt)
    assert (line, part) == (1, "}")
    assert text.startswith("…")
    assert text.endswith('"TINY"}')


def test_missing_items_are_not_quoted(tiny: Definition) -> None:
    run = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS[1:]]).encode()
    (problem,) = check(tiny, "task1-hard", run)
    assert (problem.code, problem.excerpt) == ("missing-items", None)
    assert "excerpt" not in problem.as_dict()


def test_a_run_is_quoted_in_json_and_as_text(tiny: Definition) -> None:
    run = json.dumps([{"id": item, "value": "Q", "test_case": "TINY"} for item in ITEMS]).encode()
    (problem,) = check(tiny, "task1-hard", run).errors
    found = problem.as_dict()["excerpt"]
    assert found.keys() == {"line", "text", "start", "end"}
    assert found["text"][found["start"] : found["end"]] == "Q"
    assert "1 | [" in report_text(check(tiny, "task1-hard", run))
    assert "^" in report_text(check(tiny, "task1-hard", run))


def test_a_repeated_id_is_quoted_where_it_is_repeated(tiny: Definition) -> None:
    rows = "\n".join(f"{item}\t1" for item in [*ITEMS, "i3"])
    (problem,) = check(tiny, "task4-plain", rows.encode())
    assert problem.excerpt is not None
    assert (problem.code, problem.excerpt.line, problem.excerpt.text) == ("duplicate-ids", 11, "i3\\t1")


def test_many_problems_take_linear_time() -> None:
    data = b"i1,1\n" * 1_000_000
    report = Report([Problem("error", "ragged-row", "m", line=30_000 * n + 1) for n in range(30)])
    report.problems += [Problem("error", "unknown-ids", "m", item="1") for _ in range(10)]
    start = process_time()
    add_excerpts(report, data, ",")
    assert process_time() - start < 2
