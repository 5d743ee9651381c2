"""The commands of the programs that Agon is made of, as the demo, tests and benchmarks start them."""

import sys
from collections.abc import Iterable

from portal.evaluation.lanes import Lane
from portal.management.valkey import HOST

_CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "portal"]
WORKERS = {  # by the lanes that they take from; mail has one of its own, so that no long work delays it
    "scorer": [Lane.SCORING],
    "worker": [Lane.BULK],
    "mailer": [Lane.MAIL],
}
BEAT = [*_CELERY, "beat", "--pidfile="]  # not within a worker, which would not miss it


def web_command(port: int, workers: int = 1) -> list[str]:
    """Granian on this machine alone."""
    return [sys.executable, "-m", "portal.server", "--host", HOST, "--port", str(port), "--workers", str(workers)]


def worker_command(name: str, lanes: Iterable[Lane] = tuple(Lane), processes: int = 2) -> list[str]:
    """A Celery worker that takes from those lanes."""
    options = ["--queues", ",".join(lanes), "--hostname", name, "--concurrency", str(processes)]
    return [*_CELERY, "worker", *options, "--without-gossip", "--without-mingle"]
