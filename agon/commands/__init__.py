"""Commands that use a portal, and their shared helpers.

With `--json`, standard output contains only JSON. Questions, progress and errors go to standard error.
"""

import argparse
import json
import math
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec

from agon.answer import Answer
from agon.answers import GoldUpload, Push, Submission
from agon.downloads import Progress
from agon.errors import AgonError, FileExists, WaitTimedOut, WrongUsage
from agon.portal import Portal
from agon.version import OldClient
from scoring.commands.parser import OptionalValue
from scoring.reports.printing import report_text, spelled_out
from scoring.reports.problems import Problem, Report

EXIT_CODES = (
    "Exit codes: 0 success, 1 failure, 2 usage error, 3 invalid run, 4 not signed in, 5 not allowed (phase closed, "
    "limit reached, team or signature missing), 6 timeout."
)
_KILOBYTE, _MEGABYTE = 1024, 1024 * 1024

_SOLUTIONS = {
    "signed-out": "agon login",
    "unsigned": 'agon sign {task} --name "YOUR NAME"',
    "no-team": "agon team create NAME -t {task}",
    "no_team": "agon team create NAME -t {task}",
    "not-finished": "agon runs list -t {task}",
}
"""The command that solves a problem, by the portal's error code."""

Run = Callable[[argparse.Namespace], int]


def declare(parser: argparse.ArgumentParser, run: Run) -> None:
    """Add the options of all portal commands. `run` takes the options and returns the exit code."""
    parser.add_argument(
        "--portal", metavar="URL", help="portal to use (default: AGON_URL, or the portal you signed in to)"
    )
    fields = "print JSON, optionally only some fields: --json=id,state"
    parser.add_argument("--json", action=OptionalValue, metavar="[=FIELDS]", help=fields)
    parser.add_argument("-q", "--quiet", action="store_true", help="do not print progress or hints")
    parser.epilog = EXIT_CODES
    parser.set_defaults(task=None, lang="en", command=partial(_run, run))


def task_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-t", "--task", dest="slug", metavar="TASK", help="slug of the shared task (default: AGON_TASK)"
    )


def task_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("slug", nargs="?", metavar="TASK", help="slug of the shared task (default: AGON_TASK)")


def saving_options(parser: argparse.ArgumentParser, saved: str, existing: str) -> None:
    """Add the options of commands that save files. The texts name what is saved and overwritten."""
    purpose = f"directory for the {saved} (default: current directory)"
    parser.add_argument("-p", "--path", type=Path, default=Path(), metavar="DIR", help=purpose)
    parser.add_argument("-o", "--overwrite", action="store_true", help=f"overwrite {existing}")


def chosen_task(given: str | None) -> str:
    task = given or os.environ.get("AGON_TASK")
    if not task:
        raise WrongUsage("No task given. Pass a task's slug or set AGON_TASK. “agon tasks” lists all tasks.")
    return task


def _run(run: Run, options: argparse.Namespace) -> int:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.simplefilter("always", OldClient)
        code = _carried_out(run, options)
    if not options.quiet:
        for one in caught:
            note(f"agon: {one.message}")
    return code


def _carried_out(run: Run, options: argparse.Namespace) -> int:
    try:
        return run(options)
    except AgonError as error:
        if options.json is not None:
            found = error.submission.as_dict() if isinstance(error, WaitTimedOut) and error.submission else {}
            said_no = {"ok": False, "code": error.code, "detail": str(error), "problems": error.problems}
            print_json(found | said_no | ({"retry_after": error.retry_after} if error.retry_after else {}))
        note(f"agon: {said(error, getattr(options, 'slug', None) or os.environ.get('AGON_TASK'))}")
        if error.problems:
            note(f"\n{report_text(report_of(error.problems))}")
        return error.exit_code
    except BrokenPipeError:
        raise
    except OSError as error:
        note(f"agon: {error.filename}: {error.strerror}.")
        return AgonError.exit_code


def said(error: AgonError, task: str | None) -> str:
    """Return the error's message, with the option, the command or the waiting time that solves the problem."""
    if isinstance(error, FileExists):
        return f"{error} Overwrite it with -o."
    if error.code in _SOLUTIONS:
        return f"{error} Run: {_SOLUTIONS[error.code].format(task=task or 'TASK')}"
    return f"{error} Try again in {_wait(error.retry_after)}." if error.retry_after else str(error)


def _wait(seconds: int) -> str:
    """Format a duration, rounded up so that waiting this long is enough."""
    for unit, length in (("hours", 3600), ("minutes", 60)):
        if seconds > 2 * length:
            return f"{-(-seconds // length)} {unit}"
    return f"{seconds} seconds"


def portal_of(options: argparse.Namespace) -> Portal:
    return Portal(options.portal)


def known(kind: str, given: str, names: Iterable[str]) -> str:
    """Return the given name if it is empty or one of `names`.

    Raises:
        WrongUsage: the name is not one of `names`.
    """
    names = list(names)
    if given and given not in names:
        raise WrongUsage(f"There is no {kind} {given}. Available: {', '.join(names)}.")
    return given


def keyed_texts(given: Iterable[str], what: str) -> dict[str, str]:
    """Return the texts of a repeated option with the form KEY=TEXT.

    Raises:
        WrongUsage: an entry has no `=`.
    """
    pairs = [one.partition("=") for one in given]
    if bad := [key for key, separator, _text in pairs if not separator]:
        raise WrongUsage(f"Invalid {what} {bad[0]}. Use the form KEY=TEXT.")
    return {key: text for key, _separator, text in pairs}


def seconds(text: str) -> float:
    """Read an option's number of seconds, for argparse."""
    try:
        found = float(text)
    except ValueError:
        found = -1
    if not 0 <= found < math.inf:
        raise argparse.ArgumentTypeError(f"{text} is not a number of seconds. Use a number from 0, such as 60.")
    return found


def report_of(problems: Iterable[dict[str, Any]]) -> Report:
    """Convert problems to a report that the engine can print. Keys that a newer portal adds are left out."""
    return Report([_problem(one) for one in problems])


def _problem(one: dict[str, Any]) -> Problem:
    try:
        return msgspec.convert(one, Problem)
    except msgspec.ValidationError:  # a newer portal's format
        return Problem("error", str(one.get("code", "")), str(one.get("message", one)))


def note(text: str) -> None:
    """Print a note for the user that is not part of the result."""
    print(spelled_out(text), file=sys.stderr)


def say(text: str) -> None:
    """Print the result as text."""
    print(spelled_out(text))


def print_json(content: Any, fields: str | None = None) -> None:
    """Print a value as one line of JSON. `fields` selects keys of the value, or of each value in a list."""
    if fields:
        names = fields.split(",")
        rows = content if isinstance(content, list) else [content]
        if unknown := [name for name in names for row in rows[:1] if name not in row]:
            raise WrongUsage(f"Unknown field {unknown[0]}. Available fields: {', '.join(rows[0])}.")
        picked = [{name: row[name] for name in names} for row in rows]
        content = picked if isinstance(content, list) else picked[0]
    print(spelled_out(json.dumps(content, ensure_ascii=False)))


def show(options: argparse.Namespace, found: Answer | Sequence[Answer], text: Callable[[], str]) -> None:
    """Print the result as JSON if requested, otherwise as text."""
    if options.json is None:
        say(text())
    else:
        plain = found.as_dict() if isinstance(found, Answer) else [one.as_dict() for one in found]
        print_json(plain, options.json)


def done(options: argparse.Namespace, said: str, about: dict[str, object]) -> int:
    """Print that the command succeeded, and return 0."""
    if options.json is None:
        say(said)
    else:
        print_json({"ok": True} | about, options.json)
    return 0


def show_paths(options: argparse.Namespace, paths: Sequence[Path]) -> None:
    if options.json is None:
        say("\n".join(map(str, paths)))
    else:
        print_json([{"path": str(path)} for path in paths], options.json)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Format aligned columns: text is left-aligned, numbers are right-aligned."""
    lines = list(rows)
    shown = [[_cell(name) for name in head], *([_cell(cell) for cell in row] for row in lines)]
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    numeric = [all(isinstance(cell, int | float | None) for cell in column) for column in zip(*lines, strict=True)]
    sides = [str.rjust if is_numeric else str.ljust for is_numeric in numeric or [False] * len(head)]
    return "\n".join(
        "  ".join(side(cell, width) for side, cell, width in zip(sides, line, widths, strict=True)).rstrip()
        for line in shown
    )


def _cell(value: Any) -> str:
    match value:
        case None:
            return ""
        case float():
            return f"{value:.4f}"
        case datetime():
            return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return spelled_out(" ".join(str(value).split()))


def confirmed(options: argparse.Namespace, question: str, otherwise: str = "Nothing was changed.") -> bool:
    """Return whether the user agrees, at the terminal or with `--yes`. If not, print the note `otherwise`.

    Raises:
        WrongUsage: there is no terminal.
    """
    if options.yes:
        return True
    if not sys.stdin.isatty():
        raise WrongUsage("Confirmation requires a terminal. To skip it, use --yes.")
    print(f"{spelled_out(question)} [y/N] ", end="", file=sys.stderr, flush=True)
    agrees = sys.stdin.readline().strip().lower() in ("y", "yes")
    if not agrees:
        note(otherwise)
    return agrees


def watch_of(options: argparse.Namespace) -> Callable[[Submission | Push | GoldUpload], None] | None:
    """Return a function that prints what is being waited for, once for each state and place in line."""
    if options.quiet:
        return None
    said: list[str] = []

    def watch(found: Submission | Push | GoldUpload) -> None:
        text = _waiting_text(found)
        place = text.partition(",")[0]  # the time left changes with each answer
        if place not in said:
            said.append(place)
            note(text)

    return watch


def _waiting_text(found: Submission | Push | GoldUpload) -> str:
    if found.state == "received":
        before = found.uploads_before or 0
        place = f"{before} {'upload' if before == 1 else 'uploads'} before yours" if before else "Yours is next"
        left = getattr(found, "seconds_left", None)
        return f"{place}, about {left} s." if left is not None else f"{place}."
    texts = {"checking": "Being checked …", "previewing": "Computing the effects on runs and leaderboards …"}
    return texts.get(found.state, "Checked. Waiting for the scores …")


def progress_of(options: argparse.Namespace, name: str) -> Progress | None:
    """Return a function that prints a progress line if standard error is a terminal."""
    if options.quiet or not sys.stderr.isatty():
        return None

    def show_progress(here: int, size: int | None) -> None:
        whole = f" of {_amount(size)}, {100 * here // size if size else 100} %" if size is not None else ""
        end = "\n" if here == size else ""
        print(f"\r{spelled_out(name)}: {_amount(here)}{whole}", end=end, file=sys.stderr, flush=True)

    return show_progress


def _amount(size: int) -> str:
    """Return a number of bytes in kB or MB."""
    return f"{size / _MEGABYTE:.1f} MB" if size >= _MEGABYTE else f"{size / _KILOBYTE:.0f} kB"
