"""A task's folder on this computer: created from a template, checked without a portal, and packed for pushing."""

import re
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agon.errors import AgonError, RunInvalid, WrongUsage
from scoring.definition import Definition, DefinitionError
from scoring.reports.problems import Problem
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.reader import load_definition

DEFINITION = "task.yaml"
DEFAULT_TEMPLATE = "hateval2019"
TEMPLATE_NAMES = (  # as in `tasks.TEMPLATES`, whose import takes time
    "exist2024",
    "detests2022",
    "hateval2019",
    "toxicspans2021",
    "ssa2023",
    "regression",
    "generation",
    "retrieval",
    "entities",
    "multilingual",
    "softlabels",
    "tryagon",
)
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_LEFT_OUT = ("__pycache__", "__MACOSX")
_MOST = 64 * 1024 * 1024  # maximum size in bytes of an archive that a portal accepts


def templates() -> Any:
    """Return the package with the templates. It is in the wheel or, in a checkout, next to this package."""
    try:
        import agon.templates as package  # noqa: PLC0415 - only `agon task new` needs them
    except ModuleNotFoundError as error:
        if error.name != "agon.templates":
            raise
        import tasks as package  # noqa: PLC0415 - as above
    return package


def new_folder(folder: Path, template: str, slug: str) -> Path:
    """Write a complete task from `template` with synthetic data and the given slug. Return the path of its task.yaml.

    Raises:
        WrongUsage: the template does not exist, the slug is not valid, or the folder is not empty.
    """
    package = templates()
    known: Mapping[str, Any] = package.TEMPLATES
    if template not in known:
        raise WrongUsage(f"Template {template} not found. Available templates: {', '.join(known)}.")
    if not _SLUG.fullmatch(slug):
        raise WrongUsage(
            f"{slug} is not a valid slug. Use lowercase letters, digits and hyphens, for example: --slug my-task-2027"
        )
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WrongUsage(f"{folder} already exists and is not an empty folder. Use another folder.")
    folder.mkdir(parents=True, exist_ok=True)
    package.build(template, folder)
    definition = folder / DEFINITION
    text = definition.read_text(encoding="utf-8")
    definition.write_text(re.sub(r"(?m)^slug:.*$", f"slug: {slug}", text, count=1), encoding="utf-8")
    return definition


def read_folder(folder: Path) -> Definition:
    """Read task.yaml.

    Raises:
        WrongUsage: there is no task.yaml.
        RunInvalid: task.yaml has errors. `problems` lists all of them with their lines.
    """
    if not (folder / DEFINITION).is_file():
        raise WrongUsage(f"{folder} has no {DEFINITION}. “agon task new {folder}” creates a folder.")
    try:
        return load_definition(folder, is_imported=False)
    except DefinitionError as error:
        raise _invalid(folder, error.report.problems) from None


def checked_folder(folder: Path) -> tuple[Definition, list[Problem]]:
    """Read task.yaml and check all files that it uses. Return the definition and all warnings.

    Raises:
        WrongUsage: there is no task.yaml.
        RunInvalid: there are errors. Each of the `problems` names its file.
    """
    definition = read_folder(folder)
    problems = problems_of_folder(definition)
    if any(problem.severity == "error" for problem in problems):
        raise _invalid(folder, problems)
    return definition, problems


def _invalid(folder: Path, problems: Sequence[Problem]) -> RunInvalid:
    errors = sum(problem.severity == "error" for problem in problems)
    count = f"{errors} errors" if errors > 1 else "an error"
    return RunInvalid(f"{folder} has {count}.", "folder_invalid", [one.as_dict() for one in problems])


def packed_folder(folder: Path, archive: Path) -> int:
    """Zip the folder without hidden files and caches. Return the number of files.

    Raises:
        AgonError: the zip is larger than a portal accepts.
    """
    files = [
        path for path in sorted(folder.rglob("*")) if path.is_file() and not _is_left_out(path.relative_to(folder))
    ]
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as packed:
        for path in files:
            packed.write(path, path.relative_to(folder).as_posix())
    if (size := archive.stat().st_size) > _MOST:
        raise AgonError(
            f"The zip of {folder} has {size:,} bytes; portals accept at most {_MOST:,}. "
            "Remove files that the task doesn't need."
        )
    return len(files)


def _is_left_out(path: Path) -> bool:
    return any(part.startswith(".") or part in _LEFT_OUT for part in path.parts)
