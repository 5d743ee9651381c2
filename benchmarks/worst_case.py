"""Measure the most expensive uploads: `python benchmarks/worst_case.py [--json] [--size BYTES] [--only WORD]`.

Each upload of `hostile_uploads.py` is processed as in the portal. Its names are inspected as in the web process. Its
content is checked in a confined child and, if it is valid, scored there. The CPU seconds are the total of these steps,
the memory is the peak of any process, and `failed` counts uploads without a report. `engine_ms` is the CPU time for
checking and scoring one run of EXIST 2024 in a single process, to compare the seconds of different machines.
"""

import argparse
import json
import os
import pickle
import resource
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # replaces this folder, in which `scoring` is a benchmark

import django  # noqa: E402

from benchmarks.engine import engine_ms  # noqa: E402
from benchmarks.hostile_uploads import TEAM, Hostile, corpus, gold_of, hostile_task  # noqa: E402
from scoring import Definition, inspect_upload  # noqa: E402
from scoring.score import accepted_gold  # noqa: E402

SECONDS = 40  # CPU seconds after which an upload counts as failed
AIMS = {"cpu_seconds_max": 2.0, "memory_mb_max": 300.0, "failed": 0}


@dataclass(frozen=True)
class Measured:
    """An upload's CPU seconds, its peak memory in MB, and its error codes, or None if there was no report."""

    name: str
    seconds: float
    memory: float
    codes: list[str] | None


def measure(definition: Definition, upload: Hostile, folder: Path) -> Measured:
    """Process one upload in a separate process."""
    path = folder / "upload"
    path.write_bytes(upload.build())
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        _be_portal(definition, path, upload.file_name, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = json.loads(pipe.read() or '{"before": 0, "codes": null}')
    _, _, used = os.wait4(pid, 0)
    seconds = used.ru_utime + used.ru_stime - answer["before"]
    return Measured(upload.name, seconds, used.ru_maxrss / 1024, answer["codes"])


def _be_portal(definition: Definition, path: Path, file_name: str, writing: int) -> None:
    from portal.evaluation.child import fork_server, run_limited

    try:
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))
        run_limited(abs, 1)  # starts the fork server before any upload
        before = sum(map(_cpu_seconds, (os.getpid(), fork_server().pid)))
        codes = _codes(definition, path, file_name)
        fork_server().stop()  # adds the CPU time and memory of the server and its children to this process
        with os.fdopen(writing, "wb") as pipe:
            pipe.write(json.dumps({"before": before, "codes": codes}).encode())
    finally:
        os._exit(0)


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and of its children that have exited."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _codes(definition: Definition, path: Path, file_name: str) -> list[str]:
    """Check an upload and, if it is valid, score it. Return its error codes, which are empty if it is valid."""
    from portal.evaluation.check import check_content, child_for
    from portal.models import Phase, Team

    upload, phase = inspect_upload(definition, path, file_name, TEAM), Phase(slug="open", split="test")
    with child_for(definition, path, phase) as child:
        finding, kept = check_content(child, file_name, Team(name=TEAM), set())
        if finding.ok:
            for run in upload.runs:
                gold = pickle.dumps(accepted_gold(definition, run.track, gold_of(run.track), phase.split))
                with nullcontext(child) if run.entry in kept else child_for(definition, path, phase) as reader:
                    if reader is not child:
                        reader.ask("read", run.entry, run.track, False)
                    reader.ask("score", run.entry, run.track, gold)
    problems = [*finding.problems, *(problem for run in finding.runs.values() for problem in run.problems)]
    return sorted({problem["code"] for problem in problems if problem["severity"] == "error"})


def measured(uploads: Sequence[Hostile], folder: Path) -> Iterator[Measured]:
    """Measure the uploads one after another."""
    definition = hostile_task(folder / "task")
    for upload in uploads:
        yield measure(definition, upload, folder)


def main() -> None:
    """Measure and print a line per upload, then the figures that have targets."""
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
    engine = engine_ms()  # only now, because processes that are forked later would inherit its memory
    print(f"\ncheck and score in process {engine:.1f} ms of CPU")
    if options.json:
        print(json.dumps(contract(found) | {"engine_ms": round(engine, 2)}))


def contract(found: Sequence[Measured]) -> dict[str, float]:
    """Return the figures that have targets (see `AIMS`)."""
    return {
        "cpu_seconds_max": round(max(one.seconds for one in found), 2),
        "memory_mb_max": round(max(one.memory for one in found), 1),
        "failed": sum(one.codes is None for one in found),
    }


if __name__ == "__main__":
    main()
