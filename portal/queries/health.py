"""Whether the portal can accept uploads now, and whether what evaluates them is alive."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

import redis
from django.conf import settings
from django.db import Error

from portal.models import Heartbeat
from portal.models.clock import database_now
from portal.objects.interface import data_objects
from portal.queries.backlog import backlogs

BROKER_SECONDS = 1
SILENCE = timedelta(minutes=2)  # after which a lane counts as dead; it beats every half minute
LATE = timedelta(minutes=10)  # for the oldest upload that waits: its lane is dead or far too slow


class HealthStatus(StrEnum):
    READY = "ready"
    DEGRADED = "degraded"  # uploads are accepted and kept, but their scores are late
    UNREADY = "unready"  # no upload can be accepted


@dataclass(frozen=True, slots=True)
class Health:
    """Each part is `ok` or what is wrong with it, in words that hold no address and no secret."""

    status: HealthStatus
    parts: dict[str, str]


def health() -> Health:
    """The database and the storage are what an upload needs; the rest is found again by the sweep when it is back."""
    needed = {"database": _database(), "storage": _said(data_objects().probe)}
    later = {"broker": _said(_try_broker)}
    if needed["database"] == "ok":
        at = database_now()
        later |= _workers(at) | {"queue": _queue(at)}
    status = HealthStatus.READY if set(later.values()) == {"ok"} else HealthStatus.DEGRADED
    if set(needed.values()) != {"ok"}:
        status = HealthStatus.UNREADY
    return Health(status, needed | later)


def _said(test: Callable[[], object]) -> str:
    try:
        test()
    except (OSError, redis.RedisError) as error:
        return type(error).__name__
    return "ok"


def _database() -> str:
    try:
        database_now()
    except Error as error:
        return type(error).__name__
    return "ok"


def _try_broker() -> None:
    url = settings.CELERY_BROKER_URL
    with redis.Redis.from_url(url, socket_connect_timeout=BROKER_SECONDS, socket_timeout=BROKER_SECONDS) as broker:
        broker.ping()


def _workers(at: datetime) -> dict[str, str]:
    beats = dict(Heartbeat.objects.values_list("lane", "at"))
    return {f"worker {lane}": _beating(beats.get(lane), at) for lane in settings.CELERY_TASK_QUEUES}


def _beating(last: datetime | None, at: datetime) -> str:
    if last is None:
        return "never heard of"
    silence = at - last
    return "ok" if silence <= SILENCE else f"silent for {int(silence.total_seconds())} s"


def _queue(at: datetime) -> str:
    age = max(backlog.age for backlog in backlogs(at))
    return "ok" if age <= LATE.total_seconds() else f"the oldest work waits for {int(age)} s"
