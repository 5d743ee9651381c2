"""The page about the campaigns: each line names tests that exist, or the reason why there is none."""

import re

from tests.conftest import ROOT

PAGE = (ROOT / "docs/campaigns.md").read_text("utf-8")
NAMED = re.findall(r"`([a-z_0-9/]+\.py)(?:::(test_[a-z_0-9]+))?`", PAGE)
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
FACTS = [line for line in LINES if line[-1] != "test"]  # without the headings of the tables
CAMPAIGNS = ("DETESTS 2022", "EXIST 2024", "HatEval 2019", "Toxic Spans 2021", "SSA 2023")


def test_the_tests_of_all_lines_exist() -> None:
    code = {file: (ROOT / "tests" / file).read_text("utf-8") for file, _function in NAMED}
    assert [one for one in NAMED if f"def {one[1]}" not in code[one[0]]] == []


def test_each_line_names_a_test_or_states_a_reason() -> None:
    neither = []
    for fact, where, tests in FACTS:
        names_a_test = re.search(r"`[a-z_0-9/]+\.py(::test_[a-z_0-9]+)?`", tests)
        if not names_a_test and not (tests == "–" and " because " in where):
            neither.append(fact)
    assert neither == []


def test_there_is_a_table_for_each_campaign() -> None:
    assert [name for name in re.findall(r"^## (.+)$", PAGE, re.MULTILINE) if name in CAMPAIGNS] == list(CAMPAIGNS)
    assert sum(line[-1] == "test" for line in LINES) == len(CAMPAIGNS)
