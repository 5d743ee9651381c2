"""Labels in the forms of models and libraries: numbers of classes, a 0 or 1 for each class, and tags before tokens."""

import json

import pytest

from scoring.formats import read_run
from scoring.items.index import ItemIndex
from scoring.reports.messages import LANGUAGES
from scoring.reports.problems import Problem, Report, translate
from tests.scoring.formats.test_writing import track

COLORS = ["red", "green", "blue"]


def problems(text: str, kind: str, lenient: bool = False, **options: object) -> list[Problem]:
    report = Report()
    read_run(track(kind, **options), text.encode(), report, items=ItemIndex(["1", "2"]), lenient=lenient)
    for problem in report:
        assert len({translate(problem, language).message for language in LANGUAGES}) == len(LANGUAGES)
    return list(report)


def records(*values: object) -> str:
    return json.dumps([{"id": str(at), "value": value} for at, value in enumerate(values, 1)])


NUMBERS = {
    "numbers": (records(0, 2), "json-labels", {"classes": COLORS}, "0 → red, 2 → blue"),
    "numbers as text": (records("2", "1"), "json-labels", {"classes": COLORS}, "1 → green, 2 → blue"),
    "labels of a model": (records("LABEL_1", "LABEL_0"), "json-labels", {"classes": COLORS}, "LABEL_0 → red, LABEL_1"),
    "numbers from one": (records(3, 1), "json-labels", {"classes": COLORS}, "1 → red, 3 → blue"),
    "yes and no": (records(0, 1), "json-labels", {"classes": ["YES", "NO"]}, "0 → NO, 1 → YES"),
    "lists of numbers": (records([0, 2], [1]), "json-labels", {"classes": COLORS, "multi": True}, "0 → red, 1 → green"),
    "a column of numbers": (
        "id,label\n1,0\n2,2\n",
        "table-labels",
        {"id": "id", "classes": COLORS},
        "0 → red, 2 → blue",
    ),
    "shares by number": (
        records({"LABEL_0": 0.5, "LABEL_1": 0.25, "LABEL_2": 0.25}, {"LABEL_0": 1, "LABEL_1": 0, "LABEL_2": 0}),
        "json-soft",
        {"classes": COLORS},
        "LABEL_0 → red, LABEL_1 → green, LABEL_2 → blue",
    ),
    "tags": ("Ann 1\nin 0\n\nRome LABEL_1\n", "conll", {"classes": ["PER"]}, "0 → O, 1 → B-PER, LABEL_1 → B-PER"),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_of_classes_are_one_problem_with_the_classes_in_their_order(name: str) -> None:
    text, kind, options, suggestion = NUMBERS[name]
    [problem] = problems(text, kind, **options)
    assert (problem.severity, problem.code) == ("error", "class-numbers")
    assert problem.suggestion is not None
    assert problem.suggestion.startswith(suggestion)
    assert problem.places


OTHERS = {
    "a name among them": (records(0, "green"), "json-labels", {"classes": COLORS}),
    "a number out of range": (records(0, 4), "json-labels", {"classes": COLORS}),
    "classes that are numbers": (records("0", "3"), "json-labels", {"classes": ["0", "1", "2"]}),
    "truth values": (records(True, False), "json-labels", {"classes": COLORS}),
    "marks of two of three classes": (records([0, 1], [1, 0]), "json-labels", {"classes": COLORS}),
    "a mark that is neither 0 nor 1": (records([0, 0.5, 0], [1, 0, 0]), "json-labels", {"classes": COLORS}),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_labels_have_their_usual_problems(name: str) -> None:
    text, kind, options = OTHERS[name]
    codes = {problem.code for problem in problems(text, kind, **options)}
    assert codes <= {"label-outside-domain", "value-not-a-label", "value-not-a-list"}
    assert codes


def test_official_evaluators_accept_unknown_labels_that_are_numbers() -> None:
    assert [problem.severity for problem in problems(records("0", "2"), "json-labels", True, classes=COLORS)] == [
        "warning"
    ]


MARKS = {
    "lists": (records([0, 1, 0], [1, 0, 0]), "json-labels", {}, '"green"'),
    "lists for several labels": (records([0, 1, 1], [1, 0, 0]), "json-labels", {"multi": True}, '["green", "blue"]'),
    "objects": (records(dict(zip(COLORS, [0, 0, 1], strict=True)), [1.0, 0, 0]), "json-labels", {}, '"blue"'),
    "columns": ("id,green,red,blue\n1,0,1,0\n2,1,0,0\n", "table-labels", {"id": "id"}, "label"),
}


@pytest.mark.parametrize("name", MARKS)
def test_a_mark_for_each_class_is_one_problem_with_its_fix(name: str) -> None:
    text, kind, options, expected = MARKS[name]
    [problem] = problems(text, kind, classes=COLORS, **options)
    assert (problem.severity, problem.code, problem.expected) == ("error", "labels-one-hot", expected)


@pytest.mark.parametrize("column", [None, 3])
def test_tags_before_their_tokens_are_one_problem_with_the_first_line_in_order(column: int | None) -> None:
    between = "_ " if column else ""
    text = f"B-PER {between}Ann\nO {between}came\n\nO {between}Hm\n"
    options = {"column": column} if column else {}
    [problem] = problems(text, "conll", classes=["PER"], **options)
    assert (problem.code, problem.line, problem.expected) == ("tags-first", 1, f"Ann {between}B-PER")
    assert problems("O O\nO came\n\nO O\n", "conll", classes=["PER"])[0].code == "label-outside-domain"
