"""The benchmark of faults, shortened: each kind of fault once while uploads come in. # G72–G76, G87"""

import json
import subprocess
import sys

import pytest
from django.db import connection

from tests.conftest import ROOT
from tests.services import postgres_programs


@pytest.mark.skipif(postgres_programs() is None, reason="no PostgreSQL server is installed")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process's files")
def test_nothing_is_lost_and_nothing_is_double(db: None) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("it starts a PostgreSQL of its own: once is enough")
    command = [sys.executable, "benchmarks/faults.py", "--uploads", "80", "--seconds", "45", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=400)
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    result = json.loads(done.stdout.splitlines()[-1])
    assert (result["uploads"], result["lost"], result["double"]) == (80, 0, 0)
    assert result["faults"] == 8
    assert result["drained_s"] is not None
