"""A terminated benchmark leaves no servers running."""

import subprocess
import sys

import pytest

from tests.conftest import ROOT
from tests.services import PATIENCE, children, is_running, wait_until

# The benchmark with all its servers, but it sleeps instead of importing a shared task and uploading runs.
BENCHMARK = """
import sys, time
sys.argv = ["benchmarks/latency.py"]
from benchmarks import latency
latency.prepare = lambda *_: ["sender"]
latency.bodies = lambda *_: (print("everything runs", flush=True), time.sleep(3600))
latency.main()
"""


@pytest.mark.slow
def test_servers_end_with_a_benchmark_that_is_terminated() -> None:
    benchmark = subprocess.Popen(
        [sys.executable, "-c", BENCHMARK], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    assert benchmark.stdout is not None
    assert "everything runs\n" in iter(benchmark.stdout.readline, "")
    servers = children(benchmark.pid)
    assert len(servers) > 5  # database, broker, web and workers
    benchmark.terminate()
    benchmark.wait(PATIENCE)
    wait_until(lambda: not any(map(is_running, servers)), "the servers have ended, too")
