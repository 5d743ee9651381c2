"""The three most frequent functions of a portal, for notebooks."""

import os
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agon.answers import Leaderboard, Submission
from agon.errors import AgonError, WrongUsage
from agon.portal import Portal

if TYPE_CHECKING:
    from agon.frames import TaskData


def cache_folder() -> Path:
    """The folder for downloads by `load`."""
    if os.name == "nt":
        return Path(os.environ["LOCALAPPDATA"]) / "agon"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agon"


def load(task: str, dataset: str, *, password: str = "", portal: Portal | None = None) -> "TaskData":
    """A file of a task's data as a DataFrame, with `to_datasets()`: CSV, TSV, JSON or JSON lines.

    Downloaded once, and verified by its SHA-256. `password` is your team's data password, if the file needs one.

    Raises:
        AgonError: you may not download it, or it is encrypted.
        ValueError: it is a file of another kind.
    """
    portal = portal or Portal()
    wanted = portal.dataset(task, dataset)
    if wanted.is_encrypted:
        raise AgonError(f"{wanted.file_name} is encrypted: download it with “agon download”, and open it with 7-Zip.")
    folder = cache_folder() / (urlsplit(portal.address).netloc.replace(":", "_")) / task / (wanted.sha256[:16] or "new")
    path = portal.download(task, wanted, folder, password=password, force=not wanted.sha256)
    found: TaskData = import_module("agon.frames").read(path)
    return found


def submit(
    path: str | Path, task: str = "", *, wait: bool | float = False, portal: Portal | None = None, **options: Any
) -> Submission:
    """`Portal.submit` to the task, or to `AGON_TASK`."""
    task = task or os.environ.get("AGON_TASK", "")
    if not task:
        raise WrongUsage("Which shared task? Name it, or set AGON_TASK.")
    return (portal or Portal()).submit(path, task, wait=wait, **options)


def leaderboard(
    task: str, track: str, *, phase: str = "", all_runs: bool = False, portal: Portal | None = None
) -> Leaderboard:
    """`Portal.leaderboard`; `to_pandas` makes a DataFrame of it."""
    return (portal or Portal()).leaderboard(task, track, phase=phase, all_runs=all_runs)
