"""Problems as a report for people: names before contents, and the same problem in several files only once."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

from portal.queries.code_fixes import code_fix
from portal.queries.problems import Problem, extent, more_places

EXAMPLES = 3  # excerpts shown for each problem
_NAMING = ("name-", "names-", "archive-", "track-not-in-phase", "runs-not-checked")


@dataclass(frozen=True, slots=True)
class Example:
    """A quoted line. `file` is empty if all quoted lines are in the same file."""

    file: str
    excerpt: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Rename:
    """A file, and its suggested name."""

    file: str
    name: str


@dataclass(frozen=True, slots=True)
class Finding:
    """The same problem in one or more files.

    `problem` is that of the first file, and `count` the number of places in all files.
    """

    problem: Problem
    count: int
    files: tuple[str, ...]
    examples: tuple[Example, ...]
    renames: tuple[Rename, ...]

    @property
    def further(self) -> str:
        """How many places there are in addition to the first one, such as `213 more labels`."""
        return more_places(self.problem | {"count": self.count}, 1)

    @property
    def code_fix(self) -> str | None:
        """A line of Python that fixes the problem, if there is a common one."""
        return code_fix(self.problem)


@dataclass(frozen=True, slots=True)
class FilesWithFindings:
    """Files that have the same problems in their contents. `files` is empty for problems of the upload as a whole."""

    files: tuple[str, ...]
    findings: Sequence[Finding]

    @property
    def extent(self) -> str:
        """How many things of each kind have errors, such as `214 labels`."""
        return extent(finding.problem | {"count": finding.count} for finding in self.findings)


@dataclass(frozen=True, slots=True)
class ProblemReport:
    """What to fix first, the names and the archive, and then the contents of each file."""

    naming: Sequence[Finding]
    contents: Sequence[FilesWithFindings]

    @property
    def has_parts(self) -> bool:
        """Whether headings are needed to tell files or names and contents apart."""
        return bool(self.naming and self.contents) or len(self.contents) > 1 or self._is_of_several_files

    @property
    def _is_of_several_files(self) -> bool:
        return any(len(part.files) > 1 for part in self.contents)


def problem_report(problems: Iterable[Problem]) -> ProblemReport:
    """Group problems, as `Problem.as_dict` returns them. Errors come before warnings."""
    ordered = sorted(problems, key=lambda problem: str(problem["severity"]) != "error")
    naming = [problem for problem in ordered if is_about_names(problem)]
    contents = [problem for problem in ordered if not is_about_names(problem)]
    by_files: dict[tuple[str, ...], list[Finding]] = {}
    for finding in _findings(contents):
        by_files.setdefault(finding.files, []).append(finding)
    parts = [FilesWithFindings(files, findings) for files, findings in by_files.items()]
    return ProblemReport(_findings(naming), parts)


def is_about_names(problem: Problem) -> bool:
    """Return whether the problem is about the names of files or the structure of an archive."""
    return str(problem["code"]).startswith(_NAMING)


def _findings(problems: Iterable[Problem]) -> list[Finding]:
    """Return the problems in order. Those of several files with the same fix are one finding."""
    same: dict[tuple[Any, ...], list[Problem]] = {}
    for problem in problems:
        # A new name is a different one for each file.
        fix = None if is_about_names(problem) else problem["suggestion"]
        key: tuple[Any, ...] = (problem["severity"], problem["code"], problem["expected"], fix)
        if problem["file"] is None:
            key = (*key, problem["message"])
        same.setdefault(key, []).append(problem)
    return [_finding(found) for found in same.values()]


def _finding(problems: Sequence[Problem]) -> Finding:
    files = tuple(dict.fromkeys(problem["file"] for problem in problems if problem["file"]))
    count = sum(problem["count"] for problem in problems)
    named = [problem for problem in problems if is_about_names(problem) and problem["file"] and problem["suggestion"]]
    renames = tuple(Rename(problem["file"], problem["suggestion"]) for problem in named)
    return Finding(problems[0], count, files, _examples(problems, len(files) > 1), renames)


def _examples(problems: Sequence[Problem], has_several_files: bool) -> tuple[Example, ...]:
    """Return the first excerpt of each file and, if there are few, the second one of each, and so on; file by file."""
    quoted = []
    for problem in problems:
        file = problem["file"] if has_several_files else ""
        excerpts = [problem["excerpt"], *problem.get("more_excerpts", ())] if problem.get("excerpt") else []
        quoted.append([Example(file, excerpt) for excerpt in excerpts])
    by_turn = [example for turn in zip_longest(*quoted) for example in turn if example is not None]
    order = [problem["file"] for problem in problems]
    return tuple(sorted(by_turn[:EXAMPLES], key=lambda example: order.index(example.file) if example.file else 0))
