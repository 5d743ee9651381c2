"""Rules for team names: expressions that could take exponential time, or that don't fit into file names."""

import re
import time

import pytest

from scoring.definition.expressions import why_slow, why_unusable
from scoring.reports.messages import LANGUAGES, phrase


@pytest.mark.parametrize("expression", ["[A-Za-z0-9_-]{2,30}", "[a-z]+(-[0-9])?", "(?!x)[a-z]+", "(a|b)*", "(?:ab){3}"])
def test_ordinary_expressions_are_allowed(expression):
    assert why_slow(expression) is None


@pytest.mark.parametrize(
    "expression",
    ["(a+)+$", "(a|aa)+", "(a?){30}a{30}", "a?" * 10, ".*.*.*=", r"(\w+)\1", "((a*)*)*", "(?=(a+)+)b", "a" * 201],
)
def test_those_with_many_ways_to_match_are_not(expression):
    assert why_slow(expression)


@pytest.mark.parametrize(
    "expression",
    [
        "(?:){1000000000}[a-z]+",
        r"(?:\b){3}x",
        "(?:(?=a))*b",
        "a{2,1000000}",
        "a{1001,}",
        "x|a{1001}",
        "(?:(?:a{10}){10}){11}",
        "(?:(?=(?:(?=(?:(?=(?:a){10})a){10})a){10})a){10}",
    ],
)
def test_those_that_repeat_much_or_nothing_are_not(expression):
    found = why_slow(expression) or ""
    assert "repeats a part" in found
    assert len({phrase(found, language) for language in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.parametrize("expression", ["a{1,1000}", "a{1000,}", "(?:(?:a{10}){10}){10}", "(?:a*)?b"])
def test_repeats_within_the_limit_are_allowed(expression):
    assert why_slow(expression) is None


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("(?i)[a-z]{2,30}", "flags"),
        ("(?u)[a-z]{2,30}", "flags"),
        ("(?x)[a-z]{2,30} # letters", "flags"),
        ("(?#letters)(?s)[a-z]{2,30}", "flags"),
        ("(?P<team>[a-z]{2,30})", "named group team"),
        ("(?P<anything>[a-z]{2,30})", "named group anything"),
        ("^[a-z]{2,30}", "whole team name"),
        ("[a-z]{2,30}$", "whole team name"),
        (r"\A[a-z]{2,30}\Z", "whole team name"),
        ("(?:^[a-z]|[0-9])x", "whole team name"),
        ("(?![a-z]$)[a-z]{1,30}", "whole team name"),
        ("[a-z]*", "empty text"),
        ("(?:)", "empty text"),
    ],
)
def test_those_that_only_work_alone_are_not_allowed(expression, reason):
    assert why_slow(expression) is None
    found = why_unusable(expression) or ""
    assert reason in found
    assert len({phrase(found, language) for language in LANGUAGES}) == len(LANGUAGES)


@pytest.mark.parametrize(
    "expression",
    ["[A-Za-z0-9_-]{2,30}", "(?i:[a-z]{2,30})", "(?!x)[a-z]+", "([a-z])+", r"\w+\b", "a|b", "[$^]+", r"\$"],
)
def test_what_works_within_a_file_name_is_allowed(expression):
    assert why_unusable(expression) is None
    re.compile(f"(?P<track>one)_(?P<team>(?-i:{expression}))_(?P<number>1)", re.IGNORECASE)


def test_judging_takes_no_time_itself():
    start = time.process_time()
    assert why_slow("(" * 100_000)
    assert why_slow("(?:ax|b|" * 18 + "c" + ")" * 18)
    assert time.process_time() - start < 0.5
