"""Parse JSON without losing information: repeated keys, numbers beyond 64 bits, and error positions."""

import json
import math
import re
from itertools import islice
from typing import Any

from scoring.formats.reading import shown
from scoring.limits import SHOWN
from scoring.reports.problems import Report

EXCERPT = 20  # characters quoted at the position where the JSON is invalid
TRAILING_COMMA = "no comma before the closing bracket"
EXPECTED = {  # parser message → Agon's wording
    "Expecting value": "a value",
    "Expecting property name": "a key in double quotes",
    "Expecting ':'": "a colon",
    "Expecting ','": "a comma or a closing bracket",
    "Illegal trailing comma": TRAILING_COMMA,
    "Extra data": "the end of the file",
    "Unterminated string": "a closing quotation mark",
    "Invalid control character": "a closing quotation mark",
    "Invalid \\": "a different character after the backslash",
}
BROKEN_LINES = 3  # lines that are not JSON that are reported one by one
BETWEEN = re.compile(r"[\s,]*")
LONGEST_NUMBER = 40  # digits; no label or probability needs more
# Each byte's kind: 1 for digits, e for the start of an exponent, and 0 for all others.
KINDS_OF_BYTES = bytes(
    ord("1" if chr(byte) in "0123456789" else "e" if chr(byte) in "eE" else "0") for byte in range(256)
)
ODD_NUMBERS = (b"1e", b"1" * (LONGEST_NUMBER + 1))  # kinds in numbers that must not be passed to `int` and `float`

MISSING = object()


class Unusable:
    """A number that JSON or 64 bits cannot represent, as written in the file."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text


def in_json(value: object) -> str:
    """Format a value as JSON, shortened. An unusable number is shown as written, without quotes."""
    if isinstance(value, list):
        value = value[:SHOWN]  # more entries would be cut off anyway
    elif isinstance(value, dict):
        value = dict(islice(value.items(), SHOWN))
    try:
        text = json.dumps(value, ensure_ascii=False, default=lambda unusable: f"\0{unusable}\0")
    except RecursionError:
        return "…"
    return shown(text.replace('"\\u0000', "").replace('\\u0000"', ""))


class RepeatedKeys(dict[str, Any]):
    """A JSON object with a repeated key, and the first such key, if it was parsed."""

    repeated = ""


def parse_lines(text: str, report: Report) -> object:
    """Parse one JSON document per line. If a line is not JSON, report the first problem and return MISSING."""
    documents = []
    for number, line in enumerate(text.split("\n"), 1):
        document = parse(line, report, number) if line.strip() else None
        if document is MISSING:
            return MISSING
        documents += [document] if line.strip() else []
    return documents


def parse_good_lines(text: str, report: Report) -> tuple[list[object], list[str]]:
    """Parse the lines that are JSON, and report the first others.

    Returns:
        A document per line that is not blank, MISSING for those that are not JSON, and the text of the latter. If most
        lines are not JSON, there are no documents.
    """
    documents, broken, others = list[object](), list[str](), Report()
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            own = report if len(broken) < BROKEN_LINES else others
            documents.append(parse(line, own, number))
            if documents[-1] is MISSING:
                broken.append(line)
    return (documents, broken) if 2 * len(broken) < len(documents) else ([], broken)


def parse(text: str, report: Report, line: int = 1) -> object:
    """Parse a document into plain objects. If it is not JSON, report the problem and return MISSING.

    Args:
        line: the number of the document's first line.
    """
    is_odd = _may_have_odd_number(text)  # the parser's own number conversion is much faster
    try:
        return json.loads(
            text,
            object_pairs_hook=_object,
            parse_constant=Unusable,
            parse_float=_float if is_odd else None,
            parse_int=_int if is_odd else None,
        )
    except json.JSONDecodeError as error:
        _report_syntax(error, text, line, report)
    except RecursionError:
        report.error("json-too-deep")
    return MISSING


def _may_have_odd_number(text: str) -> bool:
    kinds = text.encode(errors="replace").translate(KINDS_OF_BYTES)
    return any(odd in kinds for odd in ODD_NUMBERS)


def _report_syntax(error: json.JSONDecodeError, text: str, line: int, report: Report) -> None:
    """Report where a text, whose first line has this number, is not JSON."""
    place, length = error.pos, EXCERPT
    expected = next((own for start, own in EXPECTED.items() if error.msg.startswith(start)), "valid JSON")
    before = text[:place].rstrip()
    if text[place : place + 1] in ("]", "}") and before.endswith(","):  # as the parser says from Python 3.13 on
        place, expected = len(before) - 1, TRAILING_COMMA
    if expected == TRAILING_COMMA:
        length = 1
    is_truncated = place >= len(text.rstrip()) or "Unterminated" in error.msg
    rest, *more = text[place:].split("\n", 1)
    report.error(
        "json-truncated" if is_truncated else "json-syntax",
        line=text.count("\n", 0, place) + line,
        column=place - text.rfind("\n", 0, place),
        found=shown(rest[:length].strip()) or ("the end of the line" if more else "the end of the file"),
        expected=expected,
    )


def parse_sequence(text: str) -> tuple[list[dict[str, Any]], bool, bool]:
    """Parse objects that follow each other with blanks or commas between them.

    Returns:
        The objects, whether there are commas between them, and whether any object spans several lines. If there is
        anything else, there are no objects.
    """
    found, has_commas, is_indented, end = list[dict[str, Any]](), False, False, 0
    for entry, start, following in _values(text):
        if not isinstance(entry, dict):
            return [], False, False
        has_commas |= "," in text[end:start]
        is_indented |= "\n" in text[start:following]
        found.append(entry)
        end = following
    return found, has_commas or "," in text[end:], is_indented


def parse_lists(text: str) -> list[list[dict[str, Any]]]:
    """Parse lists of objects with blanks or commas between the lists. If there is anything else, return none."""
    found = [entry for entry, _, _ in _values(text)]
    are_lists = all(isinstance(entry, list) and entry and isinstance(entry[0], dict) for entry in found)
    return found if are_lists else []


def _values(text: str) -> list[tuple[Any, int, int]]:
    """Return values that follow each other with blanks or commas between them, each with its start and its end.

    If any of them is not JSON, return none.
    """
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=Unusable, parse_float=_float, parse_int=_int)
    found = list[tuple[Any, int, int]]()
    at = BETWEEN.match(text, 0).end()  # type: ignore[union-attr]
    try:
        while at < len(text):
            entry, end = decoder.raw_decode(text, at)
            found.append((entry, at, end))
            at = BETWEEN.match(text, end).end()  # type: ignore[union-attr]
    except (ValueError, RecursionError):
        return []
    return found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    found, seen = RepeatedKeys(pairs), set[str]()
    for key, _ in pairs:
        if key in seen:
            found.repeated = key
            break
        seen.add(key)
    return found


def _int(digits: str) -> int | Unusable:
    return int(digits) if len(digits) <= LONGEST_NUMBER else Unusable(digits)


def _float(text: str) -> float | Unusable:
    number = float(text)
    return number if math.isfinite(number) else Unusable(text)


def kind_in_words(value: object) -> str:
    """Return the name of a JSON value's type."""
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        return f"the text {in_json(value)}"
    if isinstance(value, int | float | Unusable):
        return f"the number {in_json(value)}"
    return "an object" if isinstance(value, dict) else "a list"
