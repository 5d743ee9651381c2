"""Scoring runs again: after new gold or a new scorer, or on request.

Existing evaluations are kept. Boards use those with the newest gold and the shared task's scorer.
"""

from datetime import datetime
from typing import TypedDict

from django.db import transaction
from django.db.models import Case, Value, When

from portal.models import AuditEntry, Board, OwnScorer, Run, SharedTask
from portal.models.run import RunQuerySet
from portal.models.task import by_engine, engine_of, with_own_scorer
from scoring import __version__ as scorer_version


def ask_again(runs: RunQuerySet) -> int:
    """Queue these runs for rescoring and release the claims of any workers that are scoring them.

    Return how many runs were queued. Runs that are already waiting are updated, too: a worker that claims one has to
    wait for this transaction and then sees its changes.
    """
    found = runs.rescorable()
    list(found.locked().values_list("pk"))
    unchecked = When(state=Run.State.RECEIVED, then=Value(Run.State.RECEIVED))
    waiting = Case(unchecked, default=Value(Run.State.VALID))
    asked = found.release(state=waiting, attempts=0, postponed=0, leases_lost=0, cpu_seconds=0)
    Board.objects.filter(track__in=runs.values("track"), phase__in=runs.values("phase")).changed()
    return asked


class ScoredAgain(TypedDict):
    """The old and new scorer version, and the number of runs that are waiting for the new scorer."""

    scorer_before: str
    scorer: str
    runs: int


@transaction.atomic
def score_again(shared_task: SharedTask) -> ScoredAgain:
    """Rescore all runs of a shared task with the installed engine and the task's approved own scorer, if it has one.

    Its boards use these from then on.
    """
    there = SharedTask.objects.select_for_update(no_key=True).get(pk=shared_task.pk)
    is_approved = OwnScorer.objects.of(there).approved().exists()
    after = with_own_scorer(scorer_version, there.own_scorer_sha256 if is_approved else "")
    SharedTask.objects.filter(pk=shared_task.pk).update(scorer=after)
    runs = ask_again(Run.objects.filter(track__shared_task=shared_task))
    return {"scorer_before": there.scorer, "scorer": after, "runs": runs}


def adopt_scorer(at: datetime) -> list[SharedTask]:
    """Switch shared tasks with an older scorer to the installed one and return them. A newer one is never replaced."""
    others = SharedTask.objects.exclude(by_engine(scorer_version))
    outdated = [task for task in others if _order(engine_of(task.scorer)) < _order(scorer_version)]
    for shared_task in outdated:
        reason = f"scorer {shared_task.scorer or 'unknown'} → {scorer_version}"
        with transaction.atomic():
            again = score_again(shared_task)
            AuditEntry.objects.record(None, AuditEntry.Event.RESCORE, shared_task, at, reason=reason, **again)
    return outdated


def _order(version: str) -> list[int]:
    return [int(part) for part in version.split(".") if part.isdecimal()]
