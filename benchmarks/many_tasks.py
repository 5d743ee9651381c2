"""Compare ten shared tasks with a thousand: `python benchmarks/many_tasks.py [--json] [--tasks N] [--turns N]`.

There are two databases on one server, each with 1,000 scored runs and 100 accounts per task. The same pages and
jobs are measured on both in turn, so that other load slows both equally. Each ratio is the median time with many tasks
divided by that with ten tasks. `home_ratio` is the largest ratio of the pages, `organizer_ratio` that of the pages of
organizers and administrators, and `sweep_ratio` that of the regular jobs.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks.engine import engine_ms  # noqa: E402
from tests.services import postgres  # noqa: E402

FEW = 10
PAGES = ("home", "home, signed in", "search", "task", "own runs")
ORGANIZERS = (
    "home, organizer", "overview, organizer", "runs, organizer", "teams, organizer", "admin, runs", "admin, uploads",
)  # fmt: skip
OTHERS = ("calendar",)  # shows all tasks, so only its time is printed
JOBS = ("sweep", "sweep_mails", "remind", "refresh_boards")
NAMES = PAGES + ORGANIZERS + OTHERS + JOBS
WARM_UP = 3  # turns that are not counted


def main() -> None:
    """Run everything and print a table, and JSON as the last line if requested."""
    parser = argparse.ArgumentParser(description="Pages and regular jobs with few and with many shared tasks.")
    parser.add_argument("--json", action="store_true", help="print the ratios as one JSON object, as the last line")
    parser.add_argument("--tasks", type=int, default=1_000, help="shared tasks of the larger database")
    parser.add_argument("--turns", type=int, default=40)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)  # noqa: PTH101 - PostgreSQL runs as a different user
        few, many = _measure(Path(scratch), options.tasks, options.turns)
    engine = engine_ms()
    ratios = {name: many[name] / few[name] for name in few}
    print(f"{'median ms':20} {FEW:>8,} {options.tasks:>8,} tasks   ratio")
    for name, ratio in ratios.items():
        print(f"{name:20} {few[name]:8.2f} {many[name]:8.2f} {ratio:13.2f}")
    print(f"check and score in process {engine:.1f} ms of CPU")
    if options.json:
        found = {
            "home_ratio": max(ratios[name] for name in PAGES),
            "organizer_ratio": max(ratios[name] for name in ORGANIZERS),
            "sweep_ratio": max(ratios[name] for name in JOBS),
            "engine_ms": engine,
        }
        print(json.dumps({name: round(ratio, 3) for name, ratio in found.items()}))


def _measure(scratch: Path, tasks: int, turns: int) -> list[dict[str, float]]:
    """Return the milliseconds of each page and job, with few and with many tasks."""
    database = scratch / "postgres"
    database.mkdir()
    with (
        postgres(database) as url,
        _portal(scratch, url, "few", FEW) as few,
        _portal(scratch, url, "many", tasks) as many,
    ):
        took: list[dict[str, list[float]]] = [{name: [] for name in NAMES} for _ in "12"]
        for turn in range(WARM_UP + turns):
            for name in NAMES:
                for portal, times in zip((few, many), took, strict=True):
                    seconds = portal(name)
                    if turn >= WARM_UP:
                        times[name].append(1000 * seconds)
    return [{name: median(times) for name, times in one.items()} for one in took]


@contextmanager
def _portal(scratch: Path, url: str, name: str, tasks: int) -> Iterator[Callable[[str], float]]:
    """Start a process whose database has this many tasks.

    Yield a function that runs a page or a job and returns its seconds.
    """
    subprocess.run(["psql", "-q", url, "-c", f"CREATE DATABASE {name}"], check=True)
    environment = os.environ | {
        "DATABASE_URL": url.rsplit("/", 1)[0] + f"/{name}",
        "AGON_STATE": str(scratch / name),
        "DJANGO_SETTINGS_MODULE": "portal.settings",
        "LOG_LEVEL": "ERROR",
        "PYTHONWARNINGS": "ignore",
    }
    subprocess.run([sys.executable, "manage.py", "migrate", "-v0"], cwd=ROOT, env=environment, check=True)
    command = [sys.executable, "-m", "benchmarks.many_tasks_portal", str(scratch / name), str(tasks)]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None
        assert answers is not None

        def ask(what: str) -> float:
            print(what, file=asked, flush=True)
            return float(answers.readline())

        ask("ready")
        yield ask
        asked.close()


if __name__ == "__main__":
    main()
