"""Run the small demo and the faults next to busy loops: checks that no work starves on a busy machine.

    python benchmarks/busy.py [--loops 4] [--stage 80,55,5] [--no-faults] [--json]

Each loop is a program in a session of its own that never waits. Next to them, the demo starts with its two smallest
tasks, and a captain uploads a run as soon as the demo is ready. Then `faults.py` runs with the stage. The first start
of the demo also generates the sample data.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import django

sys.path[0] = str(Path(__file__).resolve().parents[1])
STATE = tempfile.TemporaryDirectory(prefix="agon-busy-")
# The demo's accounts are declared in a module that needs settings. The demo itself has a folder of its own.
os.environ |= {"DJANGO_SETTINGS_MODULE": "portal.settings", "AGON_STATE": STATE.name}
django.setup()

from benchmarks.installation import machine  # noqa: E402
from portal.management.commands.load_demo import CAPTAIN, TEAM  # noqa: E402
from tests.agon.demo import Demo, Person  # noqa: E402

READY_SECONDS = SCORED_SECONDS = 120  # targets
TASK, SAMPLE_RUN = "tryagon", "data/topics.csv"
BACKGROUND_DONE = "The baselines are scored."


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--loops", type=int, default=4, help="number of busy loops")
    parser.add_argument("--stage", default="80,55,5", help="stage of faults.py")
    parser.add_argument("--no-faults", action="store_true", help="only the demo")
    parser.add_argument("--json", action="store_true", help="also print the results as a line of JSON")
    given = parser.parse_args()
    print(machine())
    with STATE, busy_loops(given.loops):
        (folder := Path(STATE.name, "demo")).mkdir()
        result: dict[str, object] = {"loops": given.loops, **measure_demo(folder)}
        print(f"{'demo is ready after, s':34}{result['ready_s']:8}   aim {READY_SECONDS}")
        print(f"{'a fresh upload is scored after, s':34}{result['scored_s']:8}   aim {SCORED_SECONDS}")
        print(f"{'all background scores after, s':34}{result['background_s']:8}", flush=True)
        if not given.no_faults:
            result |= faults(given.stage)
    if given.json:
        print(json.dumps(result))


@contextmanager
def busy_loops(number: int) -> Iterator[None]:
    """Keep this many programs busy, each in a session of its own, as other users' programs are."""
    command = [sys.executable, "-c", "while True: pass"]
    loops = [subprocess.Popen(command, start_new_session=True) for _ in range(number)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def measure_demo(folder: Path) -> dict[str, float]:
    """Return the seconds until the demo is ready, until an upload is scored, and until all baselines are scored."""
    demo = Demo(folder)
    started = time.monotonic()
    try:
        demo.start("Agon is ready", "--small")
        ready = time.monotonic()
        person = Person(demo, CAPTAIN, folder / "captain")
        person.login()
        (sample,) = demo.state.glob(f"demo-tasks/{TASK}/*/**/{SAMPLE_RUN}")
        run = person.folder / f"tryagon-topics_{TEAM}.csv"
        run.write_bytes(sample.read_bytes())
        sending = time.monotonic()
        person.agon("submit", run.name, "-t", TASK, "--wait=600", "--yes")
        scored = time.monotonic()
        demo.wait_for(BACKGROUND_DONE)
        done = time.monotonic()
    finally:
        demo.stop()
    times = {"ready_s": ready - started, "scored_s": scored - sending, "background_s": done - started}
    return {name: round(seconds, 1) for name, seconds in times.items()}


def faults(stage: str) -> dict[str, object]:
    """Run `faults.py` with this stage, show its output, and return its results."""
    command = [sys.executable, str(Path(__file__).with_name("faults.py")), stage, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    print(done.stdout, end="")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


if __name__ == "__main__":
    main()
