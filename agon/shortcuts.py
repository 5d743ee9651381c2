"""Functions for the three most common uses of a portal, for notebooks."""

import os
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from agon.answers import Leaderboard, Submission
from agon.errors import AgonError, WrongUsage
from agon.portal import Portal

if TYPE_CHECKING:
    from agon.frames import TaskData


def cache_folder() -> Path:
    """Return the folder for files that `load` downloads."""
    if os.name == "nt":
        return Path(os.environ["LOCALAPPDATA"]) / "agon"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "agon"


def load(task: str, dataset: str, *, password: str = "", portal: Portal | None = None) -> "TaskData":
    """Load a task's data file (CSV, TSV, JSON or JSON lines) as a DataFrame that also has `to_datasets()`.

    The file is downloaded once and verified by its SHA-256. `password` is your team's data password, if the file needs
    it.

    Raises:
        AgonError: you may not download the file, or it is encrypted.
        ValueError: the file has an unsupported format.
    """
    portal = portal or Portal()
    wanted = portal.dataset(task, dataset)
    if wanted.is_encrypted:
        raise AgonError(f"{wanted.file_name} is encrypted. Download it with “agon download” and open it with 7-Zip.")
    folder = cache_folder() / (urlsplit(portal.address).netloc.replace(":", "_")) / task / (wanted.sha256[:16] or "new")
    path = portal.download(task, wanted, folder, password=password, force=not wanted.sha256)
    from agon import frames  # noqa: PLC0415 - requires pandas, an extra

    return frames.read(path)


def submit(
    path: str | Path, task: str = "", *, wait: bool | float = False, portal: Portal | None = None, **options: Any
) -> Submission:
    """Call `Portal.submit` for `task` or, if it is empty, for the task in `AGON_TASK`."""
    task = task or os.environ.get("AGON_TASK", "")
    if not task:
        raise WrongUsage("No task given. Pass a task's slug or set AGON_TASK.")
    return (portal or Portal()).submit(path, task, wait=wait, **options)


def leaderboard(
    task: str,
    track: str,
    *,
    phase: str = "",
    all_runs: bool = False,
    as_of: date | None = None,
    portal: Portal | None = None,
) -> Leaderboard:
    """Call `Portal.leaderboard`. `to_pandas` converts the result to a DataFrame."""
    return (portal or Portal()).leaderboard(task, track, phase=phase, all_runs=all_runs, as_of=as_of)
