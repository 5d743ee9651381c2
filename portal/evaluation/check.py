"""Checking uploads without gold. If scores are public, the child process that has read the runs also scores them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog

from portal.evaluation.child import Child
from portal.evaluation.claim import claim_submission, goes_by_this_scorer
from portal.evaluation.confined.runs import Runs
from portal.evaluation.limits import CHILD_SECONDS, GIVE_WAY_SECONDS
from portal.evaluation.record import RunFinding, UploadFinding, record_check, record_error
from portal.evaluation.score import Reader, scorable_runs, score
from portal.models import Phase, Run, Submission, Team
from portal.models.clock import running_from
from portal.storage import stored_file
from scoring import Definition
from scoring.uploads.inspection import RecognisedRun
from scoring.uploads.name_rules import UsedNumbers

log = structlog.get_logger("portal.evaluation")

_LATEST_SCORE = timedelta(seconds=GIVE_WAY_SECONDS - CHILD_SECONDS)  # scoring that starts later might be interrupted


@dataclass(frozen=True, slots=True)
class Checked:
    """The runs of an accepted upload that can be scored, and the child process that read them.

    A rejected upload has no runs.
    """

    runs: list[Run] = field(default_factory=list)
    reader: Reader | None = None


def evaluate_submission(submission_id: UUID, at: datetime, token: UUID | None = None) -> list[UUID]:
    """Check an upload and score its runs. Return the ids of runs that still need separate jobs.

    It is claimed here unless the caller has the token of its claim.

    `at` is when the job began. A run is scored here only if enough time is left and if its scores are public:
    otherwise, the next upload would wait for a score, and its waiting time would reveal how long the scoring took.
    """
    now = running_from(at)
    left = []
    with checked(submission_id, at, token) as found:
        for run in found.runs:
            is_public = run.phase.scores_are_public(now())
            is_quick = not run.track.shared_task.own_scorer_sha256 and now() - at <= _LATEST_SCORE
            if is_public and found.reader and found.reader.has(run) and is_quick:
                score(run, now(), found.reader)
            else:
                left.append(run.pk)
    return left


@contextmanager
def checked(submission_id: UUID, at: datetime, token: UUID | None = None) -> Iterator[Checked]:
    """Claim the upload unless there is a token, check it, and record the result.

    If the upload is rejected or the claim was lost, there are no runs.
    """
    now = running_from(at)
    uploads = Submission.objects.select_related("shared_task", "phase", "team", "sent_by")
    submission = uploads.filter(pk=submission_id).first()
    if submission is None or not goes_by_this_scorer(submission.shared_task):
        token = None
    else:
        token = token or claim_submission(submission_id, at)
    with ExitStack() as reading:
        yield _check(submission, token, now, reading) if submission and token else Checked()


def _check(submission: Submission, token: UUID, now: Callable[[], datetime], reading: ExitStack) -> Checked:
    """Check the file. The exit stack `reading` keeps the file and the child process open."""
    logger = log.bind(submission=str(submission.pk), team=submission.team.name)
    shared_task, team, phase = submission.shared_task, submission.team, submission.phase
    try:
        # Its own runs hold their numbers since the upload.
        others = Run.objects.holding_numbers(team, phase).exclude(submission=submission)
        file = reading.enter_context(stored_file(submission.sha256))
        child = reading.enter_context(child_for(shared_task.definition, file, phase, life=GIVE_WAY_SECONDS))
        finding, kept = check_content(child, submission.file_name, team, others.numbers_by_track())
    except Exception as error:
        # Whatever failed, the claim ends here. Otherwise, its lease would end and count as a dead worker.
        record_error(submission, token, error, now())
        return Checked()
    if not record_check(submission, token, finding, now()):
        logger.warning("check result arrived too late")
        return Checked()
    logger.info("checked", accepted=finding.ok)
    if not finding.ok:
        return Checked()
    return Checked(
        list(scorable_runs().filter(submission=submission)), Reader(child, kept, shared_task.definition_sha256)
    )


def child_for(
    definition: Definition, file: Path, phase: Phase, seconds: float = CHILD_SECONDS, life: float | None = None
) -> Child:
    """Return a child process that can read and score the runs in this file; see `Child`."""
    return Child(
        Runs(definition.in_phase(phase.slug), phase.split, file), [file, definition.folder], seconds, life=life
    )


def check_content(
    child: Child, file_name: str, team: Team, used_numbers: UsedNumbers
) -> tuple[UploadFinding, frozenset[str]]:
    """Check an upload without gold.

    Args:
        used_numbers: run numbers of other uploads.

    Returns:
        The finding, and the entries of runs that the child can score now.

    Raises:
        ChildError: the content crashes the child.
        OSError: storage or the machine failed, or the items of the split cannot be read.
    """
    answer = child.ask("check", file_name, team.name, used_numbers)
    return _finding(answer), frozenset(answer["kept"])


def _finding(answer: dict[str, Any]) -> UploadFinding:
    runs = {entry: RunFinding(**found) for entry, found in answer["runs"].items()}
    recognised = [RecognisedRun(**run) for run in answer["recognised"]]
    return UploadFinding(answer["ok"], answer["problems"], runs, recognised)
