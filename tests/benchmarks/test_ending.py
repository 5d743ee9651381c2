"""A terminated benchmark leaves no servers running."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.services import PATIENCE, children, is_running, wait_until

# The benchmark with all its servers, but it sleeps instead of importing a shared task and uploading runs.
BENCHMARK = """
import sys, time
sys.argv = ["benchmarks/latency.py"]
from benchmarks import latency
latency.prepare = lambda *_: ["sender"]
latency.bodies = lambda *_: time.sleep(3600)
latency.main()
"""


@pytest.mark.slow
def test_servers_end_with_a_benchmark_that_is_terminated() -> None:
    benchmark = subprocess.Popen([sys.executable, "-c", BENCHMARK], cwd=ROOT, stderr=subprocess.DEVNULL)

    def works() -> bool:
        """Return whether the second to last worker has started its pool. By then, all programs have been started."""
        return any(b"mailer" in command(pid) and children(pid) for pid in children(benchmark.pid))

    wait_until(works, "database, broker, web and workers run")
    servers = children(benchmark.pid)
    benchmark.terminate()
    benchmark.wait(PATIENCE)
    wait_until(lambda: not any(map(is_running, servers)), "the servers have ended, too")


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
