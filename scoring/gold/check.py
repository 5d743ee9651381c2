"""Judges a gold standard for people who may not see it: what is wrong, and nothing that stands in the file."""

from dataclasses import dataclass, replace
from pathlib import Path

from scoring.check import find_items
from scoring.definition import Definition
from scoring.gold.coverage import Coverage, coverage, incomplete, may_leave_out
from scoring.reports.problems import Problem, Report
from scoring.score import GoldError, load_gold

HIDDEN = "…"


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """What is wrong with a gold standard, and how many of the split's items it lists (None: that cannot be said)."""

    report: Report
    covered: Coverage | None = None

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many items the gold lists, of how many that runs must hold."""
        return None if self.covered is None else (self.covered.listed, self.covered.items)


def check_gold(definition: Definition, track: str, gold: bytes | Path, split: str = "test") -> GoldCheck:
    """Whether the gold is in the format that the definition gives it, and about the track's items.

    It must have all of them, unless it is declared with `covers: listed` or marks spans. The report has lines,
    positions, counts and what was expected; ids and values are left out.

    Raises:
        KeyError: there is no such track.
    """
    report = Report()
    try:
        ids = load_gold(definition, track, gold, split).answers.ids
    except GoldError as error:
        return GoldCheck(_discreet(error.report))
    items = find_items(definition.track(track), None, split, report)
    if items is not None:
        unknown = set(ids) - {*items.ids, *items.optional}
        if unknown:
            report.error("unknown-ids", count=len(unknown), places=(HIDDEN,))
    if not ids:
        report.error("empty-file")
    report = _discreet(report)
    covered = None if items is None else coverage(ids, items.ids)
    if ids and covered is not None and covered.missing and not may_leave_out(definition, track, split):
        report.error("gold-incomplete", **incomplete(covered) | {"places": (HIDDEN,)})
    return GoldCheck(report, covered)


def _discreet(report: Report) -> Report:
    return Report([_without_content(problem) for problem in report])


def _without_content(problem: Problem) -> Problem:
    """The same problem, with dots for whatever was found."""
    found = HIDDEN if problem.found is not None else None
    shown = Report()
    shown.add(
        problem.severity,
        problem.code,
        line=problem.line,
        found=found,
        expected=problem.expected,
        count=problem.count,
        places=(HIDDEN,) if problem.places else (),
    )
    return replace(shown.problems[0], file=None, item=_position(problem))


def _position(problem: Problem) -> str | None:
    """Of an entry of JSON in its file, as #3: where to look, and nothing of what stands there."""
    place = (problem.path or problem.item or "").split(".")[0]
    return place if place[:1] == "#" and place[1:].isdecimal() else None
