"""Validation of a file that is not submitted. It is checked like a submission and then deleted."""

from dataclasses import asdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import structlog

from portal.evaluation.check import check_content, child_for
from portal.evaluation.errors import ChildError, HostError, description
from portal.evaluation.limits import HINT_SECONDS, LEASE_SECONDS, RETRY_SECONDS, SWEEP_BATCH, VALIDATE_SECONDS
from portal.evaluation.record import RunFinding, UploadFinding
from portal.models import Run, Validation
from portal.models.clock import running_from
from portal.models.validation import KEPT, WAITS
from portal.storage import files_to_validate, forget_file_to_validate, has_file_to_validate, stored_file_to_validate

log = structlog.get_logger("portal.evaluation")


def validate(validation_id: UUID, at: datetime) -> bool:
    """Claim the validation, check the file without gold, save the report and delete the file.

    Return True if the report was written. After an internal error, such as unreadable storage, the validation is
    retried later. If the check ends without an answer, the validation fails immediately, because the sender can upload
    again. Content that crashed the check counts as a rejected upload.
    """
    now = running_from(at)
    unfinished = Validation.objects.unfinished().filter(pk=validation_id)
    token = unfinished.claim(at, LEASE_SECONDS, state=Validation.State.RUNNING)
    if token is None:
        return False
    validation = Validation.objects.select_related("phase__shared_task", "team").get(pk=validation_id)
    held = Validation.objects.held(validation, token)
    try:
        result: dict[str, Any] = {"state": Validation.State.DONE, "report": _report(_finding(validation))}
    except (ChildError, FileNotFoundError) as error:
        log.warning("validation failed", validation=str(validation_id), error=str(error))
        result = {"state": Validation.State.FAILED, "killed_check": isinstance(error, ChildError)}
    except Exception as error:
        what = str(error) if isinstance(error, HostError) else description(error)
        log.warning("validation waits", validation=str(validation_id), error=what)
        later = now() + timedelta(seconds=RETRY_SECONDS)
        held.release(later, state=Validation.State.WAITING)
        return False
    if not held.release(**result, finished_at=now()):
        return False
    forget_file_to_validate(validation.pk)
    return result["state"] == Validation.State.DONE


def due(at: datetime) -> list[UUID]:
    """Return waiting validations that have no message in the queue, oldest first, and mark them as queued."""
    return Validation.objects.unfinished().due(at).order_by("received_at").hint(at, HINT_SECONDS, SWEEP_BATCH)


def expire(at: datetime) -> None:
    """Delete files that have waited too long for a worker, and old reports."""
    late = Validation.objects.unfinished().filter(received_at__lte=at - WAITS)
    for key in list(late.values_list("pk", flat=True)):
        late.filter(pk=key).release(state=Validation.State.FAILED, finished_at=at)
        forget_file_to_validate(key)
    Validation.objects.filter(received_at__lte=at - KEPT).delete()


def forget_leftovers() -> int:
    """Delete files whose validation is finished or was deleted with its account. Return the number of files."""
    left = set(files_to_validate()) - set(Validation.objects.unfinished().values_list("pk", flat=True))
    for key in left:
        forget_file_to_validate(key)
    return len(left)


def _finding(validation: Validation) -> UploadFinding:
    phase = validation.phase
    if not has_file_to_validate(validation.pk):
        raise FileNotFoundError("the web server died before saving the file")
    used_numbers = Run.objects.holding_numbers(validation.team, phase).numbers_by_track()
    with (
        stored_file_to_validate(validation.pk) as file,
        child_for(phase.shared_task.definition, file, phase, seconds=VALIDATE_SECONDS) as child,
    ):
        finding, _kept = check_content(child, validation.file_name, validation.team, used_numbers)
        return finding


def _report(finding: UploadFinding) -> dict[str, Any]:
    """Return the report as JSON values: validity, problems with the whole upload, and its runs with their problems."""
    nothing = RunFinding([], "", None)
    runs = []
    for run in finding.recognised:
        found = finding.runs.get(run.entry, nothing)
        runs.append(asdict(run) | {"items": found.items or None, "problems": found.problems})
    return {"ok": finding.ok, "problems": finding.problems, "runs": runs}
