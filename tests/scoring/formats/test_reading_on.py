"""After a problem with a table's layout, the rest of the file is still checked."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scoring import Definition, check, load_definition
from scoring.reports.problems import Problem
from tests.scoring.conftest import DEFINITION

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
