"""Finds the work that no hint on the queue will bring: never published, lost with the broker, or let go by a worker."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet

from portal.evaluation.lanes import Lane
from portal.evaluation.limits import ATTEMPTS, HINT_SECONDS, LEASES_LOST, SWEEP_BATCH
from portal.evaluation.record import quarantine
from portal.models import Evaluation, GoldUpload, Run, Submission


@dataclass(frozen=True, slots=True)
class Work:
    """What is to be published: ids of uploads to check, of runs to score, of those for which nobody waits, of gold."""

    submissions: list[UUID] = field(default_factory=list)
    runs: list[UUID] = field(default_factory=list)
    others: list[UUID] = field(default_factory=list)  # baselines, and runs that have scores already
    gold: list[UUID] = field(default_factory=list)  # standards to judge


def sweep(at: datetime, lanes: Collection[Lane] = tuple(Lane)) -> Work:
    """Uploads and runs that wait and have not been hinted at lately, oldest first, for those lanes.

    Each is marked, so that a second sweep within `HINT_SECONDS` leaves it alone. Work with which one worker after the
    other died is quarantined.
    """
    submissions = Submission.objects.filter(_waiting(Submission.State.CHECKING, at))
    runs = Run.objects.filter(_waiting(Run.State.SCORING, at))
    gold = GoldUpload.objects.filter(_waiting(GoldUpload.State.CHECKING, at))
    _give_up(submissions, Submission.State.CHECKING, at)
    _give_up(runs, Run.State.SCORING, at)
    _give_up(gold, GoldUpload.State.CHECKING, at)
    scored = Exists(Evaluation.objects.filter(run=OuterRef("pk")))
    first, scorable = Q(~scored, kind=Run.Kind.TEAM), runs.scorable()
    work = Work()
    if Lane.SCORING in lanes:
        first_runs = _hint(scorable.filter(first), at)
        work = Work(submissions=_hint(submissions, at), runs=first_runs, gold=_hint(gold, at))
    if Lane.BULK in lanes:
        work = replace(work, others=_hint(scorable.exclude(first), at))
    return work


def _waiting(busy: str, at: datetime) -> Q:
    return Q(state__in=(Run.State.RECEIVED, busy)) & (Q(lease_ends__isnull=True) | Q(lease_ends__lte=at))


def _give_up(waiting: QuerySet[Any], busy: str, at: datetime) -> None:
    hopeless = waiting.filter(Q(attempts__gte=ATTEMPTS) | Q(state=busy, leases_lost__gte=LEASES_LOST))
    for pk in list(hopeless.values_list("pk", flat=True)):
        quarantine(hopeless.filter(pk=pk), at)


@transaction.atomic
def _hint(waiting: QuerySet[Any], at: datetime) -> list[UUID]:
    """Mark and return; rows that another sweep is marking are skipped (on SQLite it waits for its turn instead)."""
    locked = waiting.order_by("received_at").select_for_update(skip_locked=True, of=("self",), no_key=True)
    found = list(locked.values_list("pk", flat=True)[:SWEEP_BATCH])
    received = waiting.model.objects.filter(pk__in=found, state=Run.State.RECEIVED)
    received.update(lease_ends=at + timedelta(seconds=HINT_SECONDS))
    return found
