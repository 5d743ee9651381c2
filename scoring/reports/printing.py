"""Reports and scores as text for a terminal."""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping

from scoring.reports.messages import word
from scoring.reports.messages.counts import noun
from scoring.reports.problems import Excerpt, Problem, Report, translate

WIDTH = 100
DECIMALS = 4  # of scores, unless a track says otherwise
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


def report_text(report: Report, name: str = "", language: str = "en", tracks: Iterable[str] = ()) -> str:
    """Return the verdict as a sentence if there is a `name`, followed by every problem with its place and fix.

    The verdict names the `tracks` for which the file was checked, and how it was read. Errors come first.
    """
    blocks = [_verdict(report, name, language, list(dict.fromkeys(tracks)))] if name else []
    blocks += list(dict.fromkeys(translate(note, language).message for note in report.notes)) if name else []
    blocks += ["\n".join(_lines(problem, language)) for problem in (*report.errors, *report.warnings)]
    return spelled_out("\n\n".join(blocks))


def spelled_out(text: str) -> str:
    """Escape characters that control a terminal, for example as `\\u001b`, but keep line breaks and tabs."""
    return _CONTROLS.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def problem_line(problem: Problem) -> str:
    """Describe a problem in one line of English: its place, what is wrong, and how to fix it.

    The file and item are left out if the sentence already contains them.
    """
    place = [problem.file] if problem.file and problem.file not in problem.message else []
    place += [f"line {problem.line}"] if problem.line else []
    place += [f"item {problem.item}"] if problem.item and problem.item not in problem.message else []
    hint = f" Did you mean {problem.suggestion}?" if problem.suggestion else ""
    return " ".join(f"{', '.join(place)}{': ' if place else ''}{problem.message}{hint}".split())


def scores_text(scores: Mapping[str, float | None], decimals: int = DECIMALS) -> str:
    """Format one score per line, rounded to this number of decimals."""
    width = max(map(len, scores), default=0)
    return "\n".join(
        f"{key:{width}}  {'undefined' if value is None else f'{value:.{decimals}f}'}" for key, value in scores.items()
    )


def _verdict(report: Report, name: str, language: str, tracks: list[str]) -> str:
    parts = [word("invalid" if report.errors else "valid", language)]
    for problems, kind in ((report.errors, "errors"), (report.warnings, "warnings")):
        if problems:
            parts.append(f"{len(problems)} {noun(kind, len(problems), language)}")
    verdict = f"{name}: {', '.join(parts)}."
    if not tracks:
        return verdict
    return f"{verdict} {noun('tracks', len(tracks), language).capitalize()}: {', '.join(tracks)}."


def _lines(problem: Problem, language: str) -> Iterator[str]:
    place = [problem.file] if problem.file else []
    if problem.line:
        place.append(f"{noun('lines', 1, language)} {problem.line}")
    elif problem.item:
        place.append(f"{noun('items', 1, language)} {problem.item}" + (f" ({problem.path})" if problem.path else ""))
    yield " · ".join([noun(f"{problem.severity}s", 1, language), problem.code, *([", ".join(place)] if place else [])])
    yield textwrap.fill(translate(problem, language).message, WIDTH, initial_indent="  ", subsequent_indent="  ")
    for excerpt in (problem.excerpt, *problem.more_excerpts):
        if excerpt:
            yield from _quoted(excerpt)
    if problem.suggestion:
        yield f"  {word('suggestion', language)}: {problem.suggestion}"


def _quoted(excerpt: Excerpt) -> Iterator[str]:
    """Yield the line with its number, and a line that underlines the marked part."""
    number = str(excerpt.line)
    yield f"  {number} | {excerpt.text}"
    if excerpt.start < excerpt.end:
        yield f"  {' ' * len(number)} | {' ' * excerpt.start}{'^' * (excerpt.end - excerpt.start)}"
