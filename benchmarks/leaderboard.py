"""Measure leaderboards: `python benchmarks/leaderboard.py [--json] [--runs N] [--many N] [--seconds S]`.

It uses PostgreSQL, granian with two workers, and the portal's own settings, with 100 teams in one track. First the
board is requested anonymously over 16 open connections. Then it is changed and requested once, many times. Both are
repeated with many more runs. An empty page on the same server, in the same run, is the upper bound. The API is measured
in turn with the page.
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
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import psycopg

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from portal.management.programs import web_command  # noqa: E402
from portal.management.valkey import HOST, free_port  # noqa: E402
from tests.services import answers, postgres, wait_until  # noqa: E402

TRACK, PHASE, TEAMS = "task2-hard", "post-evaluation", 100
PATH = f"/tasks/exist2024/leaderboard/{TRACK}/?phase={PHASE}"
API_PATH = f"/api/v1/tasks/exist2024/leaderboards/{TRACK}?phase={PHASE}"
VIEWS = 30  # number of requests, each after a change
TURNS = 5  # turns of measuring page and API


@dataclass(frozen=True, slots=True)
class BoardFigures:
    """The figures for one number of runs, or for the empty page, which has no first view."""

    requests_per_s: float
    p50_ms: float
    p95_ms: float
    first_view_ms: float = 0.0
    api_ratio: float = 0.0  # answers per second of the API, divided by those of the page


def main() -> None:
    """Run everything and print a table, and JSON as the last line if requested."""
    parser = argparse.ArgumentParser(description="Boards: answers a second, and the first view after a change.")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object, as the last line")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=1_000_000, help="runs of the larger field (0: none)")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)  # noqa: PTH101 - PostgreSQL runs as a user of its own
        found = _measure(Path(scratch), [size for size in (options.runs, options.many) if size], options.seconds)
    hello = found.pop(0)  # the first one; see _measure
    print(f"{TEAMS} teams, 16 connections, two web processes\n")
    print(f"{'runs':>10} {'answers/s':>10} {'p50 ms':>8} {'p95 ms':>8} {'first view ms':>14} {'API ÷ page':>11}")
    print(f"{'hello':>10} {hello.requests_per_s:10,.0f} {hello.p50_ms:8.2f} {hello.p95_ms:8.2f}")
    for runs, one in found.items():
        print(
            f"{runs:10,} {one.requests_per_s:10,.0f} {one.p50_ms:8.2f} {one.p95_ms:8.2f} {one.first_view_ms:14.1f}"
            f" {one.api_ratio:11.2f}"
        )
    if options.json:
        print(json.dumps(_contract(found)))


def _contract(found: dict[int, BoardFigures]) -> dict[str, float]:
    """Return the figures of the contract. `flatness` is the largest change from few runs to many: 0.2 means 20 %."""
    (runs, small), *rest = found.items()
    changes = [
        abs(after / before - 1)
        for _runs, large in rest
        for before, after in ((small.requests_per_s, large.requests_per_s), (small.first_view_ms, large.first_view_ms))
    ]
    return {
        "runs": runs,
        "p50_ms": round(small.p50_ms, 2),
        "requests_per_s": round(small.requests_per_s),
        "first_view_ms": round(small.first_view_ms, 1),
        "api_ratio": round(small.api_ratio, 2),
        "flatness": round(max(changes, default=0.0), 3),
    }


def _measure(scratch: Path, sizes: list[int], seconds: float) -> dict[int, BoardFigures]:
    """Return the figures by number of runs. 0 stands for the empty page."""
    database = scratch / "postgres"
    database.mkdir()
    with postgres(database) as url:
        environment = os.environ | {
            "DATABASE_URL": url,
            "AGON_STATE": str(scratch / "state"),
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "LOG_LEVEL": "WARNING",
            "PYTHONWARNINGS": "ignore",
        }
        _run([sys.executable, "manage.py", "migrate", "-v0"], environment)
        with _serving("benchmarks.hello:application", environment) as port:
            found = {0: BoardFigures(**_load(port, "/", seconds))}
        for size in sizes:
            _run(
                [sys.executable, "-m", "benchmarks.board_field", str(scratch), str(size), TRACK, PHASE, str(TEAMS)],
                environment,
            )
            with _serving("portal.wsgi:application", environment) as port:
                first = _first_view(port, url)
                page = _load(port, PATH, seconds)
                ratio = _api_ratio(port, seconds)
                found[size] = BoardFigures(**page, first_view_ms=first, api_ratio=ratio)
    return found


def _run(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


@contextmanager
def _serving(application: str, environment: dict[str, str]) -> Iterator[int]:
    port = free_port()
    command = [*web_command(port, workers=2), application]
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "granian listens")
        time.sleep(2)  # until both processes have started
        yield port
    finally:
        server.terminate()
        server.wait()


def _load(port: int, path: str, seconds: float) -> dict[str, float]:
    answer: dict[str, float] = json.loads(
        _run([sys.executable, "-m", "benchmarks.load", str(port), path, str(seconds)], dict(os.environ))
    )
    return answer


def _api_ratio(port: int, seconds: float) -> float:
    """Return the median of several turns, because the speed of machines varies."""
    turns = [[_load(port, path, seconds / TURNS)["requests_per_s"] for path in (API_PATH, PATH)] for _ in range(TURNS)]
    return median(api / page for api, page in turns)


def _first_view(port: int, url: str) -> float:
    """Return the median over changes, after a warm-up in which both processes import what they need."""
    took = []
    with psycopg.connect(url, autocommit=True) as database:
        for _ in range(10 + VIEWS):
            database.execute("UPDATE portal_board SET revision = revision + 1")
            start = time.perf_counter()
            with urlopen(f"http://{HOST}:{port}{PATH}") as answer:
                answer.read()
            took.append(1000 * (time.perf_counter() - start))
    return median(took[10:])


if __name__ == "__main__":
    main()
