"""Excerpts of a run: the right line and part, shortened and escaped, and nothing else."""

import json
from time import process_time

import pytest

from scoring import Definition, Report, check, score
from scoring.formats.several import packed, quote_files
from scoring.reports.excerpts import add_excerpts
from scoring.reports.printing import report_text
from scoring.reports.problems import Excerpt, Problem
from scoring.score import GoldError
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


def test_an_entry_without_an_id_is_quoted_by_its_position(tiny: Definition) -> None:
    entries = [{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]
    for indent in (None, 1):
        run = json.dumps([*entries[:3], {"value": "A", "test_case": "TINY"}, 7, *entries[3:]], indent=indent)
        found = {problem.code: problem for problem in check(tiny, "task1-hard", run.encode())}
        lacking, other = found["json-missing-key"], found["json-not-an-object"]
        assert (lacking.item, other.item) == ("#4", "#5")
        line, _, part = marked(other.excerpt)
        assert part == "7"
        assert line == marked(lacking.excerpt)[0] + (0 if indent is None else 4)
        assert marked(lacking.excerpt)[2][:1] == "{"


def test_json_of_another_shape_has_no_entries_to_quote(tiny: Definition) -> None:
    run = json.dumps(dict.fromkeys(ITEMS, 7)).encode()
    assert all(problem.excerpt is None for problem in check(tiny, "task1-hard", run) if problem.item == "#1")


def test_a_line_of_a_brat_file_is_quoted() -> None:
    report = Report([Problem("error", "brat-line", "m", line=2, item="d2", found="T2 x")])
    quote_files(packed({"d1.ann": b"a\nb\n", "d2.ann": b"T1\tPER 0 1\tB\nT2 x\n"}), report, None, ".ann")
    assert marked(report.problems[0].excerpt) == (2, "T2 x", "T2 x")
    quote_files(b"PK\x03\x04 damaged", report, None, ".ann")


def test_score_quotes_the_run(tiny: Definition) -> None:
    run = json.dumps([{"id": item, "value": "Q", "test_case": "TINY"} for item in ITEMS]).encode()
    gold = json.dumps([{"id": item, "value": "A", "test_case": "TINY"} for item in ITEMS]).encode()
    (problem,) = score(tiny, "task1-hard", run, gold).report.errors
    assert problem.excerpt is not None
    assert marked(problem.excerpt)[2] == "Q"


def test_gold_is_never_quoted(tiny: Definition) -> None:
    gold = json.dumps([{"id": item, "value": "Q", "test_case": "TINY"} for item in ITEMS]).encode()
    with pytest.raises(GoldError) as raised:
        score(tiny, "task1-hard", gold, gold)
    assert [problem.excerpt for problem in raised.value.report] == [None]


def test_the_last_of_many_entries_is_found_in_linear_time() -> None:
    data = ("[" + "{}," * 99_999 + "7]").encode()
    report = Report(
        [Problem("error", "json-not-an-object", "m", item=f"#{n}", path=f"#{n}") for n in (1, 50_000, 100_000)]
    )
    start = process_time()
    add_excerpts(report, data)
    assert process_time() - start < 2
    assert all(problem.excerpt for problem in report)


def test_a_number_as_an_id_is_marked(tiny: Definition) -> None:
    run = json.dumps([{"id": number, "value": "A", "test_case": "TINY"} for number in (7, 8)]).encode()
    problem = next(problem for problem in check(tiny, "task1-hard", run) if problem.code == "id-not-a-text")
    assert (problem.found, marked(problem.excerpt)[2]) == ("7", "7")


def test_the_first_three_places_are_quoted(tiny: Definition) -> None:
    run = [{"id": item, "value": "Q", "test_case": "TINY"} for item in ITEMS]
    data = json.dumps(run, indent=1).encode()
    (problem,) = check(tiny, "task1-hard", data)
    assert problem.count == len(ITEMS)
    assert problem.excerpt is not None
    quoted = [problem.excerpt, *problem.more_excerpts]
    lines = data.decode().splitlines()
    assert [excerpt.line for excerpt in quoted] == [
        number for number, line in enumerate(lines, 1) if '"value": "Q"' in line
    ][:3]
    assert {excerpt.text[excerpt.start : excerpt.end] for excerpt in quoted} == {"Q"}
    values = problem.as_dict()
    assert [excerpt["line"] for excerpt in values["more_excerpts"]] == [excerpt.line for excerpt in quoted[1:]]
    assert "further" not in values
    assert report_text(Report([problem])).count('"value": "Q"') == 3


def test_each_unknown_id_is_quoted_where_it_is(tiny: Definition) -> None:
    run = [{"id": item, "value": "A", "test_case": "TINY"} for item in (*ITEMS, "x7", "x8")]
    (problem,) = check(tiny, "task1-hard", json.dumps(run, indent=1).encode())
    assert problem.excerpt is not None
    assert [marked(excerpt)[2] for excerpt in (problem.excerpt, *problem.more_excerpts)] == ["x7", "x8"]
