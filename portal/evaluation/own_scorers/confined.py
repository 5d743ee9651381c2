"""Running an own scorer confined, after proving on this machine that a hostile one cannot escape."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path

from portal.evaluation.confinement import missing_protection
from portal.evaluation.errors import HostError
from portal.evaluation.limits import SCORER_WALL_SECONDS
from scoring import limits
from scoring.definition import Scorer, ScorerColumn
from scoring.own_scorers.process import Job, Output, run_scorer
from scoring.own_scorers.program import Entry, Program, ScorerError

_LAUNCH = Path(__file__).with_name("launch.py")
_HOSTILE = Path(__file__).with_name("hostile.py")
_PREFIX = "agon-scorer-"
_KEPT = timedelta(hours=1)


def run_confined(job: Job, scorer: Scorer) -> Output:
    """Run an approved scorer on one run.

    Raises:
        ScorerError: the scorer failed, exceeded a limit, or wrote no valid scores.
        HostError: this machine cannot confine scorers, or not start one.
    """
    if why := why_not_run():
        raise HostError(why)
    return _run(job, scorer)


def _run(job: Job, scorer: Scorer) -> Output:
    with _work_folder() as work:
        try:
            return run_scorer(job, scorer, work, (str(_LAUNCH), str(os.getpid())))
        except OSError as error:
            raise HostError(f"an own scorer can't be started ({error.strerror})") from None


@contextmanager
def _work_folder() -> Iterator[Path]:
    """Yield an empty folder that only this user can read, and delete it with everything in it."""
    with tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True) as name:
        yield Path(name).resolve()


def forget_work_folders(at: datetime) -> None:
    """Delete folders that killed workers have left. No scorer runs for longer than `_KEPT`."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):  # another worker deletes it, too
            if folder.stat().st_mtime < (at - _KEPT).timestamp():
                shutil.rmtree(folder)


@cache
def why_not_run() -> str | None:
    """Return why this machine runs no own scorers, or None if a hostile one could not escape.

    The hostile scorer runs once per process of a worker, and in the worker before it starts its processes.
    """
    if missing := missing_protection():
        return f"Own scorers are not run on this machine. {' '.join(missing)}"
    with tempfile.TemporaryDirectory(prefix="agon-probe-") as name:
        folder = Path(name).resolve()
        (folder / "secret.txt").write_text("secret")
        try:
            found = _run_hostile(folder)
        except (ScorerError, HostError) as error:
            return f"Own scorers are not run on this machine, because the trial of their confinement failed: {error}"
        if found or (folder / "secret.txt").read_text() != "secret" or len(list(folder.iterdir())) > 1:
            return f"Own scorers are not run on this machine, because a hostile one could reach: {', '.join(found)}."
    return None


def _run_hostile(folder: Path) -> list[str]:
    """Return what a hostile scorer succeeds in."""
    with _work_folder() as work:
        targets = {
            "secret": str(folder / "secret.txt"),
            "folder": str(folder),
            "output": str(work / "output"),
            "own": str(work / "input/res/targets.json"),
        }
        job = Job(
            Program({"hostile.py": _HOSTILE.read_bytes()}, Entry("hostile.py", function="score")),
            "probe",
            {},
            {"targets.json": json.dumps(targets).encode()},
            10,
            1024 * limits.MEBIBYTE,
            SCORER_WALL_SECONDS,
        )
        scorer = Scorer(columns=(ScorerColumn(key="escapes"),))
        output = run_scorer(job, scorer, work, (str(_LAUNCH), str(os.getpid())))
    if output.scores["escapes"] == 0:
        return []
    return output.messages.split("\n") or ["something"]
