"""Metrics for Prometheus, counted from rows: the same in all web processes and after a restart."""

import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from functools import partial
from socket import gethostname
from typing import Any

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from portal import __version__
from portal.models import Heartbeat, OutgoingMail, Refusal, Run, Submission, WorkerHost
from portal.models.clock import clock_offset
from portal.queries.health import SILENCE, backlogs
from scoring import __version__ as scorer_version

Family = type[CounterMetricFamily] | type[GaugeMetricFamily]

SCORING_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
WAITING_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600)


def metrics(at: datetime) -> Iterator[Metric]:
    """All metrics; `docs/for-administrators.md` says what to watch."""
    uploads, runs = Submission.objects.all(), Run.objects.filter(kind=Run.Kind.TEAM)
    scored = runs.filter(state=Run.State.SCORED)
    waiting = backlogs(at)
    silences = ((one.lane, max(0.0, (at - one.at).total_seconds())) for one in Heartbeat.objects.order_by("lane"))
    yield _counter("agon_uploads", "Uploads taken.", ["shared_task"], _counts(uploads, "shared_task__slug"))
    yield _gauge("agon_submissions", "Uploads by state.", ["state"], _counts(uploads, "state"))
    words = "Runs of teams by state; failed ones are ours to look at."
    yield _gauge("agon_runs", words, ["state"], _counts(runs, "state"))
    yield _gauge("agon_mails", "Mails by state.", ["state"], _counts(OutgoingMail.objects.all(), "state"))
    yield _counter(
        "agon_refusals", "Rejected uploads by code.", ["code"], Refusal.objects.values_list("code", "uploads")
    )
    yield _gauge("agon_queue_length", "Work that waits.", ["work"], ((one.work, one.waiting) for one in waiting))
    ages = ((one.work, one.age) for one in waiting)
    yield _gauge("agon_queue_age_seconds", "For how long the oldest of it has waited.", ["work"], ages)
    yield _histogram(scored, "started_at", "agon_scoring_seconds", "Scoring of a run.", SCORING_SECONDS)
    yield _histogram(scored, "received_at", "agon_upload_to_score_seconds", "Upload to score.", WAITING_SECONDS)
    yield _gauge("agon_heartbeat_age_seconds", "Silence of a lane's workers.", ["lane"], silences)
    yield from _hosts(at)
    free = shutil.disk_usage(settings.STATE_ROOT).free
    yield GaugeMetricFamily("agon_disk_free_bytes", "Free space where the state lies.", value=free)
    running = (__version__, settings.REVISION, scorer_version, 1)
    yield _gauge("agon_info", "What runs here.", ["version", "revision", "scorer"], [running])


def _counts(rows: QuerySet, field: str) -> QuerySet:
    """The number of rows for each value of that column."""
    return rows.order_by(field).values_list(field).annotate(count=Count("pk"))


def _family(kind: Family, name: str, words: str, labels: list[str], rows: Iterable[tuple[Any, ...]]) -> Metric:
    """A metric family; `rows` have a value for each label, and the figure."""
    family = kind(name, words, labels=labels)
    for *values, figure in rows:
        family.add_metric(values, figure)
    return family


_counter, _gauge = partial(_family, CounterMetricFamily), partial(_family, GaugeMetricFamily)


def _histogram(runs: QuerySet, since: str, name: str, words: str, bounds: tuple[float, ...]) -> Metric:
    """A histogram with each run's last score, counted once."""
    took = ExpressionWrapper(F("finished_at") - F(since), output_field=DurationField())
    timed = runs.order_by().annotate(took=took).filter(took__isnull=False)
    within = {f"b{place}": Count("pk", filter=Q(took__lte=timedelta(seconds=s))) for place, s in enumerate(bounds)}
    found = timed.aggregate(all=Count("pk"), total=Sum("took"), **within)
    buckets = [(str(float(seconds)), found[f"b{place}"]) for place, seconds in enumerate(bounds)]
    total = (found["total"] or timedelta()).total_seconds()
    return HistogramMetricFamily(name, words, buckets=[*buckets, ("+Inf", found["all"])], sum_value=total)


def _hosts(at: datetime) -> Iterator[Metric]:
    """Metrics of machines seen within two minutes, and of the one that answers."""
    workers = WorkerHost.objects.filter(at__gte=at - SILENCE)
    offsets = [(gethostname(), "metrics", clock_offset()), *((one.host, one.lane, one.clock_offset) for one in workers)]
    words = "Seconds that a machine's clock is ahead of the database's."
    yield _gauge("agon_clock_offset_seconds", words, ["host", "lane"], offsets)
    unable = Counter(one.lane for one in workers if one.missing)
    words = "Workers that accept no work, as their machine lacks what it needs."
    lanes = ((lane, unable[lane]) for lane in settings.CELERY_TASK_QUEUES)
    yield _gauge("agon_workers_not_ready", words, ["lane"], lanes)
