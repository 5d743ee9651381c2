"""A short version of the fault benchmark: each kind of fault is injected once during uploads."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.db import connection

from tests.conftest import NO_NAMESPACES, ROOT
from tests.hosts import can_separate
from tests.services import postgres_programs

pytestmark = [
    pytest.mark.skipif(postgres_programs() is None, reason="no PostgreSQL server is installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process's files"),
]


STAGES = {"outage": "40,6,3,outage", "every fault": "80,68,4", "database": "40,10,3,database"}
HOSTS = "40,25,5,host"
Result = dict[str, Any]


def play(*words: str) -> list[Result]:
    """Run the benchmark and return the result of each stage."""
    if connection.vendor != "sqlite":
        pytest.skip("it starts a PostgreSQL of its own: once is enough")
    command = [sys.executable, "benchmarks/faults.py", *words, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=3600)
    print(done.stdout, done.stderr)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


@pytest.fixture(scope="module")
def results() -> dict[str, Result]:
    """The results of all stages on one installation. The outage comes first, before anything is damaged."""
    return dict(zip(STAGES, play(*STAGES.values()), strict=True))


def assert_all_is_there_once(result: Result) -> None:
    assert (result["lost"], result["double"], result["waiting"]) == (0, 0, 0)
    assert result["drained_s"] is not None


def test_nothing_is_lost_and_nothing_is_double(results: dict[str, Result]) -> None:
    result = results["every fault"]
    assert (result["uploads"], result["faults"]) == (80, 16)
    assert_all_is_there_once(result)


def test_database_and_broker_are_away_for_a_minute_while_runs_are_checked(results: dict[str, Result]) -> None:
    result = results["outage"]
    assert (result["uploads"], result["faults"]) == (40, 1)
    assert (result["attempts"], result["failed"]) == (0, 0)
    assert_all_is_there_once(result)


def test_the_database_is_stopped_at_once_during_uploads(results: dict[str, Result]) -> None:
    result = results["database"]
    assert (result["uploads"], result["faults"]) == (40, 2)
    assert_all_is_there_once(result)


@pytest.mark.skipif(not can_separate(), reason=NO_NAMESPACES)
def test_hosts_that_share_only_the_network_are_killed_and_updated_during_uploads() -> None:
    """Two web servers and two workers, each on its own host, with the data in buckets."""
    (result,) = play(HOSTS, "--hosts")
    assert (result["uploads"], result["faults"]) == (40, 4)
    assert (result["attempts"], result["failed"]) == (0, 0)
    assert_all_is_there_once(result)
