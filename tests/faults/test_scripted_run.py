"""The benchmark of faults, shortened: each kind of fault once while uploads come in."""

import json
import subprocess
import sys
from typing import Any

import pytest
from django.db import connection

from tests.conftest import ROOT
from tests.services import postgres_programs

pytestmark = [
    pytest.mark.skipif(postgres_programs() is None, reason="no PostgreSQL server is installed"),
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process's files"),
]


@pytest.fixture(autouse=True)
def once(db: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("it starts a PostgreSQL of its own: once is enough")


def result_of(*options: str) -> dict[str, Any]:
    """The benchmark's result with these options; all uploads must be there once."""
    command = [sys.executable, "benchmarks/faults.py", *options, "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stderr
    print(done.stdout, done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert (result["lost"], result["double"], result["waiting"]) == (0, 0, 0)
    assert result["drained_s"] is not None
    return result


def test_nothing_is_lost_and_nothing_is_double() -> None:
    result = result_of("--uploads", "80", "--seconds", "55")
    assert (result["uploads"], result["faults"]) == (80, 10)


def test_database_and_broker_are_away_for_a_minute_while_runs_are_checked() -> None:
    result = result_of("--uploads", "40", "--seconds", "6", "--every", "3", "--only", "outage")
    assert (result["uploads"], result["faults"]) == (40, 1)
    assert (result["attempts"], result["failed"]) == (0, 0)


def test_the_database_is_stopped_at_once_during_uploads() -> None:
    result = result_of("--uploads", "40", "--seconds", "10", "--every", "3", "--only", "database")
    assert (result["uploads"], result["faults"]) == (40, 2)
