"""Problems found in a run, and the report that lists them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from scoring.limits import LISTED
from scoring.reports.messages import phrase, sentence
from scoring.reports.messages.counts import PLACES, UNITS, and_more
from scoring.reports.messages.en import MESSAGES
from scoring.reports.messages.expected import EXPECTED

Severity = Literal["error", "warning"]
FURTHER = 2  # places of a problem that are quoted after the first one


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A line of a run, shortened and with control characters escaped. `text[start:end]` is what a problem is about.

    `line` counts from 1.
    """

    line: int
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Spot:
    """One of the next places with the same problem. The fields are as in `Problem`."""

    line: int | None = None
    item: str | None = None
    found: str | None = None
    column: int | None = None
    path: str | None = None


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a run: what was found and where, what was expected, and the nearest valid name.

    `line` and `column` count from 1. In a table, `column` is the number of the cell; in JSON, it is the number of the
    character in the line. `item` is the item's public id, or its position in a JSON list, such as `#3`. In a
    definition, `item` is the path to the key. `path` locates the problem in a JSON file by the entry's position and
    keys, such as `#3.value.YES`. `count` is the number of places with the problem. `places` lists the first ones, and
    the other fields describe the very first. `excerpt` quotes the line of a run in which the problem is, and
    `more_excerpts` those of the next places, which are in `further` until they are quoted.
    """

    severity: Severity
    code: str
    message: str
    file: str | None = None
    line: int | None = None
    item: str | None = None
    found: str | None = None
    expected: str | None = None
    suggestion: str | None = None
    count: int = 1
    places: tuple[str, ...] = ()
    column: int | None = None
    path: str | None = None
    excerpt: Excerpt | None = None
    more_excerpts: tuple[Excerpt, ...] = ()
    further: tuple[Spot, ...] = ()

    @property
    def unit(self) -> str:
        """What `count` counts: one of `scoring.reports.messages.counts.NOUNS`."""
        return UNITS.get(self.code, PLACES)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON, with `excerpt` and `more_excerpts` only if there are any.

        The keys must not change: `--json`, the API and stored runs use them.
        """
        values = asdict(self) | {"places": list(self.places), "more_excerpts": list(map(asdict, self.more_excerpts))}
        optional = [name for name in ("excerpt", "more_excerpts") if not values[name]]
        return {name: value for name, value in values.items() if name not in (*optional, "further")}


@dataclass(slots=True, repr=False)
class Report:
    """All problems in one run or upload, in the order in which they were found.

    `listed` is the maximum number of places that a problem lists, or None for no limit. `notes` say how a file was read
    if its format can be written in several ways. They have the form of problems, but are only printed.
    """

    problems: list[Problem] = field(default_factory=list)
    listed: int | None = LISTED
    notes: list[Problem] = field(default_factory=list)

    def __repr__(self) -> str:
        counts = ((len(self.errors), "error"), (len(self.warnings), "warning"))
        found = ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counts if count)
        return f"Report({found or 'no problems'})"

    @property
    def ok(self) -> bool:
        """Whether there are no errors. Warnings are allowed."""
        return not self.errors

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "warning"]

    def error(self, code: str, message: str | None = None, **fields: Any) -> None:
        """Add an error, by default with its code's message."""
        self.add("error", code, message, **fields)

    def warning(self, code: str, message: str | None = None, **fields: Any) -> None:
        """Add a warning, by default with its code's message."""
        self.add("warning", code, message, **fields)

    def note(self, code: str, **fields: Any) -> None:
        """Add a note with its code's message."""
        own = Report()
        own.warning(code, **fields)
        self.notes += own.problems

    def add(self, severity: Severity, code: str, message: str | None = None, **fields: Any) -> None:
        problem = Problem(severity, code, message or "", **fields)
        if problem.expected is None and code in EXPECTED:
            problem = replace(problem, expected=EXPECTED[code])
        self.problems.append(problem if message else replace(problem, message=_message(problem)))

    def extend(self, other: "Report", file: str | None = None) -> None:
        """Add another report's problems and notes. Problems without a file get `file`."""
        self.notes.extend(other.notes)
        self.problems.extend(
            replace(problem, file=file) if file and problem.file is None else problem for problem in other.problems
        )

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "problems": [problem.as_dict() for problem in self.problems]}


def translate(problem: Problem, language: str) -> Problem:
    """Translate a problem into one of `messages.LANGUAGES`. Return a problem with a custom message unchanged."""
    known = problem.code in MESSAGES and problem.message == _message(problem)
    return replace(problem, message=_message(problem, language)) if known else problem


def in_language(report: Report, language: str) -> Report:
    return Report([translate(problem, language) for problem in report])


def _message(problem: Problem, language: str = "en") -> str:
    """Return the sentence for the problem's code, filled in with the problem's fields."""
    listed = ", ".join(phrase(place, language) for place in problem.places)
    if problem.count > len(problem.places):
        left_out = and_more(problem.unit, problem.count - len(problem.places), language)
        listed += f", {left_out}" if listed else left_out
    fields = {name: getattr(problem, name) for name in ("file", "line", "column", "item", "suggestion")}
    for name in ("found", "expected"):
        text = getattr(problem, name)
        fields[name] = phrase(text, language) if text else text
    return sentence(problem.code, language).format(count=problem.count, places=listed, **fields)
