"""Wording of problems: values appear as written, and no parser terms are used."""

import json

import pytest

from scoring import Definition, check
from scoring.reports.printing import report_text
from tests.scoring.formats.test_content import PLAIN, SPANS, labels, lines, only, shares


@pytest.mark.parametrize(
    ("track", "value", "found", "suggestion"),
    [
        ("task1-hard", "true", "true", None),
        ("task1-hard", "null", "null", None),
        ("task1-hard", "-0.50", "-0.5", None),
        ("task1-hard", '["A", null]', '["A", null]', None),
        ("task1-hard", '{"A": "x", "B": [1e999, true]}', '{"A": "x", "B": [1e999, true]}', None),
        ("task1-hard", '" A"', '" A"', "A"),
        ("task1-hard", '"Á"', "Á", None),
        ("task2-hard", '"A"', '"A"', '["A"]'),
        ("task1-soft", '"A"', '"A"', None),
        ("task1-soft", '{"NO": "0.5", "A": 0.25, "B": 0.25}', '"0.5"', "0.5"),
        ("task1-soft", '{"NO": "half", "A": 0.25, "B": 0.25}', '"half"', None),
        ("task1-soft", '{"NO": false, "A": 0.25, "B": 0.25}', "false", None),
    ],
)
def test_values_are_shown_as_they_were_written(
    tiny: Definition, track: str, value: str, found: str, suggestion: str | None
) -> None:
    run = shares() if track == "task1-soft" else labels(["A"] if track == "task2-hard" else "A")
    entries = [json.dumps(entry | ({"test_case": "TINY"} if track == "task1-hard" else {})) for entry in run]
    if track == "task2-hard":
        entries = [json.dumps({"id": entry["id"], "value": entry["value"]}) for entry in run]
    entries[3] = entries[3].replace(json.dumps(run[3]["value"]), value)
    problem = next(iter(check(tiny, track, f"[{','.join(entries)}]".encode()).errors))
    assert (problem.found, problem.suggestion) == (found, suggestion)
    assert found in problem.message
    assert "without quotes" in problem.message or found != '"0.5"'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[{"id": "a",}]', "at line 1, column 12: found ,; expected no comma before the closing bracket."),
        ("[{'id': 'a'}]", "at line 1, column 3: found 'id': 'a'}]; expected a key in double quotes."),
        ('[{"id" "a"}]', 'at line 1, column 8: found "a"}]; expected a colon.'),
        (
            '[{"id": "a"}\n {"id": "b"}]',
            'at line 2, column 2: found {"id": "b"}]; expected a comma or a closing bracket.',
        ),
        ('[{"id": "a\nb"}]', "at line 1, column 11: found the end of the line; expected a closing quotation mark."),
        ('[{"id": "\\x"}]', 'at line 1, column 10: found \\x"}]; expected a different character after the backslash.'),
        ('[{"id": nope}]', "at line 1, column 9: found nope}]; expected a value."),
        ("[] []", "at line 1, column 4: found []; expected the end of the file."),
    ],
)
def test_what_is_no_json_is_said_in_words_of_ours(tiny: Definition, text: str, sentence: str) -> None:
    assert only(tiny, "task1-hard", text.encode()).message == f"The JSON is not valid {sentence}"


@pytest.mark.parametrize(("cell", "found"), [(" 1", '" 1"'), ("2", "2"), ("True", "True"), ("«", "«")])
def test_cells_are_shown_as_they_were_written(tiny: Definition, cell: str, found: str) -> None:
    problem = only(tiny, "task4-plain", lines([*PLAIN[:-1], f"i9\t{cell}"]))
    assert (problem.found, problem.places) == (found, (f"line 10 (HS): {found}",))


def test_a_list_of_offsets_in_quotes_is_shown_with_them(tiny: Definition) -> None:
    problem = only(tiny, "task5-spans", lines([*SPANS[:-1], 'i9\t"[1, 2]"']))
    assert (problem.found, problem.suggestion) == ('"[1, 2]"', "[1, 2]")
    assert only(tiny, "task5-spans", lines([*SPANS[:-1], "i9\t"])).found == "nothing"


@pytest.mark.parametrize(
    ("entry", "suggestion"),
    [
        ('{"id": "i3", "hard_label": ["A"]}', "hard_label → value"),
        ('{"id": "i3"}', None),
        ('{"soft_label": ["A"]}', None),
        ('{"id": "i3", "a": 1, "b": 2}', None),
    ],
)
def test_a_single_other_key_in_place_of_the_missing_one_is_named(
    tiny: Definition, entry: str, suggestion: str | None
) -> None:
    entries = [json.dumps({"id": one["id"], "value": ["A"]}) for one in labels("A")]
    entries[3] = entry
    report = check(tiny, "task2-hard", f"[{','.join(entries)}]".encode())
    assert next(problem for problem in report if problem.code == "json-missing-key").suggestion == suggestion


@pytest.mark.parametrize(
    ("track", "entry", "code", "path"),
    [
        ("task1-hard", '{"id": "i3", "value": "C", "test_case": "TINY"}', "label-outside-domain", "#4.value"),
        ("task1-hard", '{"id": "i3", "value": "A", "test_case": "TIN"}', "wrong-constant", "#4.test_case"),
        ("task1-hard", '{"id": 3, "value": "A", "test_case": "TINY"}', "id-not-a-text", "#4.id"),
        ("task1-hard", '{"id": "i3", "test_case": "TINY"}', "json-missing-key", "#4"),
        ("task1-hard", '{"id": "i3", "value": "A", "test_case": "TINY", "x": 1}', "json-unknown-key", "#4.x"),
        ("task1-hard", "3", "json-not-an-object", "#4"),
        ("task2-hard", '{"id": "i3", "value": []}', "no-label", "#4.value"),
        ("task1-soft", '{"id": "i3", "value": {"NO": "1", "A": 0, "B": 0}}', "share-not-a-number", "#4.value.NO"),
        ("task1-soft", '{"id": "i3", "value": {"NO": -1, "A": 1, "B": 1}}', "share-out-of-range", "#4.value.NO"),
        ("task1-soft", '{"id": "i3", "value": {"NO": 0.5, "A": 0, "B": 0}}', "wrong-sum", "#4.value"),
        ("task1-soft", '{"id": "i3", "value": {"NO": 1, "A": 0, "C": 0}}', "label-outside-domain", "#4.value.C"),
        ("task1-soft", '{"id": "i3", "value": 1}', "value-not-shares", "#4.value"),
    ],
)
def test_a_path_leads_to_the_error_in_a_json_file(
    tiny: Definition, track: str, entry: str, code: str, path: str
) -> None:
    run = shares() if track == "task1-soft" else labels(["A"] if track == "task2-hard" else "A")
    unneeded = set() if track == "task1-hard" else {"test_case"}
    entries = [json.dumps({key: value for key, value in one.items() if key not in unneeded}) for one in run]
    entries[3] = entry
    report = check(tiny, track, f"[{','.join(entries)}]".encode())
    assert {problem.code: problem.path for problem in report}[code] == path
    assert path in report_text(report)
