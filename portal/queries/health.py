"""Health checks: whether the portal can accept uploads, whether the workers are alive, and how much work is waiting."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from socket import gethostname

import redis
from django.conf import settings
from django.db import Error
from django.db.models import Count, Min, Q, QuerySet

from portal.models import Heartbeat, OutgoingMail, Phase, Run, Submission, TaskPush, WorkerHost
from portal.models.clock import clock_offset, database_now
from portal.models.schema import missing_migrations
from portal.objects.interface import data_objects, gold_objects
from portal.queries.static_files import missing_static_files

BROKER_SECONDS = 1
# A lane is considered dead after this long without a heartbeat. Heartbeats are 30 seconds apart.
SILENCE = timedelta(minutes=2)
# Heartbeats of these lanes wait while a job on hidden scores runs. So that its time stays hidden, too, not everyone
# learns of their silence before any job must have ended.
PRIVATE_LANES = ("hidden", "bulk")
PRIVATE_SILENCE = timedelta(hours=2)
HIDDEN = "score hidden"  # backlog of first scores that are hidden until the release
WEB = "web"  # the lane name that web servers report
CLOCK_SECONDS = 5  # tolerated difference between a machine's clock and the database's
LATE = timedelta(minutes=10)  # if the oldest waiting work is older than this, its lane is too slow


# Beginnings of messages, in lower case, and what they mean.
DATABASE_ERRORS = {
    "password authentication failed": "wrong user or password",
    "no password supplied": "wrong user or password",
    "connection refused": "not running, or at another address",
    "no such file or directory": "not running, or at another address",
    "resolve": "the host name is unknown",
    "does not exist": "there is no such database or user",
    "too many": "too many connections",
    "remaining connection slots": "too many connections",
    "starting up": "starting",
    "shutting down": "stopping",
    "timeout": "no response",
}
# The first type that matches counts, so special ones come first.
BROKER_ERRORS: dict[type[redis.RedisError], str] = {
    redis.OutOfMemoryError: "out of memory",
    redis.ReadOnlyError: "read-only",
    redis.AuthenticationError: "wrong password",
    redis.TimeoutError: "no response",
    redis.ConnectionError: "not running, or at another address",
}
WAITING_WORK = {
    "check": "the oldest upload",
    "score": "the oldest run",
    "push": "the oldest pushed folder",
    "mail": "the oldest email",
}


class HealthStatus(StrEnum):
    READY = "ready"
    DEGRADED = "degraded"  # uploads are accepted, but scores are late
    UNREADY = "unready"  # uploads cannot be accepted


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the portal as a whole and of each part: `ok` or the problem, without addresses or secrets."""

    status: HealthStatus
    parts: dict[str, str]


def health(*, for_everyone: bool = False) -> Health:
    """Check the parts of the portal. What is shown to everyone does not depend on hidden scores.

    Uploads need only the database and storage. The sweep can catch up on everything else later.
    """
    needed = _database() | {"storage": _said(data_objects().probe), "static files": _static_files()}
    later = {"gold storage": _said(gold_objects().probe), "broker": _said(_try_broker)}
    if needed.get("schema") == "ok":
        at = database_now()
        later |= _workers(at, for_everyone) | {"queue": _queue(at), "clocks": _clocks(at)}
    status = HealthStatus.READY if set(later.values()) == {"ok"} else HealthStatus.DEGRADED
    if set(needed.values()) != {"ok"}:
        status = HealthStatus.UNREADY
    return Health(status, needed | later)


def _said(test: Callable[[], object]) -> str:
    try:
        test()
    except OSError as error:
        return error.strerror or type(error).__name__  # leaves out path and address
    except redis.RedisError as error:
        return _broker_words(error)
    return "ok"


def _broker_words(error: redis.RedisError) -> str:
    """Describe an error without the broker's address."""
    for kind, words in BROKER_ERRORS.items():
        if isinstance(error, kind):
            return words
    return f"does not accept messages ({str(error).partition(' ')[0] or type(error).__name__})"


def _static_files() -> str:
    missing = missing_static_files()
    return f"not collected: {missing}" if missing else "ok"


def _database() -> dict[str, str]:
    """Check that the database responds, has all tables and accepts a row."""
    try:
        at = database_now()
    except Error as error:
        return {"database": _database_words(error)}
    if missing := missing_migrations():
        return {"database": "ok", "schema": " ".join(missing)}
    try:
        WorkerHost.objects.report(gethostname(), WEB, at, clock_offset())
    except Error as error:
        return {"database": f"not accepting writes ({type(error).__name__})", "schema": "ok"}
    return {"database": "ok", "schema": "ok"}


def _database_words(error: Error) -> str:
    """Describe why a connection failed, without the database's address."""
    text = str(error).lower()
    return next((words for part, words in DATABASE_ERRORS.items() if part in text), type(error).__name__)


def _try_broker() -> None:
    """Write a message's worth of data. A broker that is out of memory or read-only still answers a ping."""
    url = settings.CELERY_BROKER_URL
    with redis.Redis.from_url(url, socket_connect_timeout=BROKER_SECONDS, socket_timeout=BROKER_SECONDS) as broker:
        broker.set("agon-probe", "ready?", ex=SILENCE)


def _workers(at: datetime, for_everyone: bool) -> dict[str, str]:
    """Report lanes that have no recent heartbeat, and workers that claim no work because they lack something."""
    beats = dict(Heartbeat.objects.values_list("lane", "at"))
    found = {}
    for lane in settings.CELERY_TASK_QUEUES:
        accepted = PRIVATE_SILENCE if for_everyone and lane in PRIVATE_LANES else SILENCE
        found[f"worker {lane}"] = _beating(beats.get(lane), at, accepted)
    for worker in WorkerHost.objects.filter(at__gte=at - SILENCE).exclude(missing=[]).order_by("lane"):
        found[f"worker {worker.lane}"] = "not accepting work: " + " ".join(worker.missing)
    return found


def _clocks(at: datetime) -> str:
    """Report the clock that is off the most.

    Times come from the database, but logs, certificates and signed links depend on the machines' clocks.
    """
    workers = WorkerHost.objects.filter(at__gte=at - SILENCE).values_list("clock_offset", flat=True)
    most = max([clock_offset(), *workers], key=abs)
    if abs(most) <= CLOCK_SECONDS:
        return "ok"
    return f"a machine's clock is {abs(most):.0f} s {'ahead of' if most > 0 else 'behind'} the database's"


def _beating(last: datetime | None, at: datetime, accepted: timedelta) -> str:
    if last is None:
        return "no heartbeat yet"
    silence = at - last
    return "ok" if silence <= accepted else f"no heartbeat for {int(silence.total_seconds())} s"


def _queue(at: datetime) -> str:
    # Everyone can read the answer, so it must not depend on scores that are hidden.
    late = [backlog for backlog in backlogs(at) if backlog.work != HIDDEN and backlog.age > LATE.total_seconds()]
    waits = (f"{WAITING_WORK[backlog.work]} has been waiting for {int(backlog.age)} s" for backlog in late)
    return "; ".join(waits) or "ok"


@dataclass(frozen=True, slots=True)
class Backlog:
    """How much work of one kind is waiting, and the age of the oldest in seconds."""

    work: str
    waiting: int
    age: float


def backlogs(at: datetime) -> list[Backlog]:
    """Return the backlogs of uploads to check, runs to score, pushed folders to check and emails to send.

    Runs that have no gold standard are not counted as waiting.
    """
    submissions = Submission.objects.unchecked()
    runs = Run.objects.scorable().unfinished().filter(team__isnull=False)
    is_public = Q(phase__in=Phase.objects.with_public_scores(at))
    mails = OutgoingMail.objects.filter(state=OutgoingMail.State.QUEUED)
    return [
        _backlog("check", submissions, "received_at", at),
        _backlog("score", runs.filter(is_public), "received_at", at),
        _backlog(HIDDEN, runs.exclude(is_public), "received_at", at),
        _backlog("push", TaskPush.objects.unfinished(), "received_at", at),
        _backlog("mail", mails, "queued_at", at),
    ]


def _backlog(work: str, rows: QuerySet, since: str, at: datetime) -> Backlog:
    found = rows.order_by().aggregate(waiting=Count("pk"), oldest=Min(since))
    age = (at - found["oldest"]).total_seconds() if found["oldest"] else 0.0
    return Backlog(work, found["waiting"], max(0.0, age))
