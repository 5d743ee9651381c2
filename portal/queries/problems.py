"""Counts of problems as text. Each count names what it counts."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from scoring.reports.messages import sentence
from scoring.reports.messages.counts import PLACES, UNITS, and_more, counted, more
from scoring.reports.messages.en import MESSAGES

Problem = dict[str, Any]  # see `scoring.reports.problems.Problem.as_dict`


def meaning(code: str) -> str | None:
    """Return the sentence of a problem code, or None for an unknown code.

    The parts that a report fills in are shown as `…`.
    """
    if code not in MESSAGES:
        return None
    return re.sub(r"\{(\w+)(![a-z])?\}", "…", sentence(code, "en"))


def more_places(problem: Problem, listed: int) -> str:
    """Return the number of further places of a problem, e.g. `2,575 more items`."""
    return more(_unit(problem), problem["count"] - listed)


def left_out(problem: Problem) -> str:
    """Return the end of a message that does not list all places. Empty if it does."""
    rest = problem["count"] - len(problem["places"])
    return and_more(_unit(problem), rest) if rest > 0 and problem["places"] else ""


def extent(problems: Iterable[Problem]) -> str:
    """Return what the errors are about, by kind, e.g. `2,576 items, 1 column`. Empty if they concern whole files."""
    counts: Counter[str] = Counter()
    for problem in problems:
        if problem["severity"] == "error":
            counts[_unit(problem)] += problem["count"]
    return ", ".join(counted(unit, count) for unit, count in counts.items() if unit != PLACES)


def _unit(problem: Problem) -> str:
    return UNITS.get(problem["code"], PLACES)
