"""`tasks`, `files` and `download`: the shared tasks and their data."""

import argparse
import os
import sys
from collections.abc import Iterable
from datetime import UTC, datetime
from getpass import getpass
from pathlib import Path

from agon.answers import Dataset, TaskSummary
from agon.commands import (
    chosen_task,
    declare,
    note,
    portal_of,
    progress_of,
    said,
    saving_options,
    show,
    show_paths,
    table,
    task_argument,
)
from agon.errors import AgonError, NotAllowed, NotSignedIn, WrongUsage
from agon.portal import Portal
from scoring.reports.printing import spelled_out

_NOT_RELEASED, _SIGNED_OUT = "not-released", "signed-out"  # codes of obstacles
PASSWORD = "AGON_DATA_PASSWORD"  # the environment variable with a team's data password, for scripts
RULES = "rules"  # given instead of a file name to get the rules that `agon check` needs


def add_options(parser: argparse.ArgumentParser, command: str) -> None:
    if command != "tasks":
        task_argument(parser)
    if command == "download":
        parser.add_argument(
            "-f",
            "--file",
            metavar="FILE",
            help=f"download only this file, specified by name or slug; use “{RULES}” for the rules that agon check "
            "needs",
        )
        saving_options(parser, "files", "existing files")
    declare(parser, {"tasks": tasks, "files": files, "download": download}[command])


def tasks(options: argparse.Namespace) -> int:
    """Print all shared tasks, ordered by deadline with open tasks first."""
    found = sorted(portal_of(options).tasks(), key=_urgency)
    head = ["task", "year", "title", "state", "phase", "next date"]
    rows = [(one.slug, one.year, one.title, _state(one), one.phase or "", one.next_date) for one in found]
    show(options, found, lambda: table(head, rows))
    return 0


def _state(task: TaskSummary) -> str:
    if task.accepts_runs:
        return "open"
    return "upcoming" if task.next_date else "ended"


def _urgency(task: TaskSummary) -> tuple[int, datetime, int]:
    never = datetime.max.replace(tzinfo=UTC)
    return ("open", "upcoming", "ended").index(_state(task)), task.next_date or never, -task.year


def files(options: argparse.Namespace) -> int:
    """Print a task's files, and the steps required before you can download them."""
    found = portal_of(options).datasets(chosen_task(options.slug))
    head = ["file", "name", "bytes", "license", "before downloading"]
    steps = [" ".join(obstacle.detail for obstacle in one.obstacles) for one in found]
    rows = [(one.slug, one.file_name, one.size, one.licence, own) for one, own in zip(found, steps, strict=True)]
    show(options, found, lambda: table(head, rows))
    return 0


def download(options: argparse.Namespace) -> int:
    """Save the rules and every file that you may download, or only the given file."""
    portal, task = portal_of(options), chosen_task(options.slug)
    saved: list[Path] = []
    missing: dict[str, AgonError] = {}
    reasons: dict[str, list[str]] = {}  # why a file was not downloaded → names of the files
    password = ""
    if options.file in (None, RULES):
        saved.append(portal.download_rules(task, options.path, force=options.overwrite))
    wanted = list(_wanted(portal, task, options.file))
    for dataset in wanted:
        blocked = [one for one in dataset.obstacles if one.code != "password"]
        if blocked and blocked[0].code == _NOT_RELEASED and options.file is None:
            reasons.setdefault(blocked[0].detail, []).append(dataset.file_name)
            continue
        is_locked = dataset.is_encrypted or any(one.code == "password" for one in dataset.obstacles)
        try:
            if blocked:
                kind = NotSignedIn if blocked[0].code == _SIGNED_OUT else NotAllowed
                raise kind(blocked[0].detail, blocked[0].code)
            if is_locked and not _is_here(dataset, options):
                password = password or _password(task, dataset)
            saved.append(_saved(portal, task, dataset, password if is_locked else "", options))
        except AgonError as error:
            if options.file is not None:
                raise
            reasons.setdefault(said(error, task), []).append(dataset.file_name)
            missing[dataset.file_name] = error
    for reason, names in reasons.items():
        note(f"{', '.join(names)}: {reason}")
    show_paths(options, saved)
    if missing:
        rest = " All other files were downloaded." if len(missing) < len(wanted) else ""
        note(f"agon: Not downloaded: {', '.join(missing)}.{rest}")
    return _exit_code(missing.values())


def _exit_code(errors: Iterable[AgonError]) -> int:
    """Return the exit code that all errors have in common, 1 if they differ, or 0 if there are none."""
    codes = {error.exit_code for error in errors} or {0}
    return codes.pop() if len(codes) == 1 else AgonError.exit_code


def _is_here(dataset: Dataset, options: argparse.Namespace) -> bool:
    """Return whether the file already exists, so that no password is needed."""
    return (options.path / Path(dataset.file_name).name).exists() and not options.overwrite


def _saved(portal: Portal, task: str, dataset: Dataset, password: str, options: argparse.Namespace) -> Path:
    progress, force = progress_of(options, dataset.file_name), options.overwrite
    return portal.download(task, dataset, options.path, password=password, force=force, progress=progress)


def _wanted(portal: Portal, task: str, name: str | None) -> list[Dataset]:
    if name == RULES:
        return []
    found = portal.datasets(task)
    chosen = [one for one in found if name in (None, one.slug, one.file_name)]
    if name is not None and not chosen:
        raise WrongUsage(f"File {name} not found. Available files: {', '.join([RULES, *(one.slug for one in found)])}.")
    return chosen


def _password(task: str, dataset: Dataset) -> str:
    """Return the team's data password: from the environment, the terminal or standard input.

    All of the team's files have the same password.

    Raises:
        NotAllowed: the password is not given.
    """
    if password := os.environ.get(PASSWORD, "").strip():
        return password
    if sys.stdin.isatty():
        name = spelled_out(dataset.file_name)
        return getpass(f"Your team’s data password for {name} (hidden): ", sys.stderr).strip()
    if password := sys.stdin.readline().strip():
        return password
    how = f"agon download {task} -f {dataset.slug}"
    raise NotAllowed(
        f"This file requires your team’s data password. Run {how} in a terminal, set {PASSWORD}, or pass the password "
        "through standard input.",
        "password",
    )
