"""Find work that has no message in the queue: never queued, lost with the broker, or released by a worker."""

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import zip_longest
from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q

from portal.evaluation.lanes import Lane
from portal.evaluation.limits import ATTEMPTS, HINT_SECONDS, LEASES_LOST, SWEEP_BATCH
from portal.evaluation.record import fail_unscorable, quarantine, reject_outside_phase
from portal.models import Evaluation, GoldUpload, Phase, Run, SharedTask, Submission
from portal.models.lease import LeaseQuerySet
from portal.models.run import RunQuerySet


@dataclass(frozen=True, slots=True)
class Work:
    """Ids of work to queue: uploads to check, runs to score, runs that no one is waiting for, and previews."""

    submissions: list[UUID] = field(default_factory=list)
    runs: list[UUID] = field(default_factory=list)
    hidden: list[UUID] = field(default_factory=list)  # runs whose scores only organizers may see
    # baselines, runs that already have scores, and runs of tasks with an own scorer
    others: list[UUID] = field(default_factory=list)
    previews: list[UUID] = field(default_factory=list)  # gold standards that need a preview


def sweep(at: datetime, lanes: Collection[Lane] = tuple(Lane)) -> Work:
    """Return waiting work in these lanes that has no message in the queue, oldest first.

    It is marked, so other sweeps within `HINT_SECONDS` skip it. Work that several children or workers died on is
    quarantined.
    """
    fail_unscorable(at)
    submissions = Submission.objects.due(at).unchecked()
    runs = Run.objects.due(at).unfinished()
    previews = GoldUpload.objects.due(at).filter(state=GoldUpload.State.PREVIEWING)
    for due in (submissions, runs, previews):
        _give_up(due, at)
    if Lane.SCORING in lanes:
        _reject_outside_phases(at)
    scored = Exists(Evaluation.objects.filter(run=OuterRef("pk")))
    first, scorable = Q(~scored, kind=Run.Kind.TEAM), runs.scorable()
    is_public = Q(phase__in=Phase.objects.with_public_scores(at))
    # Organizers' own scorers may be slow. No other task's run may wait for them.
    is_quick = Q(track__shared_task__own_scorer_sha256="")
    work = Work()
    if Lane.SCORING in lanes:
        first_runs = _hint_runs(scorable.filter(first, is_public, is_quick), at)
        work = Work(submissions=_hint(submissions, at), runs=first_runs)
    if Lane.HIDDEN in lanes:
        work = replace(work, hidden=_hint_runs(scorable.filter(first, ~is_public, is_quick), at))
    if Lane.BULK in lanes:
        others = scorable.exclude(first, is_quick)
        work = replace(work, others=_hint_runs(others, at), previews=_hint(previews, at))
    return work


def gold_to_check(at: datetime) -> list[UUID]:
    """Return gold standards that wait for their check and have no message in the queue, oldest first, and mark them."""
    due = GoldUpload.objects.due(at).filter(state__in=(GoldUpload.State.RECEIVED, GoldUpload.State.CHECKING))
    _give_up(due, at)
    return _hint(due, at)


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


def _hint_runs(due: RunQuerySet, at: datetime) -> list[UUID]:
    """Mark runs and return their ids, one of each task after another, so that no task waits for all runs of another."""
    here = Exists(due.filter(track__shared_task=OuterRef("pk")))
    tasks = list(SharedTask.objects.filter(here).order_by("pk").values_list("pk", flat=True)[:SWEEP_BATCH])
    each = SWEEP_BATCH // max(1, len(tasks))
    found = [due.filter(track__shared_task=task).order_by("received_at") for task in tasks]
    rounds = zip_longest(*(runs.hint(at, HINT_SECONDS, each) for runs in found))
    return [run for some in rounds for run in some if run is not None]


def _hint(due: LeaseQuerySet[Any], at: datetime) -> list[UUID]:
    return due.order_by("received_at").hint(at, HINT_SECONDS, SWEEP_BATCH)
