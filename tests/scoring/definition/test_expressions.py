"""Regular expressions that could take exponential time are not accepted as rules for teams' names."""

import time

import pytest

from scoring.definition.expressions import why_slow


@pytest.mark.parametrize("expression", ["[A-Za-z0-9_-]{2,30}", "[a-z]+(-[0-9])?", "(?!x)[a-z]+", "(a|b)*", "(?:ab){3}"])
def test_ordinary_expressions_are_allowed(expression):
    assert why_slow(expression) is None


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|aa)+", "(a?){30}a{30}", "a?" * 10, ".*.*.*=", r"(\w+)\1", "((a*)*)*", "(?=(a+)+)b", "a" * 201],
)
def test_those_with_many_ways_to_match_are_not(expression):
    assert why_slow(expression)


def test_judging_takes_no_time_itself():
    start = time.process_time()
    assert why_slow("(" * 100_000)
    assert why_slow("(?:ax|b|" * 18 + "c" + ")" * 18)
    assert time.process_time() - start < 0.5
