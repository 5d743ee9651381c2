"""Recording results and errors, with automatic retries and quarantine.

Each function is one transaction whose UPDATE requires the claim's token. If a worker's lease has ended and another
worker has claimed the work, that UPDATE matches no row, and nothing is written.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import F, QuerySet

from portal.evaluation.errors import ChildError, HostError, description
from portal.evaluation.limits import (
    ATTEMPTS,
    CHILD_SECONDS,
    HINT_SECONDS,
    POSTPONE_SECONDS,
    REMIND_AFTER,
    RETRY_SECONDS,
)
from portal.evaluation.notices import alert, notify_checked, notify_failed, notify_if_scored
from portal.models import (
    AuditEntry,
    Board,
    Evaluation,
    GoldStandard,
    GoldUpload,
    Phase,
    Quota,
    Refusal,
    Run,
    SharedTask,
    Submission,
    Track,
)
from portal.models.lease import LeaseQuerySet
from portal.models.run import problem_codes
from scoring import Report
from scoring.uploads.inspection import RecognisedRun

log = structlog.get_logger("portal.evaluation")

Problems = list[dict[str, Any]]  # lists of `Problem.as_dict` values


@dataclass(frozen=True, slots=True)
class RunFinding:
    """The result of checking one run."""

    problems: Problems
    sha256: str
    items: int | None


@dataclass(frozen=True, slots=True)
class UploadFinding:
    """The result of checking an upload: problems with the upload itself, and the findings for its runs by entry."""

    ok: bool
    problems: Problems
    runs: Mapping[str, RunFinding] = field(default_factory=dict)
    recognised: Sequence[RecognisedRun] = ()  # runs recognized by their names

    @property
    def all_problems(self) -> Problems:
        """The problems in the upload and all its runs."""
        return [*chain(self.problems, *(run.problems for run in self.runs.values()))]


@dataclass(frozen=True, slots=True)
class Scored:
    """A run's scores by metric key, flags for readers, and details."""

    scores: dict[str, float | None]
    flags: list[str]
    details: dict[str, Any]


@transaction.atomic
def record_check(submission: Submission, token: UUID, finding: UploadFinding, at: datetime) -> bool:
    """Accept the upload, or reject it with all its runs and return their quota.

    Return False if the claim was lost.
    """
    _lock_uploads(submission)
    state = Submission.State.ACCEPTED if finding.ok else Submission.State.REJECTED
    mine = Submission.objects.held(submission, token)
    codes = problem_codes(finding.all_problems)
    if not mine.release(state=state, postponed=0, problems=finding.problems, problem_codes=codes, checked_at=at):
        return False
    for run in submission.runs.order_by("pk"):  # runs are always locked in this order
        found = finding.runs.get(run.entry, RunFinding([], "", None))
        run.problems, run.sha256, run.items = found.problems, found.sha256, found.items
        if finding.ok:
            # The job that checked the runs scores them next, so the sweep waits before it queues them, too.
            run.state, run.lease_ends = Run.State.VALID, at + timedelta(seconds=HINT_SECONDS)
        else:
            run.state, run.finished_at = Run.State.REJECTED, at
        run.save(update_fields=["problems", "sha256", "items", "state", "finished_at", "lease_ends"])
    if not finding.ok:
        submission.runs.update(chosen_at=None, chosen_by=None)
        _give_quota_back(submission.runs.all())
        Refusal.objects.count_one(_codes(finding))
    elif submission.phase.max_submissions is not None:
        _keep_newest(submission, at)
    notify_checked(submission, finding.ok, at)
    return True


def _lock_uploads(submission: Submission) -> None:
    """In phases with one submission per team, let only one of a team's uploads be accepted at a time.

    Rows are locked in the order of uploads, runs, quota and boards, to avoid deadlocks.
    """
    if submission.phase.max_submissions is None:
        return
    theirs = {"team": submission.team_id, "phase": submission.phase_id}
    list(Submission.objects.filter(**theirs).locked().values_list("pk"))
    list(Run.objects.filter(**theirs).locked().values_list("pk"))


def _lock_upload(run: Run) -> None:
    """Lock the run's upload, if any, before the run itself, in the order of `_lock_uploads`."""
    if run.submission_id is not None:
        list(Submission.objects.filter(pk=run.submission_id).locked().values_list("pk"))


def _keep_newest(submission: Submission, at: datetime) -> None:
    """Replace all of the team's accepted uploads in this phase by the newest one, and return their quota.

    Uploads are not always accepted in the order in which they were received, so the newest one may be a different one.
    """
    accepted = Submission.objects.counting(submission.team, submission.phase).filter(state=Submission.State.ACCEPTED)
    *earlier, newest = accepted.order_by("received_at", "pk")
    runs = Run.objects.filter(submission__in=earlier)
    # Failed runs have already returned their quota.
    _give_quota_back(runs.exclude(state=Run.State.FAILED))
    Submission.objects.filter(pk__in=[replaced.pk for replaced in earlier]).update(replaced_by=newest)
    runs.update(chosen_at=None, chosen_by=None)
    runs.filter(withdrawn_at__isnull=True).update(withdrawn_at=at)
    Board.objects.filter(phase=submission.phase, track__in=runs.values("track")).changed()
    for replaced in earlier:
        details = {"team": submission.team.name, "phase": submission.phase.slug, "replaced_by": str(newest.pk)}
        AuditEntry.objects.record(None, AuditEntry.Event.REPLACE_SUBMISSION, replaced, at, **details)


def _codes(finding: UploadFinding) -> set[str]:
    """Return the codes of all errors."""
    return {problem["code"] for problem in finding.all_problems if problem["severity"] == "error"}


@transaction.atomic
def reject_outside_phase(waiting: LeaseQuerySet[Run], at: datetime) -> bool:
    """Reject a run for a track for which its phase accepts none, and return its quota.

    If all runs of the upload are rejected, so is the upload. Return False if the run is no longer waiting.
    """
    run = waiting.select_related("phase__shared_task", "track", "submission").first()
    if run is None:
        return False
    assert run.submission is not None
    _lock_upload(run)
    report, tracks = Report(), ", ".join(track.slug for track in run.phase.tracks())
    report.error("track-not-in-phase", file=run.name, found=run.track.slug, expected=tracks)
    problems = [*run.problems, *(problem.as_dict() for problem in report)]
    rejected = {"state": Run.State.REJECTED, "problems": problems, "finished_at": at}
    if not waiting.release(**rejected, chosen_at=None, chosen_by=None):
        return False
    _give_quota_back(Run.objects.filter(pk=run.pk))
    Board.objects.settle(run, at)
    of_runs = chain.from_iterable(run.submission.runs.values_list("problems", flat=True))
    run.submission.problem_codes = problem_codes([*run.submission.problems, *of_runs])
    run.submission.save(update_fields=["problem_codes"])
    if not run.submission.runs.exclude(state=Run.State.REJECTED).exists():
        run.submission.state = Submission.State.REJECTED
        run.submission.save(update_fields=["state"])
    notify_checked(run.submission, False, at)
    notify_if_scored(run, at)
    return True


@transaction.atomic
def record_score(run: Run, token: UUID, gold: GoldStandard, scorer: str, scored: Scored, at: datetime) -> bool:
    """Write the evaluation, one per run, gold and scorer.

    Return False if the claim was lost, or if the scores are outdated because they lack the current ranking metric.

    The ranking key follows the current rules, even if earlier rules were used for scoring. A lock ensures that an
    import that changes the rules runs either before or after this transaction. Existing scores are kept. If the new
    scores differ, an error is logged, because the existing scores could not be reproduced.
    """
    rules = Track.objects.select_related("shared_task").select_for_update(of=("shared_task",), no_key=True)
    track = rules.get(pk=run.track_id)
    _lock_upload(run)
    mine = Run.objects.held(run, token)
    is_stale = track.definition.rank_by not in scored.scores
    if is_stale or not mine.release(state=Run.State.SCORED, finished_at=at, postponed=0):
        return False
    evaluation = Evaluation(
        run=run,
        gold=gold,
        scorer=scorer,
        scores=scored.scores,
        flags=scored.flags,
        details=scored.details,
        created_at=at,
        phase_id=run.phase_id,
        team_id=run.team_id,
        rank_key=track.rank_key(scored.scores),
    )
    Evaluation.objects.bulk_create([evaluation], ignore_conflicts=True)
    kept = Evaluation.objects.filter(run=run, gold=gold, scorer=scorer).values_list("scores", flat=True).get()
    if kept != scored.scores:
        log.error("recomputed scores differ", run=str(run.pk), gold=gold.version, scorer=scorer)
    Board.objects.settle(run, at, (gold, scorer))
    notify_if_scored(run, at)
    return True


def record_error(work: Submission | Run | GoldUpload, token: UUID, error: Exception, at: datetime) -> bool:
    """Count an attempt if the child died on this content. Any other error is internal and postpones the work.

    Children that time out on a busy machine have died on this content, too, once they have used as much CPU time, over
    several tries, as one child may use. Return False if the claim was lost.
    """
    if isinstance(error, HostError) and error.cpu_seconds:
        mine = type(work).objects.held(work, token)
        mine.update(cpu_seconds=F("cpu_seconds") + error.cpu_seconds)
        if mine.filter(cpu_seconds__gte=CHILD_SECONDS).exists():
            error = ChildError(f"timed out several times and used {CHILD_SECONDS} s of CPU time in total")
    if isinstance(error, ChildError):
        return _count_attempt(work, token, error, at)
    return _postpone(work, token, error, at)


def _count_attempt(work: Submission | Run | GoldUpload, token: UUID, error: ChildError, at: datetime) -> bool:
    """Queue the work again, or quarantine it after the last attempt."""
    mine = type(work).objects.held(work, token)
    if not mine.update(attempts=F("attempts") + 1, postponed=0, cpu_seconds=0):
        return False
    work.refresh_from_db(fields=["attempts"])
    log.error("the child process died", **_names(work), attempt=work.attempts, error=str(error))
    if work.attempts >= ATTEMPTS:
        return quarantine(mine, at)
    later = at + timedelta(seconds=RETRY_SECONDS * work.attempts)
    return bool(mine.release(later, state=_waiting_state(work)))


@transaction.atomic
def _postpone(work: Submission | Run | GoldUpload, token: UUID, error: Exception, at: datetime) -> bool:
    """Postpone the work, longer each time. Administrators get at most one email per hour for each kind of error."""
    work.refresh_from_db(fields=["postponed"])
    wait = min(RETRY_SECONDS * 2 ** min(work.postponed, 10), POSTPONE_SECONDS)
    mine = type(work).objects.held(work, token)
    if not mine.release(at + timedelta(seconds=wait), state=_waiting_state(work), postponed=F("postponed") + 1):
        return False
    what = str(error) if isinstance(error, HostError) else description(error)
    log.error("postponed", **_names(work), seconds=wait, error=what)
    if work.postponed % REMIND_AFTER == 0:
        occasion = f"postponed {type(error).__name__} {at:%Y-%m-%d %H}"
        line = f"Evaluation of {_names(work)['subject']} is paused. It resumes automatically once this is fixed: {what}"
        alert(_shared_task(work), occasion, [line], at)
    return True


def _waiting_state(work: Submission | Run | GoldUpload) -> str:
    return Run.State.VALID if isinstance(work, Run) else Submission.State.RECEIVED


def _shared_task(work: Submission | Run | GoldUpload) -> SharedTask:
    return work.shared_task if isinstance(work, Submission) else work.track.shared_task


def _names(work: Submission | Run | GoldUpload) -> dict[str, str]:
    """Return names of the work for logs and administrators."""
    return {"subject": f"{work._meta.model_name} {work.pk}", "task": _shared_task(work).slug}


@transaction.atomic
def quarantine(work: LeaseQuerySet[Any], at: datetime) -> bool:
    """Give up on the row and, if it is an upload, on its runs, and return their quota.

    If the scores of a run are hidden, its team must not notice, so the rest waits until they are public.
    Return False if there is no such row.
    """
    item = work.first()
    if isinstance(item, Run):
        _lock_upload(item)
    is_hidden = isinstance(item, Run) and not item.phase.scores_are_public(at)
    ended: dict[str, Any] = {"state": Run.State.FAILED}
    if is_hidden:
        ended = {"state": Run.State.UNSCORABLE, "finished_at": at}
    if item is None or not work.release(**ended):
        return False
    names = _names(item)
    log.error("quarantined", **names, attempts=item.attempts, leases_lost=item.leases_lost)
    lost = f"Child processes that died: {item.attempts}, leases lost: {item.leases_lost}"
    line = f"Evaluation failed: {names['subject']}. {lost}"
    occasion = f"quarantine {names['subject']} {at:%Y-%m-%d %H:%M}"  # a retry counts as a new occasion
    alert(_shared_task(item), occasion, [line], at)
    if isinstance(item, Run) and is_hidden:
        # The board must not wait for a run that will never have a score.
        Board.objects.settle(item, at)
    elif not isinstance(item, GoldUpload):
        _fail(item, at)
    return True


def fail_unscorable(at: datetime) -> None:
    """Fail the runs that could not be scored while their scores were hidden, once their teams may know."""
    unscorable = Run.objects.filter(state=Run.State.UNSCORABLE, phase__in=Phase.objects.showing_failures(at))
    for run in list(unscorable):
        with transaction.atomic():
            _lock_upload(run)
            # Another sweep may have failed it in the meantime, and quota is returned only once.
            if unscorable.filter(pk=run.pk).locked().exists():
                _fail(run, at)


def _fail(item: Submission | Run, at: datetime) -> None:
    """Mark the run, or the upload's runs, as failed. Return their quota and notify the sender."""
    runs = Run.objects.filter(submission=item) if isinstance(item, Submission) else Run.objects.filter(pk=item.pk)
    # Runs are locked before quota and boards, in the order of `_lock_uploads`.
    list(runs.locked())
    runs.release(state=Run.State.FAILED, finished_at=at, chosen_at=None, chosen_by=None)
    _give_quota_back(runs)
    for run in runs:
        Board.objects.settle(run, at)
    notify_failed(item, at)


def _give_quota_back(runs: QuerySet[Run]) -> None:
    """Return the quota of these runs, in the order in which uploads reserve quota. Replaced runs have no quota."""
    runs = runs.filter(submission__replaced_by__isnull=True)
    for run in runs.select_related("team", "phase", "track", "submission").order_by("track__position"):
        if run.team is not None and run.submission is not None:
            Quota.objects.give_back(run.team, run.submission.sent_by_id, run.phase, run.track, run.received_at)
