"""Starting a worker.

A worker does not accept messages until its machine has everything that the worker's lanes need.
"""

import socket
from contextlib import suppress
from time import sleep

import structlog
from celery.signals import worker_init
from celery.worker import WorkController
from django.db import DatabaseError, connections
from django.urls import get_resolver

from portal.evaluation.lanes import Lane
from portal.evaluation.limits import PROBE_SECONDS
from portal.evaluation.own_scorers.confined import forget_work_folders, why_not_run
from portal.evaluation.probe import missing_for
from portal.models import OwnScorer, WorkerHost
from portal.models.clock import clock_offset, database_now

log = structlog.get_logger("portal.worker")


@worker_init.connect
def wait_until_able(sender: WorkController, **_: object) -> None:
    """Wait until the worker can work.

    If it received messages before that, it would keep them from workers that can process them.
    """
    lanes = [Lane(queue) for queue in sender.app.amqp.queues.consume_from]
    said: list[str] = []
    while missing := probe(lanes):
        if missing != said:
            log.error("this worker is not accepting work yet", missing=missing)
            said = missing
        sleep(PROBE_SECONDS)
    if said:
        log.warning("this worker is ready and starts")
    if Lane.MAIL in lanes:
        load_pages()
    if set(lanes) - {Lane.MAIL}:
        try_own_scorers()


def try_own_scorers() -> None:
    """If a task has an own scorer, try here whether a hostile one can escape. If it can, none runs on this machine."""
    forget_work_folders(database_now())
    has_scorers = OwnScorer.objects.exists()
    connections.close_all()  # must happen before the pool is forked
    if has_scorers and (why := why_not_run()):
        log.error("own scorers are not run on this machine", why=why)


def load_pages() -> None:
    """Load all pages before the worker's processes are forked, because emails contain links to pages.

    Otherwise, each process would load them for its first email. On a busy machine, that can take longer than a job may,
    so the process would be killed, and so would its successors.
    """
    _ = get_resolver().url_patterns


def probe(lanes: list[Lane]) -> list[str]:
    """Return what this machine lacks for these lanes. /readyz and `manage.py doctor` also use this function."""
    lacks = {lane: missing_for(lane) for lane in lanes}
    with suppress(DatabaseError):  # the database is unreachable or does not have the table yet
        for lane, missing in lacks.items():
            WorkerHost.objects.report(socket.gethostname(), lane, database_now(), clock_offset(), missing)
    connections.close_all()  # must happen before the pool is forked
    return list(dict.fromkeys(sentence for missing in lacks.values() for sentence in missing))
