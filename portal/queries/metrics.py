"""Metrics for Prometheus. They come from the database, so all web processes report the same, even after a restart.

Every series exists from the start, with the value 0. If a series appeared only with its first error, alerts would miss
that error.
"""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime
from functools import partial
from socket import gethostname
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import Count, Min, QuerySet
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from portal import __version__
from portal.models import Heartbeat, OutgoingMail, Reading, Refusal, Run, SharedTask, Submission, TaskPush, WorkerHost
from portal.models.clock import clock_offset
from portal.queries.counters import ALL, BOUNDS, FINISHED, SCORING, TOTAL, UPLOADS, WAITING, Counts, counters
from portal.queries.health import SILENCE, backlogs
from scoring import __version__ as scorer_version
from scoring.reports.messages.en import MESSAGES

Family = type[CounterMetricFamily] | type[GaugeMetricFamily]

ANSWERS, ANSWERED = "answers", "answered_seconds"  # counted by `portal.web.requests`
ANSWERED_SECONDS = (0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_BOUNDS = BOUNDS | {ANSWERED: ANSWERED_SECONDS}
_STATUSES = ("2xx", "3xx", "4xx", "5xx")
_REGULAR = (Reading.BACKUP, Reading.RESTORE, Reading.RECONCILE)
# Few rows are in these states at any time. Uploads and runs in other states are counted by `portal.queries.counters`.
_SUBMISSIONS = (*Submission.UNCHECKED, Submission.State.FAILED)
_RUNS = (Run.State.RECEIVED, Run.State.VALID, Run.State.FAILED, Run.State.UNSCORABLE)
_PUSHES = (*TaskPush.UNFINISHED, TaskPush.State.FAILED)
_MAILS = (OutgoingMail.State.QUEUED, OutgoingMail.State.FAILED)


def metrics(at: datetime) -> Iterator[Metric]:
    """Yield all metrics. `docs/for-administrators.md` explains which ones to watch."""
    counts = counters(at)
    tasks = SharedTask.objects.order_by("slug").values_list("slug", flat=True)
    yield _counter(
        "agon_uploads", "Uploads accepted.", ["shared_task"], ((task, counts[UPLOADS, task]) for task in tasks)
    )
    runs = Run.objects.filter(kind=Run.Kind.TEAM)
    yield _states(
        "agon_submissions", "Uploads that are waiting or have failed.", Submission.objects.all(), _SUBMISSIONS
    )
    yield _states("agon_runs", "Team runs that are waiting or have failed on our side.", runs, _RUNS)
    ended = ((state, counts[FINISHED, state]) for state in (Run.State.SCORED, Run.State.REJECTED))
    words = "Team runs that were scored or rejected, counted ten minutes later."
    yield _counter("agon_runs_finished", words, ["state"], ended)
    yield _states("agon_pushes", "Pushed folders that are waiting or have failed.", TaskPush.objects.all(), _PUSHES)
    yield _states("agon_mails", "Emails that are waiting or could not be sent.", OutgoingMail.objects.all(), _MAILS)
    rejected = dict.fromkeys(MESSAGES, 0) | dict(Refusal.objects.values_list("code", "uploads"))
    yield _counter("agon_refusals", "Rejected uploads by problem code.", ["code"], rejected.items())
    waiting = backlogs(at)
    yield _gauge(
        "agon_queue_length", "Waiting work.", ["work"], ((backlog.work, backlog.waiting) for backlog in waiting)
    )
    ages = ((backlog.work, backlog.age) for backlog in waiting)
    yield _gauge("agon_queue_age_seconds", "Age of the oldest waiting work.", ["work"], ages)
    yield _histogram(SCORING, "Time to score a run.", counts)
    yield _histogram(WAITING, "Time from upload to first score.", counts)
    answers = ((status, counts[ANSWERS, status]) for status in _STATUSES)
    yield _counter("agon_answers", "Responses to requests, except health checks.", ["status"], answers)
    yield _histogram(ANSWERED, "Time from request to response.", counts)
    yield from _regular_work(at)
    yield from _hosts(at)
    yield _gauge("agon_database_connections", "Database connections of the whole server.", ["kind"], connections())
    free = shutil.disk_usage(settings.STATE_ROOT).free
    yield GaugeMetricFamily("agon_disk_free_bytes", "Free disk space in AGON_STATE.", value=free)
    running = (__version__, settings.REVISION, scorer_version, 1)
    yield _gauge("agon_info", "Versions that are running.", ["version", "revision", "scorer"], [running])


def _family(kind: Family, name: str, words: str, labels: list[str], rows: Iterable[tuple[Any, ...]]) -> Metric:
    """Return a metric family. Each row has a value for each label, followed by the number."""
    family = kind(name, words, labels=labels)
    for *values, figure in rows:
        family.add_metric(values, figure)
    return family


_counter, _gauge = partial(_family, CounterMetricFamily), partial(_family, GaugeMetricFamily)


def _states(name: str, words: str, rows: QuerySet[Any], states: tuple[str, ...]) -> Metric:
    """Return the number of rows in each of these states."""
    found = rows.filter(state__in=states).order_by().values_list("state").annotate(count=Count("pk"))
    counts = dict(found)
    return _gauge(name, words, ["state"], ((state, counts.get(state, 0)) for state in states))


def _histogram(name: str, words: str, counts: Counts) -> Metric:
    labels = [*(str(float(seconds)) for seconds in _BOUNDS[name]), ALL]
    buckets = [(label, counts[name, label]) for label in labels]
    return HistogramMetricFamily(f"agon_{name}", words, buckets=buckets, sum_value=counts[name, TOTAL])


def _regular_work(at: datetime) -> Iterator[Metric]:
    """Report how long ago periodic jobs last ran. For a job that has never run, report the portal's age."""
    begun = _begun(at)
    beats = dict(Heartbeat.objects.values_list("lane", "at"))
    silences = ((lane, _age(beats.get(lane, begun), at)) for lane in settings.CELERY_TASK_QUEUES)
    yield _gauge("agon_heartbeat_age_seconds", "Time since the last heartbeat of a lane's workers.", ["lane"], silences)
    done = regular_work(at)
    ages = ((name, age) for name, (age, _value) in done.items())
    yield _gauge("agon_work_age_seconds", "Time since scheduled work last completed.", ["work"], ages)
    values = ((name, value) for name, (_age, value) in done.items())
    yield _gauge(
        "agon_work_problems", "Damaged files or differences that the last scheduled work found.", ["work"], values
    )
    left = certificate_seconds(at)
    words = "Time until the certificate of AGON_URL expires."
    yield _gauge("agon_certificate_seconds", words, [], [] if left is None else [(left,)])


def regular_work(at: datetime) -> dict[str, tuple[float, float]]:
    """Return how many seconds ago each periodic job last ran, and its result.

    For a job that has never run, the time is the portal's age.
    """
    begun = _begun(at)
    found = {reading.name: reading for reading in Reading.objects.filter(name__in=_REGULAR)}
    known = {name: found.get(name, Reading(at=begun)) for name in _REGULAR}
    return {name: (_age(reading.at, at), reading.value) for name, reading in known.items()}


def certificate_seconds(at: datetime) -> float | None:
    """Return the seconds until the certificate expires, or None if it has never been read."""
    seen = Reading.objects.filter(name=Reading.CERTIFICATE).first()
    return seen.value - at.timestamp() if seen else None


def _begun(at: datetime) -> datetime:
    first: datetime | None = MigrationRecorder.Migration.objects.aggregate(first=Min("applied"))["first"]
    return first or at


def _age(since: datetime, at: datetime) -> float:
    return max(0.0, (at - since).total_seconds())


def connections() -> Iterator[tuple[str, int]]:
    """Yield the number of used connections and the limit. Both are 0 for SQLite, which has no server."""
    used = limit = 0
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT count(datid), current_setting('max_connections')::int FROM pg_stat_activity")
            used, limit = cursor.fetchone()
    yield from (("used", used), ("limit", limit))


def _hosts(at: datetime) -> Iterator[Metric]:
    """Report on the machines seen in the last two minutes, and on the one that answers this request."""
    workers = WorkerHost.objects.filter(at__gte=at - SILENCE)
    offsets = [
        (gethostname(), "metrics", clock_offset()),
        *((worker.host, worker.lane, worker.clock_offset) for worker in workers),
    ]
    words = "Seconds that a machine's clock is ahead of the database's."
    yield _gauge("agon_clock_offset_seconds", words, ["host", "lane"], offsets)
    unable = Counter(worker.lane for worker in workers if worker.missing)
    words = "Workers that are not accepting work because something on their machine is missing."
    lanes = ((lane, unable[lane]) for lane in settings.CELERY_TASK_QUEUES)
    yield _gauge("agon_workers_not_ready", words, ["lane"], lanes)
