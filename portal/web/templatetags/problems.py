"""Filters for lists of problems: counts, places, and suggested names."""

import re
from collections.abc import Mapping
from difflib import SequenceMatcher
from typing import Any
from zlib import crc32

from django import template
from django.utils.html import escape, format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _

from portal.queries.problem_report import problem_report
from portal.queries.problems import extent, left_out, more_places

register = template.Library()

register.filter(extent)
register.filter("report", problem_report)

SHOWN_PLACES = 3

_BREAK = mark_safe("<wbr>")
_PIECES = re.compile(r"[^_]+_?|_")
_WORDS = re.compile(r"[^\W_]+|[\W_]")  # the words of a file name, and the characters between them


@register.filter
def more(problem: dict[str, Any]) -> str:
    """Return how many places have the same problem, in addition to the first: `2,575 more items`."""
    return more_places(problem, 1)


@register.filter
def place_in_gold(problem: dict[str, Any]) -> str:
    """Return where in a gold file the problem is, without quoting the file: `line 12 and 3 more lines`."""
    if problem["line"]:
        place = _("line %(line)s") % {"line": problem["line"]}
    elif problem["item"]:
        place = _("entry %(item)s") % {"item": problem["item"]}
    else:
        place = _("the whole file")
    return _("%(place)s and %(places)s") % {"place": place, "places": more(problem)} if problem["count"] > 1 else place


@register.filter
def shortened(problem: dict[str, Any]) -> SafeString:
    """Return the message with at most the first few places, and with the found value highlighted."""
    names = problem["places"]
    message = problem["message"]
    if len(names) > SHOWN_PLACES:
        listed, first = ", ".join(names), ", ".join(names[:SHOWN_PLACES]) + ", …"
        message = message.replace(f"{listed}, {left_out(problem)}", first, 1).replace(listed, first, 1)
    before, found, after = message.partition(problem["found"]) if problem["found"] else (message, "", "")
    return format_html('{}<code class="found name">{}</code>{}', before, found, after) if found else escape(before)


@register.filter
def fix(problem: dict[str, Any]) -> str:
    """Return the last sentence of the message, which says what to do. If there is only one, return that."""
    return str(problem["message"]).rpartition(". ")[2]


@register.filter
def without_places(problem: dict[str, Any]) -> str:
    """Return what is wrong, without the places that the message lists. For problems whose places are quoted."""
    return _split_at_places(problem)[0]


@register.filter
def after_places(problem: dict[str, Any]) -> str:
    """Return what the message says after its places, which is how to fix them, unless that is just what is expected."""
    rest = _split_at_places(problem)[1]
    return "" if problem["expected"] and problem["expected"] in rest else rest


def _split_at_places(problem: dict[str, Any]) -> tuple[str, str]:
    message = str(problem["message"])
    rest = left_out(problem)
    listed = ", ".join([*problem["places"], rest] if rest else problem["places"])
    before, found, after = message.partition(f": {listed}.") if listed else (message, "", "")
    return (f"{before}.", after.strip()) if found else (message, "")


@register.filter
def quoted(excerpt: Mapping[str, Any]) -> SafeString:
    """Render a line of a run, with its number and the marked part."""
    text, start, end = excerpt["text"], excerpt["start"], excerpt["end"]
    return format_html(
        '<code class="excerpt"><span class="line-number">{}</span><span>{}<mark>{}</mark>{}</span></code>',
        excerpt["line"],
        text[:start],
        text[start:end],
        text[end:],
    )


@register.filter
def further_places(problem: dict[str, Any]) -> list[str]:
    """Return the places that `shortened` leaves out, followed by how many more there are."""
    further = list(problem["places"][SHOWN_PLACES:])
    rest = left_out(problem) if further else ""
    return [*further, rest] if rest else further


@register.filter
def further_count(problem: dict[str, Any]) -> str:
    """Return how many places `shortened` leaves out: `2,573 more items`."""
    return more_places(problem, SHOWN_PLACES)


@register.filter
def whole_options(commands: str) -> SafeString:
    """Render commands without line breaks inside options such as `-t`."""
    pieces = re.split(r"(?<!\S)(-\S+)", commands)  # options are at odd indexes
    spans = ['<span class="nowrap">{}</span>' if number % 2 else "{}" for number in range(len(pieces))]
    return format_html("".join(spans), *pieces)


@register.filter
def breakable(name: str) -> SafeString:
    """Render a file name that can break between its words in narrow columns."""
    return format_html_join(_BREAK, "{}", ((part,) for part in _PIECES.findall(name)))


@register.filter
def anchor(file: str) -> str:
    """Return the id of the part of a report that is about a file."""
    return f"file-{crc32(file.encode()):08x}"


@register.filter
def has_uncertain_name(problem: dict[str, Any]) -> bool:
    """Return whether the suggested name is a guess, because the file name does not determine the track."""
    return problem["code"] in ("name-track", "name-pattern")


@register.simple_tag
def renamed(found: str, right: str) -> SafeString:
    """Render the valid name, with its differences from the found name as deletions and insertions.

    Deleted text cannot be selected, so copying yields the valid name.
    """
    was, be = _WORDS.findall(found), _WORDS.findall(right)
    parts = []
    for tag, start, end, right_start, right_end in SequenceMatcher(None, was, be, autojunk=False).get_opcodes():
        if tag == "equal":
            parts.append(breakable("".join(was[start:end])))
            continue
        if start < end:
            parts.append(format_html('<del class="was" data-was="{}"></del>', "".join(was[start:end])))
        if right_start < right_end:
            parts.append(format_html('<ins class="be">{}</ins>', breakable("".join(be[right_start:right_end]))))
    name = format_html_join(_BREAK, "{}", ((part,) for part in parts))
    return format_html('<code class="name whole">{}</code>', name)


@register.filter
def error_count(problems: list[dict[str, Any]]) -> int:
    """Return the number of errors in a list that may also contain warnings."""
    return sum(problem["severity"] == "error" for problem in problems)
