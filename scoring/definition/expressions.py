"""Regular expressions in a definition. Only expressions that match quickly on any text are allowed.

Python's matcher tries all ways in which an expression can match. If an expression repeats a part that can itself match
in several ways, matching takes exponential time for some texts. Such expressions are not allowed, and the total number
of choices is limited. Fixed repeats are also limited, because they take time even if they match nothing.
"""

import re
from collections.abc import Iterable
from re import _constants as ops  # type: ignore[attr-defined]
from re import _parser  # type: ignore[attr-defined]
from typing import Any

REPEATS = 2  # maximum number of parts of variable length
CHOICES = 4  # maximum number of alternatives and optional parts together
TIMES = 1000  # maximum number of times that a part is repeated, including enclosing repeats
LENGTH = 200  # maximum length in characters

_REPEATS = {ops.MAX_REPEAT, ops.MIN_REPEAT, getattr(ops, "POSSESSIVE_REPEAT", None)}
_BOUNDARIES = {ops.AT_BOUNDARY, ops.AT_NON_BOUNDARY}
_REFERENCES = {ops.GROUPREF, ops.GROUPREF_EXISTS}


def why_slow(expression: str) -> str | None:
    """Explain why matching could be slow and what to write instead. Return None if it is fast."""
    if len(expression) > LENGTH:
        return f"this regular expression has {len(expression)} characters; at most {LENGTH} are allowed"
    parsed = _parser.parse(expression)
    for times, is_empty in _repeats(parsed):
        if times > TIMES:
            return f"this regular expression repeats a part {times} times; at most {TIMES} are allowed"
        if is_empty:
            return (
                "this regular expression repeats a part that can be empty; a repeated part must match at least one "
                "character"
            )
    found = list(_choices(parsed, inside=False))
    if "reference" in found:
        return "this regular expression contains a backreference; remove it"
    if "nested" in found:
        return (
            "this regular expression repeats a part that contains alternatives or repetitions, so matching could "
            "take exponential time; use a simple form such as [A-Za-z0-9_-]{2,30}"
        )
    for kind, most in (("repeat", REPEATS), ("choice", CHOICES)):
        if found.count(kind) > most:
            noun = "parts of variable length" if kind == "repeat" else "alternatives and optional parts"
            return f"this regular expression has {found.count(kind)} {noun}; at most {most} are allowed"
    return None


def why_unusable(expression: str) -> str | None:
    """Explain why the expression can't be a part of the expression for file names, and what to write instead.

    Return None if it can. It must be valid alone.
    """
    parsed = _parser.parse(expression)
    if parsed.state.groupdict:
        name = next(iter(parsed.state.groupdict))
        return (
            f"this regular expression has the named group {name}; remove its name, because file names have such groups"
        )
    try:
        re.compile(f"x(?:{expression})")
    except re.error:  # only flags are valid alone, but not after other text
        return (
            "this regular expression begins with flags, which would apply to the whole file name; instead of (?i), "
            "write (?i:…) around the part that ignores case"
        )
    if _has_anchors(parsed):
        return (
            "this regular expression contains an anchor, so it matches nothing in the middle of a file name; remove "
            "^, $, \\A and \\Z, because the whole team name has to match anyway"
        )
    if parsed.getwidth()[0] == 0:
        return "this regular expression also matches an empty text; it must match at least one character"
    return None


def _has_anchors(steps: Any) -> bool:
    return any(
        (op is ops.AT and value not in _BOUNDARIES) or any(map(_has_anchors, _parts(value))) for op, value in steps
    )


def _repeats(steps: Any, outer: int = 1) -> Iterable[tuple[int, bool]]:
    """For each repeat, yield how many times its part can be repeated, and whether the part can be empty.

    For nested repeats, the numbers are multiplied.
    """
    for op, value in steps:
        times = outer
        if op in _REPEATS:
            least, most, body = value
            times *= max(1, least if most is ops.MAXREPEAT else most)
            yield times, most > 1 and body.getwidth()[0] == 0
        for part in _parts(value):
            yield from _repeats(part, times)


def _parts(value: Any) -> Iterable[Any]:
    """Yield the subexpressions that a step contains."""
    if isinstance(value, _parser.SubPattern):
        yield value
    elif isinstance(value, tuple | list):
        for step in value:
            yield from _parts(step)


def _choices(steps: Iterable[Any], inside: bool) -> Iterable[str]:
    """Yield a word for each place where the matcher has several choices, or where there is a backreference.

    `inside` is True within a repeated part.
    """
    for op, value in steps:
        if op in _REFERENCES:
            yield "reference"
        elif op in _REPEATS:
            least, most, body = value
            if least != most:
                yield "nested" if inside else "choice" if most == 1 else "repeat"
            yield from _choices(body, inside or most > 1)
        elif op is ops.BRANCH:
            _group, branches = value
            yield from ["nested" if inside else "choice"] * (len(branches) - 1)
            for branch in branches:
                yield from _choices(branch, inside)
        elif op is ops.SUBPATTERN:
            yield from _choices(value[-1], inside)
        elif op in (ops.ASSERT, ops.ASSERT_NOT):
            yield from _choices(value[1], inside)
        elif op is getattr(ops, "ATOMIC_GROUP", None):
            yield from _choices(value, inside)
