"""Validating an upload without submitting it: the checks and limits are the same, but no quota is used."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _
from pydantic import SkipValidation

from portal import jobs
from portal.actions.base.action import Act, action
from portal.actions.base.errors import ActionError, Conflict, LimitReached
from portal.actions.base.roles import TAKING_PART
from portal.actions.base.waiting import until_fewer
from portal.actions.uploads.intake import (
    PHASE_CLOSED,
    TOO_LARGE,
    UNSIGNED,
    FileName,
    Sending,
    receive,
    require_open,
    require_signature,
)
from portal.actions.uploads.new_runs import rehearse
from portal.actions.uploads.rejections import REJECTION_ERRORS, lock_senders, require_few_rejections
from portal.evaluation.limits import HINT_SECONDS
from portal.evaluation.validate import expire
from portal.models import Phase, Run, Validation
from portal.models.failed_attempt import AN_HOUR
from portal.queries.quota import TrackLimits
from portal.storage import StoredUpload, UploadedFile
from scoring.uploads.inspection import RecognisedRun

VALIDATIONS_AN_HOUR = 60  # per person

TOO_MANY_VALIDATIONS = LimitReached.declare(
    "too_many_validations",
    _("You’ve validated %(n)d files in the last hour. Wait a while, or check your files on your own computer."),
)
VALIDATION_RUNNING = Conflict.declare(
    "validation_running",
    _("Another of your files is being validated. Wait for its report, then validate this file."),
)


@dataclass(frozen=True, slots=True)
class ValidatedRun:
    """A run, recognized by its name or by the nearest valid name.

    `items` is None if the run cannot be read.
    """

    run: RecognisedRun
    items: int | None
    problems: list[dict[str, Any]]  # each from `Problem.as_dict`

    @property
    def is_valid(self) -> bool:
        return not any(problem["severity"] == "error" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What would happen if the upload were submitted now.

    `rejection` is why submitting a valid upload would fail now. For example, a limit has been reached, a run number is
    taken, or the phase is not open.

    `left` lists the limits that would remain for the upload's tracks. It is empty if the upload would not be accepted.
    """

    is_valid: bool
    problems: list[dict[str, Any]]  # problems with the upload as a whole
    runs: list[ValidatedRun]
    rejection: ActionError | None
    left: list[TrackLimits]

    @property
    def would_be_accepted(self) -> bool:
        return self.is_valid and self.rejection is None


@action(
    who=TAKING_PART,
    errors=[TOO_LARGE, UNSIGNED, PHASE_CLOSED, TOO_MANY_VALIDATIONS, VALIDATION_RUNNING, *REJECTION_ERRORS],
    atomic=False,
)
def validate_only(
    act: Act,
    phase: Phase,
    *,
    content: SkipValidation[Iterable[bytes]],
    file_name: FileName,
    slot: Run.Slot | Literal[""] = "",
) -> Validation:
    """Store an upload until a worker has checked it. Submitted uploads are checked first."""
    given = Sending(act.user, act.team, phase, act.at, slot)
    require_signature(given)
    require_open(given)
    with receive(content, file_name) as stored:
        return keep_to_validate(given, stored)


def keep_to_validate(given: Sending, stored: StoredUpload) -> Validation:
    """Have a worker check the received file, within the validation limits.

    The row is written first, so that every file has a row. If a row has no file, its validation fails.
    """
    at = given.at
    recent = Validation.objects.filter(user=given.user, received_at__gt=at - AN_HOUR)
    if seconds := until_fewer(recent.values_list("received_at", flat=True), VALIDATIONS_AN_HOUR, AN_HOUR, at):
        raise TOO_MANY_VALIDATIONS(n=VALIDATIONS_AN_HOUR, seconds=seconds)
    expire(at)  # also done here, in case no worker is running
    try:
        with transaction.atomic():
            lock_senders(given.user, given.team)
            require_few_rejections(given.user, given.team, at)
            validation = Validation.objects.create(
                user=given.user,
                team=given.team,
                phase=given.phase,
                slot=given.slot,
                file_name=stored.name,
                size=stored.size,
                sha256=stored.sha256,
                received_at=at,
                lease_ends=at + timedelta(seconds=HINT_SECONDS),
            )
    except IntegrityError:
        raise VALIDATION_RUNNING() from None
    try:
        stored.keep_to_validate(validation.pk)
    except OSError:
        validation.delete()
        raise
    transaction.on_commit(lambda: jobs.publish_validations([validation.pk]))
    return validation


def report_of(validation: Validation, at: datetime) -> ValidationReport | None:
    """Return the report, based on the current limits and window, or None if it is not ready."""
    if validation.state != Validation.State.DONE:
        return None
    found = validation.report
    runs = [_validated(run) for run in found["runs"]]
    rejection, left = None, []
    if found["ok"]:
        try:
            left = _left(validation, [one.run for one in runs], at)
        except ActionError as error:
            rejection = error
    return ValidationReport(found["ok"], found["problems"], runs, rejection, left)


def _left(validation: Validation, runs: list[RecognisedRun], at: datetime) -> list[TrackLimits]:
    team = TAKING_PART.check(validation.user, validation.phase)
    given = Sending(validation.user, team, validation.phase, at, validation.slot)
    require_signature(given)
    file = UploadedFile(validation.file_name, validation.sha256, validation.size)
    limits = rehearse(given, file, runs)
    tracks = {run.track for run in runs}
    return [line for line in limits if line.track.slug in tracks]


def _validated(plain: dict[str, Any]) -> ValidatedRun:
    values = dict(plain)
    items, problems = values.pop("items"), values.pop("problems")
    return ValidatedRun(RecognisedRun(**values), items, problems)
