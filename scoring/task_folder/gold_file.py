"""Check a gold standard for people who are not allowed to see it: list problems without revealing its content."""

from dataclasses import dataclass, replace
from pathlib import Path

from scoring.check import find_items
from scoring.definition import Definition
from scoring.gold.coverage import Coverage, coverage, incomplete, may_leave_out
from scoring.metrics.text_limits import report_long_texts
from scoring.metrics.tuple_limits import report_long_pairing
from scoring.reports.messages.counts import and_more
from scoring.reports.problems import Problem, Report
from scoring.score import GoldError, load_gold

HIDDEN = "(not shown)"  # in place of the gold's content


@dataclass(frozen=True, slots=True)
class GoldCheck:
    """The problems in a gold standard, and how many of the split's items it contains (None: unknown)."""

    report: Report
    covered: Coverage | None = None

    @property
    def counts(self) -> tuple[int, int] | None:
        """How many of the split's items the gold standard contains, and the number of items that runs must have."""
        return None if self.covered is None else (self.covered.listed, self.covered.items)


def check_gold(definition: Definition, track: str, gold: bytes | Path, split: str = "test") -> GoldCheck:
    """Check that the gold has the format that the definition declares, and contains the track's items.

    It must contain all items, unless it is declared with `covers: listed` or contains spans or tuples. The report has
    lines, positions, counts and expected values, but not the ids or values that were found.

    Raises:
        KeyError: the track does not exist.
    """
    report = Report()
    try:
        answers = load_gold(definition, track, gold, split, warnings=report).answers
    except GoldError as error:
        names_files = definition.track(track).files is not None
        return GoldCheck(_discreet(error.report, names_files=names_files))
    ids = answers.ids
    rules = definition.track(track, split)
    report_long_texts(answers, rules.metrics, report)
    report_long_pairing(answers, rules.format, rules.metrics, report)
    items = find_items(definition.track(track), None, split, report)
    if items is not None:
        unknown = set(ids) - {*items.ids, *items.optional}
        if unknown:
            report.error("unknown-ids", count=len(unknown), places=(HIDDEN,))
    if not ids:
        report.error("empty-file")
    report = _discreet(report, names_files=definition.track(track).files is not None)
    covered = None if items is None else coverage(ids, items.ids)
    if ids and covered is not None and covered.missing and not may_leave_out(definition, track, split):
        report.error("gold-incomplete", **incomplete(covered) | {"places": (HIDDEN,)})
    return GoldCheck(report, covered)


def _discreet(report: Report, *, names_files: bool = False) -> Report:
    """Remove the gold's content from the problems. Keep file names only if `names_files` is True."""
    return Report(
        [replace(_without_content(problem), file=problem.file if names_files else None) for problem in report]
    )


def _without_content(problem: Problem) -> Problem:
    """Return the same problem, with HIDDEN in place of the gold's content."""
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
    (hidden,) = shown
    rest = and_more(problem.unit, problem.count - 1)
    message = hidden.message.replace(f"{HIDDEN}, {rest}", HIDDEN)  # `count` says how many there are
    return replace(hidden, item=_position(problem), message=message)


def _position(problem: Problem) -> str | None:
    """Return the position of a JSON entry in its file, such as `#3`, or None."""
    place = (problem.path or problem.item or "").split(".")[0]
    return place if place[:1] == "#" and place[1:].isdecimal() else None
