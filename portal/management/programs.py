"""The command lines of Agon's programs, as started by the demo, tests and benchmarks."""

import sys
from collections.abc import Iterable

from portal.evaluation.lanes import Lane
from portal.management.valkey import HOST

_CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "portal"]
WORKERS = {  # by lanes; mail has its own worker, so that no long work delays it
    "scorer": [Lane.SCORING],
    "worker": [Lane.BULK],
    "mailer": [Lane.MAIL],
}
BEAT = [*_CELERY, "beat", "--pidfile="]  # not in a worker, which would not notice if it died


def web_command(port: int, workers: int = 1) -> list[str]:
    """Granian on this machine only."""
    return [sys.executable, "-m", "portal.server", "--host", HOST, "--port", str(port), "--workers", str(workers)]


def worker_command(name: str, lanes: Iterable[Lane] = tuple(Lane), processes: int = 2) -> list[str]:
    """A Celery worker for these lanes."""
    options = ["--queues", ",".join(lanes), "--hostname", name, "--concurrency", str(processes)]
    return [*_CELERY, "worker", *options, "--without-gossip", "--without-mingle"]
