"""The page about the campaigns: each line names tests that exist, or the reason why there is none."""

import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs/campaigns.md").read_text("utf-8")
NAMED = re.findall(r"`([a-z_0-9/]+\.py)(?:::(test_[a-z_0-9]+))?`", PAGE)
LINES = [line.strip("| ").split(" | ") for line in PAGE.splitlines() if line.startswith("| ") and "---" not in line]
FACTS = [line for line in LINES if line[-1] != "test"]  # without the headings of the tables
CAMPAIGNS = ("DETESTS 2022", "EXIST 2024", "HatEval 2019", "Toxic Spans 2021", "SSA 2023")


@pytest.mark.parametrize(("file", "function"), NAMED)
def test_the_test_of_a_line_exists(file: str, function: str) -> None:
    assert f"def {function}" in (ROOT / "tests" / file).read_text("utf-8")


@pytest.mark.parametrize("line", FACTS, ids=lambda line: line[0][:40])
def test_a_line_names_a_test_or_states_a_reason(line: list[str]) -> None:
    _fact, where, tests = line
    assert re.search(r"`[a-z_0-9/]+\.py(::test_[a-z_0-9]+)?`", tests) or (tests == "–" and " because " in where)


def test_there_is_a_table_for_each_campaign() -> None:
    assert [name for name in re.findall(r"^## (.+)$", PAGE, re.MULTILINE) if name in CAMPAIGNS] == list(CAMPAIGNS)
    assert sum(line[-1] == "test" for line in LINES) == len(CAMPAIGNS)
