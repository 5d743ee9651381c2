"""Judges a gold standard for people who may not see it: what is wrong, and nothing that stands in the file."""

from dataclasses import replace

from scoring.check import find_items
from scoring.definition import Definition
from scoring.problems import Problem, Report
from scoring.score import GoldError, load_gold

HIDDEN = "…"


def check_gold(definition: Definition, track: str, gold: bytes, split: str = "test") -> Report:
    """Whether the gold is in the format that the definition gives it, and only about the track's items.

    It need not have all of them. Lines, positions and counts are told, and what was expected; ids and values are not.

    Raises:
        KeyError: there is no such track.
    """
    report = Report()
    try:
        ids = load_gold(definition, track, gold, split).answers.ids
    except GoldError as error:
        report.extend(error.report)
        return _discreet(report)
    items = find_items(definition.track(track), None, split, report)
    if items is not None:
        unknown = set(ids) - {*items.ids, *items.optional}
        if unknown:
            report.error("unknown-ids", count=len(unknown), places=(HIDDEN,))
    if not ids:
        report.error("empty-file")
    return _discreet(report)


def _discreet(report: Report) -> Report:
    return Report([_without_content(problem) for problem in report])


def _without_content(problem: Problem) -> Problem:
    """The problem told anew, with dots for whatever was found."""
    found = HIDDEN if problem.found is not None else None
    told = Report()
    told.add(
        problem.severity,
        problem.code,
        line=problem.line,
        found=found,
        expected=problem.expected,
        count=problem.count,
        places=(HIDDEN,) if problem.places else (),
    )
    return replace(told.problems[0], file=None, item=_position(problem))


def _position(problem: Problem) -> str | None:
    """Of an entry of JSON in its file, as #3: where to look, and nothing of what stands there."""
    place = (problem.path or problem.item or "").split(".")[0]
    return place if place[:1] == "#" and place[1:].isdecimal() else None
