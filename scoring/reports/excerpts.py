"""Excerpts of a run: the line in which a problem is, shortened and escaped, and which part of it the problem is about.

They quote only the file that the problem is about, which is never a gold standard.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace

from scoring.reports.problems import Excerpt, Problem, Report

BEFORE = 60  # characters shown before the marked part
MARKED = 80  # characters of the marked part
AFTER = 60  # characters shown after the marked part
TRIES = 50  # places at which an id is searched
CHUNK = 4096
WITHIN = 2000  # characters after an id in which its value is searched

WITHOUT = ("missing-items", "optional-items-missing")  # their items are not in the file
_AT_END = "json-truncated"  # it is about the end of the line
ENTRIES = 100_000  # later entries of a JSON file without an id are not quoted
_DECODER = json.JSONDecoder(parse_int=str, parse_float=str)
_FILLING = re.compile(r"[\s,]*")
_BETWEEN = ("\t", ",", ";", "|", '"')  # what may be next to an id
_ESCAPED = re.compile(r"\\(?:u([0-9a-f]{4})|x([0-9a-f]{2}))")


def add_excerpts(report: Report, data: bytes, separator: str | None = None) -> None:
    """Add excerpts of a text file to each problem that has a place in it, of its first places. It takes linear time.

    Args:
        separator: the character between cells if the file is a table, whose problems have columns of cells.
    """
    if not report.problems:
        return
    text = data.decode("utf-8-sig", errors="replace").replace("\r\n", "\n").replace("\r", "\n")
    by_place = [[problem, *_further(problem)] for problem in report]
    flat = [problem for places in by_place for problem in places]
    starts = _line_starts(text, {problem.line for problem in flat if problem.line})
    entries = _entries(text, set(filter(None, map(_entry_number, flat))))
    for place, places in enumerate(by_place):
        excerpts = list[Excerpt]()
        for problem in places:
            start, entry = starts.get(problem.line or 0), entries.get(_entry_number(problem))
            excerpt = _quoted(text, start, entry, problem, separator)
            if excerpt is None:
                break
            if excerpt not in excerpts:
                excerpts.append(excerpt)
        if excerpts:
            report.problems[place] = replace(places[0], excerpt=excerpts[0], more_excerpts=tuple(excerpts[1:]))


def _further(problem: Problem) -> list[Problem]:
    """Return the problem as it would be reported at each of its next places."""
    return [replace(problem, **asdict(spot)) for spot in problem.further]


def _quoted(
    text: str, start: int | None, entry: tuple[int, int] | None, problem: Problem, separator: str | None
) -> Excerpt | None:
    """Return the excerpt for a problem whose line begins at `start`, or that is in a JSON entry, or else in an item."""
    if start is not None:
        return _of_line(text, start, problem, separator)
    if entry is not None:
        return _of_entry(text, *entry, problem)
    if problem.item and not problem.line and problem.code not in WITHOUT:
        return _of_item(text, problem, separator)
    return None


def _line_starts(text: str, wanted: Iterable[int]) -> dict[int, int]:
    """Return the position at which each of these lines begins. Lines that the text does not have are left out."""
    starts, position, number = dict[int, int](), 0, 1
    for line in sorted(wanted):
        while number < line:
            passed = text.count("\n", position, position + CHUNK)
            if number + passed < line and position + CHUNK < len(text):
                number, position = number + passed, position + CHUNK
                continue
            end = text.find("\n", position)
            if end < 0:
                return starts
            number, position = number + 1, end + 1
        starts[line] = position
    return starts


def _entry_number(problem: Problem) -> int:
    """Return the position of a JSON entry without an id, such as 3 for `#3`, or 0."""
    name = problem.item or ""
    is_position = name[:1] == "#" and name[1:].isdecimal() and (problem.path or "").split(".")[0] == name
    return int(name[1:]) if is_position and not problem.line else 0


def _entries(text: str, wanted: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return where these entries of a JSON list, or of a file with one object per line, begin and end."""
    found, at = dict[int, tuple[int, int]](), len(text) - len(text.lstrip())
    if not wanted or max(wanted) > ENTRIES:
        return found
    at += text[at : at + 1] == "["
    try:
        for number in range(1, max(wanted) + 1):
            start = _FILLING.match(text, at).end()  # type: ignore[union-attr]
            at = _DECODER.raw_decode(text, start)[1]
            if number in wanted:
                found[number] = start, at
    except (ValueError, RecursionError):
        pass  # the rest is not JSON, which has its own problem
    is_single = text[:1] == "{" and not text[at:].strip()
    return {} if is_single and len(found) == 1 else found


def _of_entry(text: str, start: int, end: int, problem: Problem) -> Excerpt:
    """Return the line with what was found in an entry, or its first line."""
    found = _raw(problem.found)
    place = text.find(found, start, end) if found else -1
    return _of_part(text, *((place, place + len(found)) if found and place >= 0 else (start, end)))


def _of_line(text: str, start: int, problem: Problem, separator: str | None) -> Excerpt:
    end = text.find("\n", start)
    line = text[start : end if end >= 0 else len(text)]
    return _excerpt(problem.line or 1, line, *_marked(line, problem, separator))


def _marked(line: str, problem: Problem, separator: str | None) -> tuple[int, int]:
    """Return where the part that the problem is about begins and ends: its cell, what was found, or the whole line."""
    if problem.code == _AT_END:
        return max(0, len(line) - 1), len(line)
    if problem.column and separator and '"' not in line:
        cells = line.split(separator, problem.column)
        if len(cells) >= problem.column:
            start = sum(len(cell) + 1 for cell in cells[: problem.column - 1])
            return start, start + len(cells[problem.column - 1])
    if problem.column and not separator and problem.column <= len(line):
        return problem.column - 1, min(len(line), problem.column + len(problem.found or "x") - 1)
    found, item = _raw(problem.found), _raw(problem.item)
    if found:
        after = line.find(item) + len(item) if item and item in line else 0
        place = line.find(found, after)
        place = place if place >= 0 else line.find(found)
        if place >= 0:
            return place, place + len(found)
    return 0, len(line)


def _of_item(text: str, problem: Problem, separator: str | None) -> Excerpt | None:
    """Return the line with an id, or with the value that was found for it. Return None if the id is not in the text."""
    item = _raw(problem.item)
    place = _place_of(text, item, separator, problem.code == "duplicate-ids") if item else None
    if item is None or place is None:
        return None
    start, end = place, place + len(item)
    found = _raw(problem.found)
    if found and found != item:
        value = text.find(found, end, end + WITHIN)
        start, end = (value, value + len(found)) if value >= 0 else (start, end)
    return _of_part(text, start, end)


def _of_part(text: str, start: int, end: int) -> Excerpt:
    """Return the line in which a part of the text begins."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", start)
    line = text[first : last if last >= 0 else len(text)]
    return _excerpt(1 + text.count("\n", 0, start), line, start - first, min(end - first, len(line)))


def _place_of(text: str, item: str, separator: str | None, is_repeated: bool) -> int | None:
    """Return the position of an id between quotes, separators or line ends. If it is repeated, of the second one."""
    found = None
    if separator is None:
        for quoted in (json.dumps(item, ensure_ascii=False), json.dumps(item)):
            for place in _places(text, quoted):
                if found is not None or not is_repeated:
                    return place + 1
                found = place + 1
    around = {"\n", *_BETWEEN, separator or "", ""}
    for place in _places(text, item):
        if text[max(place - 1, 0) : place] in around and text[place + len(item) : place + len(item) + 1] in around:
            if found is not None or not is_repeated:
                return place
            found = place
    return found


def _places(text: str, wanted: str) -> Iterator[int]:
    place = -1
    for _ in range(TRIES):
        place = text.find(wanted, place + 1)
        if place < 0:
            return
        yield place


def _raw(shown: str | None) -> str | None:
    """Return a value from the file as it is there. Return None if a report shows only a part of it."""
    if not shown or shown.endswith("…") or shown.startswith("#"):
        return None
    bare = shown[1:-1] if len(shown) > 2 and shown[0] == shown[-1] == '"' else shown
    return _ESCAPED.sub(lambda code: chr(int(code[1] or code[2], 16)), bare)


def _excerpt(number: int, line: str, start: int, end: int) -> Excerpt:
    before, marked, after = line[:start], line[start:end], line[end:]
    first = ("…" if len(before) > BEFORE else "") + _escaped(before[-BEFORE:])
    part = _escaped(marked[:MARKED]) + ("…" if len(marked) > MARKED else "")
    rest = "" if len(marked) > MARKED else _escaped(after[:AFTER]) + ("…" if len(after) > AFTER else "")
    return Excerpt(number, first + part + rest, len(first), len(first) + len(part))


def _escaped(text: str) -> str:
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
