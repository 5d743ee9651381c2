"""What the most expensive uploads cost: `python benchmarks/worst_case.py [--json] [--size BYTES] [--only WORD]`.

Each of the uploads in `hostile_uploads.py` goes the portal's way: its names are inspected as in the web process, its
content is checked in a confined child and, where it is valid, scored in another. The CPU seconds are those of all of
this, the memory is the peak of any of these processes, and `failed` counts the uploads that got no report.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # not this folder, in which `scoring` would be a benchmark

import django  # noqa: E402

from benchmarks.hostile_uploads import TEAM, Hostile, corpus, gold_of, hostile_task  # noqa: E402
from scoring import Definition, inspect_upload  # noqa: E402
from scoring.analysis.details import details  # noqa: E402
from scoring.score import load_gold, score  # noqa: E402
from scoring.uploads.inspection import RecognisedRun, read_run  # noqa: E402

SECONDS = 40  # of CPU; then an upload has failed, if its child did not do so before
AIMS = {"cpu_seconds_max": 2.0, "memory_mb_max": 300.0, "failed": 0}


@dataclass(frozen=True)
class Measured:
    """One upload: CPU seconds, peak memory in MB, and the codes of its errors (None: it got no report)."""

    name: str
    seconds: float
    memory: float
    codes: list[str] | None


def measure(definition: Definition, upload: Hostile, folder: Path) -> Measured:
    """Send one upload through a process of its own."""
    path = folder / "upload"
    path.write_bytes(upload.build())
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _be_portal(definition, path, upload.file_name, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    _, _, used = os.wait4(pid, 0)
    return Measured(
        upload.name, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, json.loads(answer) if answer else None
    )


def _be_portal(definition: Definition, path: Path, file_name: str, writing: int) -> None:
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        codes = _codes(definition, path, file_name)
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps(codes).encode())
    finally:
        os._exit(0)


def _codes(definition: Definition, path: Path, file_name: str) -> list[str]:
    """As an upload is rejected by its names, rejected by its content, or scored."""
    from portal.evaluation.check import judge
    from portal.models import Phase, Team

    upload = inspect_upload(definition, path, file_name, TEAM)
    finding = judge(definition, path, file_name, Team(name=TEAM), Phase(split="test"), set())
    if finding.ok:
        for run in upload.runs:
            _score(definition, path, run)
    problems = [*finding.problems, *(problem for run in finding.runs.values() for problem in run.problems)]
    return sorted({problem["code"] for problem in problems if problem["severity"] == "error"})


def _score(definition: Definition, path: Path, run: RecognisedRun) -> None:
    from portal.evaluation.child import run_limited

    gold = load_gold(definition, run.track, gold_of(run.track))
    items = definition.track(run.track).items["test"]

    def scored() -> object:
        result = score(definition, run.track, read_run(path, run.entry), gold, items)
        if result.comparison is None:
            raise ValueError("accepted by the check, rejected by the scorer")
        return {"scores": result.scores, "details": details(result.comparison)}

    run_limited(scored, [path, definition.folder])


def measured(uploads: Sequence[Hostile], folder: Path) -> Iterator[Measured]:
    """Each of the uploads in turn."""
    definition = hostile_task(folder / "task")
    for upload in uploads:
        yield measure(definition, upload, folder)


def main() -> None:
    """Measure and print: a line for each upload, then what the contract asks for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="print one JSON object as the last line")
    parser.add_argument("--size", type=int, default=12_000_000, help="bytes of a large upload")
    parser.add_argument("--only", default="", help="uploads whose name holds this word")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        os.environ |= {"DJANGO_SETTINGS_MODULE": "portal.settings", "AGON_STATE": name, "AGON_DEMO": "true"}
        django.setup()
        found = []
        for one in measured([upload for upload in corpus(options.size) if options.only in upload.name], Path(name)):
            found.append(one)
            verdict = "FAILED" if one.codes is None else ", ".join(one.codes) or "valid"
            print(f"{one.seconds:6.2f} s {one.memory:6.0f} MB  {one.name}: {verdict}", flush=True)
    print(f"\n{len(found)} uploads; the most expensive ones:")
    for one in sorted(found, key=lambda one: -one.seconds)[:5]:
        print(f"{one.seconds:6.2f} s {one.memory:6.0f} MB  {one.name}")
    if options.json:
        print(json.dumps(contract(found)))


def contract(found: Sequence[Measured]) -> dict[str, float]:
    """The keys that the project's contract names; their aims are in `AIMS`."""
    return {
        "cpu_seconds_max": round(max(one.seconds for one in found), 2),
        "memory_mb_max": round(max(one.memory for one in found), 1),
        "failed": sum(one.codes is None for one in found),
    }


if __name__ == "__main__":
    main()
