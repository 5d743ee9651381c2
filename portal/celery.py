"""The Celery application. Its jobs are in `portal.jobs`."""

import gc
import logging.config
import os
import socket
import stat
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import structlog
from celery import Celery, Task
from celery.beat import PersistentScheduler, ScheduleEntry
from celery.signals import (
    beat_init,
    before_task_publish,
    celeryd_init,
    setup_logging,
    task_prerun,
    worker_process_init,
    worker_ready,
)
from django.conf import settings
from django.db import close_old_connections
from kombu import Producer

from portal.evaluation.confinement import missing_protection
from portal.evaluation.lanes import Lane, message_list
from portal.evaluation.limits import OTHER_NICENESS, REGULAR_PRIORITY, REGULAR_WAITING, SCORING_NICENESS
from portal.watchdog import Watchdog

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
# Use one thread per job. Numerical libraries would otherwise start one per core.
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Celery would run Django's checks, which load all pages and the API. That is half of a worker's start and memory.
os.environ.setdefault("CELERY_SKIP_CHECKS", "1")

log = structlog.get_logger("portal.worker")

app = Celery("agon")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks(["portal"], related_name="jobs")
app.autodiscover_tasks(["portal"], related_name="worker")


class Beat(PersistentScheduler):
    """A scheduler that skips a job if too many periodic messages are already waiting in its lane.

    More messages would have no effect, because a single sweep finds all waiting work.
    """

    def apply_async(self, entry: ScheduleEntry, producer: Producer, advance: bool = True, **options: Any) -> Any:
        lane = self.app.amqp.router.route(entry.options, entry.task, entry.args, entry.kwargs)["queue"].name
        if producer.channel.client.llen(message_list(lane, REGULAR_PRIORITY)) >= REGULAR_WAITING:
            return None
        return super().apply_async(entry, producer=producer, advance=advance, **options)


@setup_logging.connect
def _log_as_django_does(**_: Any) -> None:
    logging.config.dictConfig(settings.LOGGING)


@task_prerun.connect
def _close_bad_connections(**_: Any) -> None:
    """Close old or broken connections, as Django does between requests."""
    close_old_connections()


@before_task_publish.connect
def _pass_request_id(headers: dict[str, Any], **_: Any) -> None:
    """Pass the request's id to workers, so that they log it as well."""
    headers["request_id"] = structlog.contextvars.get_contextvars().get("request_id", "")


@task_prerun.connect
def _log_request_id(task: Task, **_: Any) -> None:
    structlog.contextvars.clear_contextvars()
    if request_id := task.request.get("request_id"):
        structlog.contextvars.bind_contextvars(request_id=request_id)


@celeryd_init.connect
def _watch_worker(options: Mapping[str, Any], **_: Any) -> None:
    Watchdog(settings.CACHE_ROOT / f"alive-{'-'.join(options.get('queues') or Lane)}").start()


@beat_init.connect
def _watch_beat(**_: Any) -> None:
    Watchdog(settings.CACHE_ROOT / "alive-beat").start()


@celeryd_init.connect
def _set_niceness(options: Mapping[str, Any], **_: Any) -> None:
    """Set the process's niceness for shared machines: web servers come first, then scores and emails, then the rest.

    If Linux schedules by session (autogroups), niceness has an effect only within a session. The session keeps its
    weight, because otherwise it would starve next to other sessions on the machine. The demo's programs are equal.
    """
    if settings.DEMO:
        return
    lanes = options.get("queues") or list(Lane)
    niceness = SCORING_NICENESS if Lane.SCORING in lanes or Lane.MAIL in lanes else OTHER_NICENESS
    os.nice(niceness)


@worker_ready.connect
def _warn_about_missing_protection(**_: Any) -> None:
    for sentence in missing_protection():
        log.warning(sentence)


@worker_ready.connect
def _touch_first_heartbeats(sender: Any, **_: Any) -> None:
    for lane in sender.app.amqp.queues.consume_from:
        touch_heartbeat(lane)


def touch_heartbeat(lane: str) -> None:
    """Touch the file that the service's health check reads, so that the check needs neither Python nor the database."""
    (settings.CACHE_ROOT / f"heartbeat-{lane}").touch()


@worker_process_init.connect
def _freeze_objects(**_: Any) -> None:
    """Exclude all objects created so far, such as imported modules, from garbage collection."""
    gc.collect()
    gc.freeze()


@worker_process_init.connect
def _close_connections_of_parent(**_: Any) -> None:
    """Close the parent's connections in a pool process that replaces a killed one.

    As long as a child keeps the broker's connection open, the parent cannot detect that it was closed. If the broker
    died, the parent's event loop would spin on a closed descriptor and accept no more work.
    """
    for descriptor in [int(path.name) for path in Path("/dev/fd").iterdir()]:
        with suppress(OSError):  # the descriptor of the directory listing itself
            if stat.S_ISSOCK(os.fstat(descriptor).st_mode) and _is_of_the_network(descriptor):
                os.close(descriptor)


def _is_of_the_network(descriptor: int) -> bool:
    with socket.socket(fileno=os.dup(descriptor)) as connection:
        return connection.family in (socket.AF_INET, socket.AF_INET6)
