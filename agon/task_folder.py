"""A shared task's folder on this computer: made from a template, checked without a portal."""

import re
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from agon.errors import RunInvalid, WrongUsage
from scoring.definition import Definition, DefinitionError
from scoring.definition.folder import problems_of_folder
from scoring.definition.reader import load_definition

DEFINITION = "task.yaml"
DEFAULT_TEMPLATE = "hateval2019"
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def templates() -> Any:
    """The package with the templates: part of the wheel; in a checkout it is next to this one."""
    try:
        return import_module("agon.templates")
    except ModuleNotFoundError as error:
        if error.name != "agon.templates":
            raise
        return import_module("tasks")


def new_folder(folder: Path, template: str, slug: str) -> Path:
    """Write a complete task like `template`, with synthetic data, under the slug; returns its task.yaml.

    Raises:
        WrongUsage: there is no such template, the slug is none, or the folder is there and not empty.
    """
    package = templates()
    known: Mapping[str, Any] = package.GENERATORS
    if template not in known:
        raise WrongUsage(f"There is no template {template}; there are {', '.join(known)}.")
    if not _SLUG.fullmatch(slug):
        raise WrongUsage(f"{slug} can’t be a task’s slug. Use small letters, digits and hyphens: --slug my-task-2027.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongUsage(f"{folder} is there already and is not an empty folder. Name another one.")
    folder.mkdir(parents=True, exist_ok=True)
    package.build(template, folder)
    definition = folder / DEFINITION
    text = definition.read_text(encoding="utf-8")
    definition.write_text(re.sub(r"(?m)^slug:.*$", f"slug: {slug}", text, count=1), encoding="utf-8")
    return definition


def checked_folder(folder: Path) -> Definition:
    """What task.yaml says, after everything in the folder has been checked.

    Raises:
        WrongUsage: there is no task.yaml.
        RunInvalid: the folder has errors; `problems` lists all of them, each with its file.
    """
    if not (folder / DEFINITION).is_file():
        raise WrongUsage(f"{folder} has no {DEFINITION}. “agon task new {folder}” makes a folder.")
    try:
        definition = load_definition(folder)
        problems = problems_of_folder(definition)
    except DefinitionError as error:
        problems = error.report.problems
    if not problems:
        return definition
    count = f"{len(problems)} errors" if len(problems) > 1 else "an error"
    raise RunInvalid(f"{folder} has {count}.", "folder_invalid", [one.as_dict() for one in problems])
