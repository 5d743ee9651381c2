"""Counters of uploads and runs.

Each upload and run is added to a stored count once, so that reading the metrics takes constant time.

An upload is added ten minutes after it was received, and a run ten minutes after it finished, because transactions may
commit late. Until then, uploads are counted from their own rows. Runs are not, because their states and times change
when they are rescored, and a counter must never decrease.
"""

from collections import Counter
from datetime import UTC, datetime, timedelta

from django.db import transaction
from django.db.models import Count, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery, Sum

from portal.models import Evaluation, Reading, Run, Submission, Tally

Counts = Counter[tuple[str, str]]

UPLOADS, FINISHED = "uploads", "runs_finished"
SCORING, WAITING = "scoring_seconds", "upload_to_score_seconds"
BOUNDS = {
    SCORING: (0.1, 0.25, 0.5, 1, 2, 5, 10, 30, 60),
    WAITING: (0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600),
}
ALL, TOTAL = "+Inf", "sum"  # labels of a histogram besides its bounds
_SETTLED = timedelta(minutes=10)
_EVER = datetime(1970, 1, 1, tzinfo=UTC)


def counters(at: datetime) -> Counts:
    """Return the counters: uploads up to now, and runs up to about ten minutes ago."""
    mark = Reading.objects.filter(name=Reading.COUNTED).values("at")
    # One statement, because `keep_counters` changes both together.
    rows = list(Tally.objects.annotate(mark=Subquery(mark)))
    kept: Counts = Counter({(tally.name, tally.label): tally.value for tally in rows})
    return kept + _uploads((rows and rows[0].mark) or _EVER, at)


def keep_counters(at: datetime) -> None:
    """Add the work finished since the last call, except in the last ten minutes. Concurrent calls run one at a time."""
    Reading.objects.bulk_create([Reading(name=Reading.COUNTED, at=_EVER)], ignore_conflicts=True)
    with transaction.atomic():
        mark = Reading.objects.select_for_update().get(name=Reading.COUNTED)
        until = at - _SETTLED
        if mark.at < until:
            Tally.objects.add(_uploads(mark.at, until) + _runs(mark.at, until))
            Reading.objects.note(Reading.COUNTED, until)


def _uploads(after: datetime, until: datetime) -> Counts:
    found = Submission.objects.filter(received_at__gt=after, received_at__lte=until).order_by()
    by_task = found.values_list("shared_task__slug").annotate(count=Count("pk"))
    return Counter({(UPLOADS, slug): count for slug, count in by_task})


def _runs(after: datetime, until: datetime) -> Counts:
    runs = Run.objects.filter(kind=Run.Kind.TEAM, finished_at__gt=after, finished_at__lte=until).order_by()
    ended = runs.filter(state__in=(Run.State.SCORED, Run.State.REJECTED))
    by_state = ended.values_list("state").annotate(count=Count("pk"))
    found: Counts = Counter({(FINISHED, state): count for state, count in by_state})
    scored = runs.filter(state=Run.State.SCORED)
    earlier = Evaluation.objects.filter(run=OuterRef("pk"), created_at__lt=OuterRef("finished_at"))
    return (
        found
        + _histogram(SCORING, scored, "started_at")
        + _histogram(WAITING, scored.exclude(Exists(earlier)), "received_at")
    )


def _histogram(name: str, runs: QuerySet[Run], since: str) -> Counts:
    took = ExpressionWrapper(F("finished_at") - F(since), output_field=DurationField())
    timed = runs.annotate(took=took).filter(took__isnull=False)
    within = {
        f"b{place}": Count("pk", filter=Q(took__lte=timedelta(seconds=s))) for place, s in enumerate(BOUNDS[name])
    }
    found = timed.aggregate(all=Count("pk"), total=Sum("took"), **within)
    counts: Counts = Counter({(name, str(float(s))): found[f"b{place}"] for place, s in enumerate(BOUNDS[name])})
    total = (found["total"] or timedelta()).total_seconds()
    counts.update({(name, ALL): found["all"], (name, TOTAL): total})
    return counts
