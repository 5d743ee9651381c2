"""Counts of problems, as text that says what is being counted."""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Any

from scoring.reports.messages import sentence
from scoring.reports.messages.counts import PLACES, UNITS, and_more, counted, more
from scoring.reports.messages.en import MESSAGES

Problem = dict[str, Any]  # see `scoring.reports.problems.Problem.as_dict`


def meaning(code: str) -> str | None:
    """Return the sentence for a problem code, or None if the code is unknown.

    Parts that a report would fill in are shown as `[…]`.
    """
    if code not in MESSAGES:
        return None
    return re.sub(r"\{(\w+)(![a-z])?\}", "[…]", sentence(code, "en"))


def more_places(problem: Problem, listed: int) -> str:
    """Return how many places a problem has in addition to those listed, such as `2,575 more items`."""
    return more(_unit(problem), problem["count"] - listed)


def left_out(problem: Problem) -> str:
    """Return the end of a message that lists only some places. Empty if it lists all or none."""
    rest = problem["count"] - len(problem["places"])
    return and_more(_unit(problem), rest) if rest > 0 and problem["places"] else ""


def extent(problems: Iterable[Problem]) -> str:
    """Return how many things of each kind have errors, such as `2,576 items, 1 column`. Other errors are left out."""
    counts: Counter[str] = Counter()
    for problem in problems:
        if problem["severity"] == "error":
            counts[_unit(problem)] += problem["count"]
    return ", ".join(counted(unit, count) for unit, count in counts.items() if unit != PLACES)


def _unit(problem: Problem) -> str:
    return UNITS.get(problem["code"], PLACES)
