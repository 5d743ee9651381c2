"""Find work that has no message in the queue: never queued, lost with the broker, or released by a worker."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from portal.evaluation.lanes import Lane
from portal.evaluation.limits import ATTEMPTS, HINT_SECONDS, LEASES_LOST, SWEEP_BATCH
from portal.evaluation.record import fail_unscorable, quarantine, reject_outside_phase
from portal.models import Evaluation, GoldUpload, Phase, Run, Submission
from portal.models.lease import LeaseQuerySet


@dataclass(frozen=True, slots=True)
class Work:
    """Ids of work to queue: uploads to check, runs to score, runs that no one is waiting for, and gold."""

    submissions: list[UUID] = field(default_factory=list)
    runs: list[UUID] = field(default_factory=list)
    hidden: list[UUID] = field(default_factory=list)  # runs whose scores only organizers may see
    others: list[UUID] = field(default_factory=list)  # baselines, and runs that already have scores
    gold: list[UUID] = field(default_factory=list)  # gold standards to check
    previews: list[UUID] = field(default_factory=list)  # gold standards that need a preview


def sweep(at: datetime, lanes: Collection[Lane] = tuple(Lane)) -> Work:
    """Return waiting work in these lanes that has no message in the queue, oldest first.

    It is marked, so other sweeps within `HINT_SECONDS` skip it. Work that several children or workers died on is
    quarantined.
    """
    fail_unscorable(at)
    submissions = Submission.objects.due(at).unchecked()
    runs = Run.objects.due(at).unfinished()
    gold = GoldUpload.objects.due(at).filter(state__in=(GoldUpload.State.RECEIVED, GoldUpload.State.CHECKING))
    previews = GoldUpload.objects.due(at).filter(state=GoldUpload.State.PREVIEWING)
    for due in (submissions, runs, gold, previews):
        _give_up(due, at)
    if Lane.SCORING in lanes:
        _reject_outside_phases(at)
    scored = Exists(Evaluation.objects.filter(run=OuterRef("pk")))
    first, scorable = Q(~scored, kind=Run.Kind.TEAM), runs.scorable()
    is_public = Q(phase__in=Phase.objects.with_public_scores(at))
    work = Work()
    if Lane.SCORING in lanes:
        first_runs = _hint(scorable.filter(first, is_public), at)
        work = Work(submissions=_hint(submissions, at), runs=first_runs, gold=_hint(gold, at))
    if Lane.HIDDEN in lanes:
        work = replace(work, hidden=_hint(scorable.filter(first, ~is_public), at))
    if Lane.BULK in lanes:
        work = replace(work, others=_hint(scorable.exclude(first), at), previews=_hint(previews, at))
    return work


def _give_up(due: LeaseQuerySet[Any], at: datetime) -> None:
    hopeless = due.filter(Q(attempts__gte=ATTEMPTS) | Q(token__isnull=False, leases_lost__gte=LEASES_LOST))
    for pk in list(hopeless.values_list("pk", flat=True)):
        quarantine(hopeless.filter(pk=pk), at)


def _reject_outside_phases(at: datetime) -> None:
    """Reject waiting runs for tracks for which their phase accepts none, because they could never be scored.

    Such runs were uploaded before the task's definition or the portal ruled them out.
    """
    due = Run.objects.due(at).unfinished()
    scored = Exists(Evaluation.objects.filter(run=OuterRef("pk")))
    waiting = due.filter(~scored, kind=Run.Kind.TEAM, submission__state=Submission.State.ACCEPTED)
    for phase_id, track_id in set(waiting.order_by().values_list("phase", "track").distinct()):
        phase = Phase.objects.select_related("shared_task").get(pk=phase_id)
        if track_id not in [track.pk for track in phase.tracks()]:
            for pk in list(waiting.filter(phase=phase_id, track=track_id).values_list("pk", flat=True)):
                reject_outside_phase(due.filter(pk=pk), at)


def _hint(due: LeaseQuerySet[Any], at: datetime) -> list[UUID]:
    return due.order_by("received_at").hint(at, HINT_SECONDS, SWEEP_BATCH)
