"""Run a scorer's program in this process: `python runner.py JOB`, where the job is a JSON object.

This file imports nothing but the standard library, and is started by its path, so that the program starts with a clean
interpreter. It ends with the program.
"""

import json
import os
import random
import runpy
import sys
from contextlib import suppress
from typing import Any

RESULT = "scores.json"


def run(job: dict[str, Any]) -> None:
    """Run the job: `program`, `input` and `output` are folders, `entry` is the call."""
    folders = {name: job[name] for name in ("program", "input", "output")}
    entry = job["entry"]
    script = os.path.join(folders["program"], entry["script"])  # noqa: PTH118 - pathlib takes longer to import
    os.chdir(folders["program"])
    sys.path[:0] = list(dict.fromkeys([os.path.dirname(script), folders["program"]]))  # noqa: PTH120
    _seed()
    if entry["function"]:
        _call(script, entry["function"], folders)
    else:
        sys.argv = [script, *(_filled(word, folders) for word in entry["arguments"])]
        runpy.run_path(script, run_name="__main__")


def _seed() -> None:
    """Seed the generators that most programs use, so that two runs give the same scores."""
    random.seed(1)
    with suppress(ImportError):
        import numpy  # noqa: PLC0415 - only after the process is confined

        numpy.random.seed(1)


def _filled(word: str, folders: dict[str, str]) -> str:
    for name, folder in folders.items():
        word = word.replace(f"${name}", folder)
    return word


def _call(script: str, function: str, folders: dict[str, str]) -> None:
    found = runpy.run_path(script, run_name="scorer").get(function)
    if not callable(found):
        sys.exit(f"{os.path.basename(script)} has no function {function}.")  # noqa: PTH119
    gold, answers = (os.path.join(folders["input"], name) for name in ("ref", "res"))  # noqa: PTH118
    scores = found(gold, answers)
    if not isinstance(scores, dict):
        sys.exit(f"{function} returned {type(scores).__name__}; expected a dict such as {{'quality': 0.5}}.")
    with open(os.path.join(folders["output"], RESULT), "w", encoding="utf-8") as file:  # noqa: PTH118, PTH123
        json.dump({str(key): _plain(value) for key, value in scores.items()}, file)


def _plain(value: Any) -> Any:
    """Convert numbers of NumPy."""
    return value.item() if hasattr(value, "item") else value


if __name__ == "__main__":
    run(json.loads(sys.argv[1]))
