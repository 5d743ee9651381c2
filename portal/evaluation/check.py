"""Checks an upload as a whole, without gold, before any of its runs is scored."""

from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog

from portal.evaluation.child import run_limited
from portal.evaluation.claim import claim_submission, goes_by_this_scorer
from portal.evaluation.limits import CHILD_SECONDS
from portal.evaluation.readable import require_readable
from portal.evaluation.record import RunFinding, UploadFinding, record_check, record_error
from portal.models import Phase, Run, Submission, Team
from portal.models.clock import running_from
from portal.storage import stored_file
from scoring import Definition, Report, check_upload
from scoring.uploads.inspection import RecognisedRun
from scoring.uploads.name_rules import Taken

log = structlog.get_logger("portal.evaluation")


def check_submission(submission_id: UUID, at: datetime) -> list[UUID]:
    """Claim, check and record; the ids of runs that are now ready for scoring (none, where the claim was lost)."""
    now = running_from(at)
    uploads = Submission.objects.select_related("shared_task", "phase", "team", "sent_by")
    submission = uploads.filter(pk=submission_id).first()
    if submission is None or not goes_by_this_scorer(submission.shared_task):
        return []
    token = claim_submission(submission_id, at)
    if token is None:
        return []
    logger = log.bind(submission=str(submission.pk), team=submission.team.name)
    try:
        definition = submission.shared_task.definition  # read here, where it is kept for the next one
        others = Run.objects.holding_numbers(submission.team, submission.phase).exclude(submission=submission)
        taken = others.numbers_by_track()
        with stored_file(submission.sha256) as file:
            finding = judge(definition, file, submission.file_name, submission.team, submission.phase, taken)
    except Exception as error:
        record_error(submission, token, error, now())
        return []
    if not record_check(submission, token, finding, now()):
        logger.warning("check came too late")
        return []
    logger.info("checked", accepted=finding.ok)
    return list(submission.runs.scorable().values_list("pk", flat=True)) if finding.ok else []


def judge(
    definition: Definition,
    file: Path,
    file_name: str,
    team: Team,
    phase: Phase,
    taken: Taken,
    seconds: float = CHILD_SECONDS,
) -> UploadFinding:
    """What the check says of an upload, without gold and in a child with limits; `taken` are runs of other uploads.

    Raises:
        ChildError: the content kills the child.
        OSError: storage or machine failed, or the items of the split cannot be read.
    """
    name, split = team.name, phase.split
    return _finding(
        run_limited(lambda: _check(definition, file, file_name, name, split, taken), [file, definition.folder], seconds)
    )


def _check(definition: Definition, file: Path, file_name: str, team: str, split: str, taken: Taken) -> dict[str, Any]:
    """In the child: the report as plain values."""
    checked = check_upload(definition, file, file_name, team, split=split, taken=taken)
    require_readable(checked.report)
    return {
        "ok": checked.ok,
        "problems": _plain(checked.upload.report),
        "runs": {
            found.run.entry: {"problems": _plain(found.report), "sha256": found.sha256, "items": found.items}
            for found in checked.runs
        },
        "recognised": [asdict(found.run) for found in checked.runs],
    }


def _plain(report: Report) -> list[dict[str, Any]]:
    return [problem.as_dict() for problem in report]


def _finding(answer: dict[str, Any]) -> UploadFinding:
    runs = {entry: RunFinding(**found) for entry, found in answer["runs"].items()}
    recognised = [RecognisedRun(**run) for run in answer["recognised"]]
    return UploadFinding(answer["ok"], answer["problems"], runs, recognised)
