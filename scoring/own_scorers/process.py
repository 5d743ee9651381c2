"""Running a scorer on one run in a process of its own, and reading what it writes.

The process gets a folder with `program`, `input/ref` (the gold), `input/res` (the run) and `output`. Only the files
that are there can be written in `output`: a confined scorer can create no others.
"""

import json
import math
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from scoring import limits
from scoring.definition.scorer import Scorer
from scoring.own_scorers.program import Program, ScorerError

JSON_SCORES, TEXT_SCORES = "scores.json", "scores.txt"
OUTPUTS = (JSON_SCORES, TEXT_SCORES, "detailed_results.html", "scores.html")
MESSAGES = "messages.txt"
RUNNER = Path(__file__).with_name("runner.py")
UNCONFINED = (str(RUNNER),)
_NOT_ALLOWED = ("PermissionError", "Operation not permitted", "can't start new thread", "BlockingIOError")
_HINT = (
    " Own scorers can't start programs, processes or threads, use the network, or write other files than "
    f"{', '.join(OUTPUTS)} in the output folder."
)


@dataclass(frozen=True, slots=True)
class Job:
    """A program, and the files that it reads: gold and run, each by name.

    `seconds` limits the CPU time, which only a confined launcher can enforce, and `wall_seconds` the time on the clock.
    """

    program: Program
    track: str
    gold: Mapping[str, bytes]
    run: Mapping[str, bytes]
    seconds: int
    memory: int  # bytes
    wall_seconds: float


@dataclass(frozen=True, slots=True)
class Output:
    """The scores by column, where None means undefined, and the end of what the scorer printed."""

    scores: dict[str, float | None]
    messages: str


def run_scorer(job: Job, scorer: Scorer, work: Path, launcher: Sequence[str] = UNCONFINED) -> Output:
    """Run the scorer in the empty folder `work` and return what it computed.

    Args:
        launcher: the script that starts the program, and its own arguments. The job is added to them.

    Raises:
        ScorerError: the scorer failed, exceeded a limit, or wrote no valid scores.
        OSError: the process cannot be started, or the folder cannot be written.
    """
    _prepare(job, work)
    folders = {name: str(work / name) for name in ("program", "input", "output")}
    spec = folders | {"entry": job.program.entry.as_dict(), "seconds": job.seconds, "memory": job.memory}
    command = [sys.executable, "-s", "-B", "-P", *launcher, json.dumps(spec)]
    with (work / MESSAGES).open("wb") as messages:
        process = subprocess.Popen(
            command,
            cwd=work,
            env=environment(job.track),
            stdin=subprocess.DEVNULL,
            stdout=messages,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(job.wall_seconds)
        except subprocess.TimeoutExpired:
            status = None
        finally:
            process.kill()
            process.wait()
    printed = _messages(work)
    if status is None:
        raise ScorerError(f"The scorer took longer than {job.wall_seconds:g} s.", printed)
    if status != 0:
        raise ScorerError(_failure(status, printed, job.seconds), printed)
    return Output(read_scores(work / "output", scorer, printed), printed)


def environment(track: str) -> dict[str, str]:
    """Return the variables of a scorer's process: the track, one thread, fixed hashes, and nothing of its parent's."""
    return {
        "AGON_TRACK": track,
        "PATH": os.defpath,
        "LANG": "C.UTF-8",
        "PYTHONUTF8": "1",
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS"), "1"),
    }


def _prepare(job: Job, work: Path) -> None:
    for folder, files in (("program", job.program.files), ("input/ref", job.gold), ("input/res", job.run)):
        (work / folder).mkdir(parents=True)
        for name, content in files.items():
            path = work / folder / name
            if not path.resolve().is_relative_to(work / folder):
                raise ScorerError(f"The path {name} of the scorer is not allowed.")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    (work / "output").mkdir()
    for name in OUTPUTS:
        (work / "output" / name).touch()


def _messages(work: Path) -> str:
    with (work / MESSAGES).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - limits.SCORER_MESSAGES))
        return file.read(limits.SCORER_MESSAGES).decode(errors="replace").replace("\0", "�")


def _failure(status: int, printed: str, seconds: float) -> str:
    lines = printed.strip().splitlines()
    last = f" Its last line was: {lines[-1][:300]}" if lines else ""
    how = f"was ended by signal {-status}" if status < 0 else f"ended with exit code {status}"
    if status in (-24, -9):  # SIGXCPU, or the kernel's hard limit
        how = f"used more than {seconds:g} s of CPU time, or more memory than there is"
    hint = _HINT if any(word in printed for word in _NOT_ALLOWED) else ""
    return f"The scorer {how}.{last}{hint}"


def read_scores(output: Path, scorer: Scorer, printed: str = "") -> dict[str, float | None]:
    """Return the value of each column.

    Raises:
        ScorerError: a value is missing, is not a number, or is outside its range.
    """
    name, found = _named_values(output, printed)
    scores: dict[str, float | None] = {}
    for column in scorer.columns:
        if column.key not in found:
            raise ScorerError(f"{name} has no value for {column.key}; it has {_listed(found)}.", printed)
        try:
            value = _number(found[column.key])
        except (ValueError, OverflowError):
            raise ScorerError(f"{name}: the value of {column.key} is not a finite number.", printed) from None
        low, high = column.bounds
        if value is not None and low is not None and high is not None and not low <= value <= high:
            raise ScorerError(
                f"{name}: {column.key} is {value:g}, which is outside its range [{low:g}, {high:g}].", printed
            )
        scores[column.key] = value
    return scores


def _listed(found: Mapping[str, object]) -> str:
    return ", ".join(name[:50] for name in list(found)[: limits.LISTED]) or "none"


def _named_values(output: Path, printed: str) -> tuple[str, dict[str, object]]:
    for name in (JSON_SCORES, TEXT_SCORES):
        content = _content(output / name, printed)
        if content.strip():
            return name, _of_json(content, printed) if name == JSON_SCORES else _of_text(content)
    raise ScorerError(f"The scorer wrote neither {TEXT_SCORES} nor {JSON_SCORES} to its output folder.", printed)


def _content(path: Path, printed: str) -> str:
    """Return the text of an output. A confined scorer cannot replace the file, but one on one's own machine can."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        content = file.read(limits.SCORES_BYTES + 1)
    if len(content) > limits.SCORES_BYTES:
        raise ScorerError(f"{path.name} has more than {limits.SCORES_BYTES:,} bytes.", printed)
    return content.decode("utf-8-sig", errors="replace")


def _of_json(text: str, printed: str) -> dict[str, object]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ScorerError(f"{JSON_SCORES} is not valid JSON: {str(error)[:200]}.", printed) from None
    if not isinstance(found, dict):
        raise ScorerError(f"{JSON_SCORES} must be an object with a number for each column.", printed)
    return found


def _of_text(text: str) -> dict[str, object]:
    pairs = (line.rpartition(":") for line in text.splitlines() if ":" in line)
    return {name.strip(): value.strip() for name, _, value in pairs}


def _number(value: object) -> float | None:
    """Return the number, or None for null and NaN.

    Raises:
        ValueError: it is neither.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise ValueError("not a number")
    number = float(value)
    if math.isinf(number):
        raise ValueError("not finite")
    return None if math.isnan(number) else number
