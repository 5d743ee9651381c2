"""Command lines of Agon's programs, for the demo, tests and benchmarks."""

import sys
from collections.abc import Iterable

from portal.evaluation.lanes import Lane
from portal.management.valkey import HOST

_CELERY = [sys.executable, "-m", "celery", "--quiet", "-A", "portal"]
# Worker name → lanes. Email has its own worker, so that long jobs do not delay it, and hidden scores have one, so that
# checks never wait for them.
WORKERS = {
    "scorer": [Lane.SCORING],
    "hidden": [Lane.HIDDEN],
    "worker": [Lane.BULK],
    "mailer": [Lane.MAIL],
}
# A separate process, because inside a worker it could die without anyone noticing.
BEAT = [*_CELERY, "beat", "--pidfile="]


def web_command(port: int, workers: int = 1) -> list[str]:
    """Return the command of a Granian server that listens only on this machine."""
    return [sys.executable, "-m", "portal.server", "--host", HOST, "--port", str(port), "--workers", str(workers)]


def worker_command(name: str, lanes: Iterable[Lane] = tuple(Lane), processes: int = 2) -> list[str]:
    """Return the command of a Celery worker for these lanes.

    It sends no events to other workers. If the broker died, a heartbeat would be sent again and again, without a word
    in the log, and nothing else would be done meanwhile.
    """
    options = ["--queues", ",".join(lanes), "--hostname", name, "--concurrency", str(processes)]
    return [*_CELERY, "worker", *options, "--without-gossip", "--without-mingle", "--without-heartbeat"]
