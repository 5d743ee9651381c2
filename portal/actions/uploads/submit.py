"""Submitting an upload. Once this action returns, the upload has a committed row and a file on disk."""

import hashlib
from collections.abc import Iterable
from dataclasses import asdict, replace
from typing import Annotated, Any, Literal

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _
from pydantic import Field, SkipValidation

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import ActionError, Invalid
from portal.actions.base.roles import TAKING_PART
from portal.actions.uploads.intake import (
    PAUSED,
    PHASE_CLOSED,
    TOO_LARGE,
    UNSIGNED,
    FileName,
    Sending,
    receive,
    require_not_paused,
    require_open,
    require_signature,
)
from portal.actions.uploads.new_runs import NEW_RUN_ERRORS, add_runs
from portal.actions.uploads.rejections import REJECTION_ERRORS, count_rejected, lock_senders, require_few_rejections
from portal.actions.uploads.run_fields import RunFields, checked_run_fields
from portal.actions.uploads.validate_only import keep_to_validate
from portal.models import AuditEntry, Phase, Refusal, RejectedUpload, Run, Submission, Validation
from portal.models.rejected_upload import PROBLEMS
from portal.models.run import problem_codes
from portal.queries.uploads import inspect
from portal.storage import StoredUpload
from scoring.uploads.inspection import Upload

UPLOAD_REJECTED = Invalid.declare(
    "upload_rejected",
    _(
        "%(file)s doesn’t follow the rules for file names or archives. Fix the listed problems and upload the file "
        "again."
    ),
)
KEY_REUSED = Invalid.declare(
    "key_reused", _("This Idempotency-Key was already used for a different file, phase or slot. Use a new key.")
)


@action(
    who=TAKING_PART,
    says=AuditEntry.Event.SUBMIT.label,
    errors=[TOO_LARGE, UNSIGNED, PHASE_CLOSED, PAUSED, UPLOAD_REJECTED, KEY_REUSED, *REJECTION_ERRORS, *NEW_RUN_ERRORS],
    key="key",
    atomic=False,
)
def submit(
    call: ActionCall,
    phase: Phase,
    *,
    content: SkipValidation[Iterable[bytes]],
    file_name: FileName,
    slot: Run.Slot | Literal[""] = "",
    key: Annotated[str, Field(title="Idempotency key")] = "",
    fields: RunFields | None = None,
) -> Submission:
    """Accept an upload for the user's team.

    One transaction checks the window, reserves quota, and writes the rows, the file and the audit entry. `at` is the
    database's time, read after the whole body was received. Repeating a call with the same key, file, phase and slot
    returns the same submission. If `slot` is empty, the first run of a track is the primary one. All runs of the upload
    get the same `fields`. A message for workers is queued after the commit. If the broker is down, the upload is
    accepted without the message.

    Uploads with invalid names or structure count toward the sender's rejection limits, and UPLOAD_REJECTED lists all
    `problems`. Their content is still checked: `validation` is the key of the worker's report, or None.
    """
    given = Sending(call.user, call.team, phase, call.at, slot)
    # Keys of any length fit into the column.
    key = hashlib.sha256(key.encode()).hexdigest() if key else ""
    _require_place(given, key)
    given = replace(given, fields=checked_run_fields(given.team.shared_task, fields or {}, stored={}))
    with receive(content, file_name) as stored:
        try:
            return _submitted(call, given, stored, key)
        except ActionError as error:  # counted here, after the transaction has been rolled back
            problems = error.params.get("problems", [])
            Refusal.objects.count_one([one["code"] for one in problems if one["severity"] == "error"] or [error.code])
            raise


def _require_place(given: Sending, key: str) -> None:
    """Check the signature and the window before anything is stored. Reserving quota checks the window again."""
    try:
        require_signature(given)
        require_open(given)
        require_not_paused(given.phase.shared_task.uploads_paused)
    except ActionError as error:
        # If the first response was lost, repeating the call must find the upload, even after the phase has closed.
        if not _with_key(given, key).exists():
            Refusal.objects.count_one([error.code])
            raise


def _submitted(call: ActionCall, given: Sending, stored: StoredUpload, key: str) -> Submission:
    try:
        # Checked before names are read, because reading takes time, and again while holding the lock.
        require_few_rejections(given.user, given.team, given.at)
        upload = inspect(given.team.shared_task, stored, given.team, given.phase)
        with transaction.atomic():
            # First, so that a simultaneous upload with the same key waits here.
            paused = lock_senders(given.user, given.team)
            require_not_paused(paused)  # again, because receiving the file may have taken long
            if upload.report.ok and upload.runs:
                return _accepted(call, given, stored, upload, key)
            if earlier := _sent_before(given, stored, key):
                return earlier
            require_few_rejections(given.user, given.team, given.at)
            count_rejected(given.user, given.team, given.at)
            _note_rejected(given, stored, problems := [problem.as_dict() for problem in upload.report])
    except (ActionError, IntegrityError):  # the upload may have been accepted earlier with this key
        if earlier := _sent_before(given, stored, key):
            return earlier
        raise
    raise UPLOAD_REJECTED(
        file=stored.name,
        problems=problems,
        runs=[asdict(run) for run in upload.runs],
        validation=_content_to_validate(given, stored, upload),
    )


def _note_rejected(given: Sending, stored: StoredUpload, problems: list[dict[str, Any]]) -> None:
    """Keep the problems for the organizers, who can then help the team."""
    RejectedUpload.objects.create(
        shared_task=given.team.shared_task,
        phase=given.phase,
        team=given.team,
        sent_by=given.user,
        file_name=stored.name,
        size=stored.size,
        problems=problems[:PROBLEMS],
        problem_codes=problem_codes(problems),
        received_at=given.at,
    )


def _sent_before(given: Sending, stored: StoredUpload, key: str) -> Submission | None:
    submission = _with_key(given, key).first()
    if submission is None:
        return None
    then = (submission.sha256, submission.file_name, submission.phase_id, submission.slot)
    if then != (stored.sha256, stored.name, given.phase.pk, given.slot):
        raise KEY_REUSED()
    return submission


def _with_key(given: Sending, key: str) -> QuerySet[Submission]:
    """Select the submission that was accepted with this key, if any."""
    mine = Submission.objects.filter(team=given.team, sent_by=given.user)
    return mine.filter(idempotency_key=key) if key else mine.none()


def _accepted(call: ActionCall, given: Sending, stored: StoredUpload, upload: Upload, key: str) -> Submission:
    """Insert the rows and the audit entry, store the file, and queue a message for workers after the commit."""
    submission = add_runs(given, stored, upload.runs, key)
    detail = {"team": given.team.name, "phase": given.phase.slug, "sha256": stored.sha256, "runs": len(upload.runs)}
    call.record(subject=submission.audit_subject, **detail)
    stored.keep()
    transaction.on_commit(lambda: jobs.publish_checks([submission.pk]))
    return submission


def _content_to_validate(given: Sending, stored: StoredUpload, upload: Upload) -> str | None:
    """Have a worker check the content too, so that all problems are reported.

    Return the key of the report, or None if the content cannot be checked. A validation that the person requested is
    not replaced.
    """
    if not upload.runs or Validation.objects.unfinished().filter(user=given.user, for_rejected_upload=False).exists():
        return None
    try:
        return str(keep_to_validate(given, stored, for_rejected_upload=True).pk)
    except ActionError:
        return None
