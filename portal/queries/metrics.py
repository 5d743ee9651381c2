"""The figures for Prometheus, counted from the rows: the same whichever web process is asked, and after a restart."""

import shutil
from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta
from socket import gethostname

from django.conf import settings
from django.db.models import Count, DurationField, ExpressionWrapper, F, Q, QuerySet, Sum
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from portal import __version__
from portal.models import Heartbeat, OutgoingMail, Refusal, Run, Submission, WorkerHost
from portal.models.clock import clock_offset
from portal.queries.backlog import backlogs
from scoring import __version__ as scorer_version

SCORING_SECONDS = (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60)
WAITING_SECONDS = (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600)


def metrics(at: datetime) -> Iterator[Metric]:
    """All of them; `docs/for-administrators.md` says what to watch."""
    yield _by(Submission.objects.all(), "shared_task__slug", "agon_uploads", "Uploads taken.", counter=True)
    yield _by(Submission.objects.all(), "state", "agon_submissions", "Uploads by state.")
    runs = Run.objects.filter(kind=Run.Kind.TEAM)
    yield _by(runs, "state", "agon_runs", "Runs of teams by state; failed ones are ours to look at.")
    yield _by(OutgoingMail.objects.all(), "state", "agon_mails", "Mails by state.")
    yield _refusals()
    yield from _backlogs(at)
    scored = runs.filter(state=Run.State.SCORED)
    yield _histogram(scored, "started_at", "agon_scoring_seconds", "Scoring of a run.", SCORING_SECONDS)
    yield _histogram(scored, "received_at", "agon_upload_to_score_seconds", "Upload to score.", WAITING_SECONDS)
    yield _heartbeats(at)
    yield from _hosts(at)
    free = shutil.disk_usage(settings.STATE_ROOT).free
    yield GaugeMetricFamily("agon_disk_free_bytes", "Free space where the state lies.", value=free)
    info = GaugeMetricFamily("agon_info", "What runs here.", labels=["version", "revision", "scorer"])
    info.add_metric([__version__, settings.REVISION, scorer_version], 1)
    yield info


def _by(rows: QuerySet, field: str, name: str, words: str, counter: bool = False) -> Metric:
    label = "shared_task" if field == "shared_task__slug" else field
    family = (CounterMetricFamily if counter else GaugeMetricFamily)(name, words, labels=[label])
    for value, count in rows.order_by(field).values_list(field).annotate(count=Count("pk")):
        family.add_metric([value], count)
    return family


def _refusals() -> Metric:
    family = CounterMetricFamily("agon_refusals", "Refused uploads by code.", labels=["code"])
    for code, uploads in Refusal.objects.values_list("code", "uploads"):
        family.add_metric([code], uploads)
    return family


def _backlogs(at: datetime) -> Iterator[Metric]:
    length = GaugeMetricFamily("agon_queue_length", "Work that waits.", labels=["work"])
    age = GaugeMetricFamily("agon_queue_age_seconds", "For how long the oldest of it has waited.", labels=["work"])
    for backlog in backlogs(at):
        length.add_metric([backlog.work], backlog.waiting)
        age.add_metric([backlog.work], backlog.age)
    return iter((length, age))


def _histogram(runs: QuerySet, since: str, name: str, words: str, bounds: tuple[float, ...]) -> Metric:
    """Each run counts once, with the last time it was scored."""
    took = ExpressionWrapper(F("finished_at") - F(since), output_field=DurationField())
    timed = runs.order_by().annotate(took=took).filter(took__isnull=False)
    within = {f"b{place}": Count("pk", filter=Q(took__lte=timedelta(seconds=s))) for place, s in enumerate(bounds)}
    found = timed.aggregate(all=Count("pk"), total=Sum("took"), **within)
    buckets = [(str(float(seconds)), found[f"b{place}"]) for place, seconds in enumerate(bounds)]
    total = (found["total"] or timedelta()).total_seconds()
    return HistogramMetricFamily(name, words, buckets=[*buckets, ("+Inf", found["all"])], sum_value=total)


def _heartbeats(at: datetime) -> Metric:
    family = GaugeMetricFamily("agon_heartbeat_age_seconds", "Silence of a lane's workers.", labels=["lane"])
    for heartbeat in Heartbeat.objects.order_by("lane"):
        family.add_metric([heartbeat.lane], max(0.0, (at - heartbeat.at).total_seconds()))
    return family


def _hosts(at: datetime) -> Iterator[Metric]:
    """Of the machines that were heard of within two minutes, and of the one that answers."""
    words = "Seconds that a machine's clock is ahead of the database's."
    offset = GaugeMetricFamily("agon_clock_offset_seconds", words, labels=["host", "lane"])
    offset.add_metric([gethostname(), "metrics"], clock_offset())
    words = "Workers that accept no work, as their machine lacks what it needs."
    waiting = GaugeMetricFamily("agon_workers_not_ready", words, labels=["lane"])
    unable: Counter[str] = Counter()
    for worker in WorkerHost.objects.filter(at__gte=at - timedelta(minutes=2)):
        offset.add_metric([worker.host, worker.lane], worker.clock_offset)
        unable[worker.lane] += bool(worker.missing)
    for lane in settings.CELERY_TASK_QUEUES:
        waiting.add_metric([lane], unable[lane])
    return iter((offset, waiting))
