"""Measure leaderboards: `python benchmarks/leaderboard.py [--json] [--runs N] [--many N] [--seconds S]`.

It uses PostgreSQL, Granian with two workers, and the portal's own settings, with 100 teams in one track. First, the
board is requested anonymously over 16 open connections. Then it is repeatedly changed and requested once. Both are
measured again with many more runs. An empty page, measured on the same kind of server in the same run, gives the upper
bound. Page and API are measured alternately.

`page_ratio` is the web server's CPU time for a cached board, divided by that for a static response of the same size
from Django without middleware. `first_view_ratio` is the time of a first view after a change, divided by that for
rendering the same page without any query (`board_without_database`). `engine_ms` is the CPU time for checking and
scoring one run on this machine (`engine`).
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
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from statistics import median
from urllib.request import urlopen

import psycopg

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)

from benchmarks.engine import engine_ms  # noqa: E402
from benchmarks.installation import cpu_seconds_of  # noqa: E402
from portal.management.programs import web_command  # noqa: E402
from portal.management.valkey import HOST, free_port  # noqa: E402
from tests.services import answers, postgres, wait_until  # noqa: E402

TRACK, PHASE, TEAMS = "task2-hard", "post-evaluation", 100
PATH = f"/tasks/exist2024/leaderboard/{TRACK}/?phase={PHASE}"
API_PATH = f"/api/v1/tasks/exist2024/leaderboards/{TRACK}?phase={PHASE}"
SAME_SIZE = "/same-size/"  # in `board_without_database`
VIEWS = 30  # number of requests, each after a change
COUNTED = 2000  # requests whose CPU time is measured together
PAGE_RATIO, FIRST_VIEW_RATIO = 1.5, 2  # targets
TURNS = 5  # number of alternating measurements of page and API


@dataclass(frozen=True, slots=True)
class BoardFigures:
    """Results for a board with a given number of runs, or for a trivial page, for which no first view is measured."""

    requests_per_s: float
    p50_ms: float
    p95_ms: float
    first_view_ms: float = 0.0
    api_ratio: float = 0.0  # responses per second of the API divided by those of the page
    page_ratio: float = 0.0  # CPU time of the cached page divided by that of a static response of the same size
    first_view_ratio: float = 0.0  # time of the first view divided by that of rendering without a database


def main() -> None:
    """Run everything and print a table, and JSON as the last line if requested."""
    parser = argparse.ArgumentParser(description="Boards: answers a second, and the first view after a change.")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object, as the last line")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--many", type=int, default=1_000_000, help="runs of the larger field (0: none)")
    parser.add_argument("--seconds", type=float, default=10, help="of each measurement")
    options = parser.parse_args()
    engine = engine_ms()
    with tempfile.TemporaryDirectory() as scratch:
        os.chmod(scratch, 0o755)  # noqa: PTH101 - PostgreSQL runs as a different user
        found = _measure(Path(scratch), [size for size in (options.runs, options.many) if size], options.seconds)
    hello = found.pop(0)  # the empty page; see _measure
    print(f"{TEAMS} teams, 16 connections, two web processes; check and score in process {engine:.1f} ms of CPU\n")
    print(
        f"{'runs':>10} {'answers/s':>10} {'p50 ms':>8} {'p95 ms':>8} {'first view ms':>14} {'API ÷ page':>11}"
        f" {'page ratio':>11} {'first view ratio':>17}"
    )
    print(f"{'hello':>10} {hello.requests_per_s:10,.0f} {hello.p50_ms:8.2f} {hello.p95_ms:8.2f}")
    for runs, one in found.items():
        print(
            f"{runs:10,} {one.requests_per_s:10,.0f} {one.p50_ms:8.2f} {one.p95_ms:8.2f} {one.first_view_ms:14.1f}"
            f" {one.api_ratio:11.2f} {one.page_ratio:11.2f} {one.first_view_ratio:17.2f}"
        )
    print(f"{'aim':>10} {PAGE_RATIO:67} {FIRST_VIEW_RATIO:17}")
    if options.json:
        print(json.dumps(_contract(found) | {"engine_ms": round(engine, 2)}))


def _contract(found: dict[int, BoardFigures]) -> dict[str, float]:
    """Return the figures that have targets.

    `flatness` is the largest relative change from few runs to many: 0.2 means 20 %.
    """
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
        "page_ratio": round(small.page_ratio, 2),
        "first_view_ratio": round(small.first_view_ratio, 2),
        "flatness": round(max(changes, default=0.0), 3),
    }


def _measure(scratch: Path, sizes: list[int], seconds: float) -> dict[int, BoardFigures]:
    """Return the figures by number of runs, where 0 stands for the empty page."""
    database = scratch / "postgres"
    database.mkdir()
    with postgres(database) as url:
        environment = os.environ | {
            "DATABASE_URL": url,
            "AGON_STATE": str(scratch / "state"),
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "LOG_LEVEL": "WARNING",
            "PYTHONWARNINGS": "ignore",
            "BENCHMARK_PAGE": PATH,
        }
        _run([sys.executable, "manage.py", "migrate", "-v0"], environment)
        with _serving("benchmarks.hello:application", environment) as hello:
            found = {0: BoardFigures(**_load(hello.port, "/", seconds))}
        for size in sizes:
            _run(
                [sys.executable, "-m", "benchmarks.board_field", str(scratch), str(size), TRACK, PHASE, str(TEAMS)],
                environment,
            )
            with _serving("portal.wsgi:application", environment) as server:
                first = _first_view(server.port, url)
                page = _load(server.port, PATH, seconds)
                ratio = _api_ratio(server.port, seconds)
                with _serving("benchmarks.board_without_database:application", environment) as bound:
                    found[size] = BoardFigures(
                        **page,
                        first_view_ms=first,
                        api_ratio=ratio,
                        page_ratio=_page_ratio(server, bound),
                        first_view_ratio=_first_view_ratio(server, bound, url),
                    )
    return found


def _run(command: list[str], environment: dict[str, str]) -> str:
    return subprocess.run(command, cwd=ROOT, env=environment, check=True, stdout=subprocess.PIPE, text=True).stdout


@dataclass(frozen=True, slots=True)
class Server:
    """A running web server."""

    port: int
    pid: int


@contextmanager
def _serving(application: str, environment: dict[str, str]) -> Iterator[Server]:
    port = free_port()
    command = [*web_command(port, workers=2), application]
    server = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    try:
        wait_until(lambda: answers(port), "granian listens")
        time.sleep(2)  # give both processes time to start
        yield Server(port, server.pid)
    finally:
        server.terminate()
        server.wait()


def _load(port: int, path: str, seconds: float) -> dict[str, float]:
    answer: dict[str, float] = json.loads(
        _run([sys.executable, "-m", "benchmarks.load", str(port), path, str(seconds)], dict(os.environ))
    )
    return answer


def _api_ratio(port: int, seconds: float) -> float:
    """Return the median ratio over several turns, because a machine's speed varies."""
    turns = [[_load(port, path, seconds / TURNS)["requests_per_s"] for path in (API_PATH, PATH)] for _ in range(TURNS)]
    return median(api / page for api, page in turns)


def _first_view(port: int, url: str) -> float:
    """Return the median time over several changes, after a warm-up in which both processes import what they need."""
    with psycopg.connect(url, autocommit=True) as database:
        return median([_changed_view_ms(port, database) for _ in range(10 + VIEWS)][10:])


def _first_view_ratio(server: Server, bound: Server, url: str) -> float:
    """Return the median time of a first view, divided by that of rendering the page without queries, in turn."""
    with psycopg.connect(url, autocommit=True) as database:
        turns = [[_changed_view_ms(one.port, database) for one in (server, bound)] for _ in range(10 + VIEWS)]
    first, rendered = (median(times[10:]) for times in zip(*turns, strict=True))
    return float(first / rendered)


def _changed_view_ms(port: int, database: psycopg.Connection) -> float:
    database.execute("UPDATE portal_board SET revision = revision + 1")
    start = time.perf_counter()
    with urlopen(f"http://{HOST}:{port}{PATH}") as answer:
        answer.read()
    return 1000 * (time.perf_counter() - start)


def _page_ratio(server: Server, bound: Server) -> float:
    """Return the median ratio over several turns."""
    turns = [(_cpu_seconds(server, PATH), _cpu_seconds(bound, SAME_SIZE)) for _ in range(1 + TURNS)][1:]
    return median(page / static for page, static in turns)


def _cpu_seconds(server: Server, path: str) -> float:
    """Return the CPU seconds that the web server needs for many requests over one connection."""
    connection = HTTPConnection(HOST, server.port)
    began = cpu_seconds_of(server.pid)
    for _ in range(COUNTED):
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        assert answer.status == HTTPStatus.OK, answer.status
    connection.close()
    return cpu_seconds_of(server.pid) - began


if __name__ == "__main__":
    main()
