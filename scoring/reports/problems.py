"""Problems found in a run, and the report that lists them."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from scoring.limits import LISTED
from scoring.reports.messages import phrase, sentence
from scoring.reports.messages.counts import PLACES, UNITS, and_more
from scoring.reports.messages.en import MESSAGES

Severity = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem of a run: what was found, where, what was expected and the nearest valid name.

    `line` and `column` count from 1; a column is a cell of a table, in JSON a character of the line. `item` is the
    item's public id, or its position in a JSON list as `#3`; in a definition it is the key's path. `path` leads to the
    problem in a JSON file: the entry's position and the keys, as `#3.value.YES`. `count` is the number of places with
    the problem: `places` lists the first of them, and the other fields describe the first.
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

    @property
    def unit(self) -> str:
        """The unit of `count`, one of `scoring.reports.messages.counts.NOUNS`."""
        return UNITS.get(self.code, PLACES)

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON; the keys are a contract (`--json`, the API, the run row)."""
        return asdict(self) | {"places": list(self.places)}


@dataclass(slots=True, repr=False)
class Report:
    """All problems of one run or one upload, in the order of detection.

    `listed` is how many places a problem lists at most; None: all of them.
    """

    problems: list[Problem] = field(default_factory=list)
    listed: int | None = LISTED

    def __repr__(self) -> str:
        counts = ((len(self.errors), "error"), (len(self.warnings), "warning"))
        found = ", ".join(f"{count} {name}{'s' * (count != 1)}" for count, name in counts if count)
        return f"Report({found or 'no problems'})"

    @property
    def ok(self) -> bool:
        """True when there is no error; warnings are allowed."""
        return not self.errors

    @property
    def errors(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "error"]

    @property
    def warnings(self) -> list[Problem]:
        return [problem for problem in self.problems if problem.severity == "warning"]

    def error(self, code: str, message: str | None = None, **fields: Any) -> None:
        """Add an error, by default with the code's message from `scoring.reports.messages`."""
        self.add("error", code, message, **fields)

    def warning(self, code: str, message: str | None = None, **fields: Any) -> None:
        """Add a warning; the message as for `error`."""
        self.add("warning", code, message, **fields)

    def add(self, severity: Severity, code: str, message: str | None = None, **fields: Any) -> None:
        problem = Problem(severity, code, message or "", **fields)
        self.problems.append(problem if message else replace(problem, message=_message(problem)))

    def extend(self, other: "Report", file: str | None = None) -> None:
        """Add another report's problems; those without a file get this one."""
        self.problems.extend(
            replace(problem, file=file) if file and problem.file is None else problem for problem in other.problems
        )

    def __iter__(self) -> Iterator[Problem]:
        return iter(self.problems)

    def as_dict(self) -> dict[str, Any]:
        return {"ok": self.ok, "problems": [problem.as_dict() for problem in self.problems]}


def translate(problem: Problem, language: str) -> Problem:
    """The problem in one of `messages.LANGUAGES`; one with its own message is unchanged."""
    known = problem.code in MESSAGES and problem.message == _message(problem)
    return replace(problem, message=_message(problem, language)) if known else problem


def in_language(report: Report, language: str) -> Report:
    """The report in that language."""
    return Report([translate(problem, language) for problem in report])


def _message(problem: Problem, language: str = "en") -> str:
    """The code's sentence with the problem's fields."""
    listed = ", ".join(phrase(place, language) for place in problem.places)
    if problem.count > len(problem.places):
        left_out = and_more(problem.unit, problem.count - len(problem.places), language)
        listed += f", {left_out}" if listed else left_out
    fields = {name: getattr(problem, name) for name in ("file", "line", "column", "item", "suggestion")}
    for name in ("found", "expected"):
        text = getattr(problem, name)
        fields[name] = phrase(text, language) if text else text
    return sentence(problem.code, language).format(count=problem.count, places=listed, **fields)
