"""Validating an upload without submitting it: the checks and limits are the same, but no quota is used."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import SkipValidation

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import ActionError, LimitReached
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
from portal.models import Phase, Run, User, Validation
from portal.models.failed_attempt import AN_HOUR
from portal.queries.quota import TrackLimits
from portal.storage import StoredUpload, UploadedFile, forget_file_to_validate
from scoring.uploads.inspection import RecognisedRun

VALIDATIONS_AN_HOUR = 60  # per person

TOO_MANY_VALIDATIONS = LimitReached.declare(
    "too_many_validations",
    _("You’ve validated %(n)d files in the last hour. Wait a while, or check your files on your own computer."),
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

    @property
    def problems_of_runs(self) -> list[dict[str, Any]]:
        return [problem for validated in self.runs for problem in validated.problems]

    @property
    def all_problems(self) -> list[dict[str, Any]]:
        return [*self.problems, *self.problems_of_runs]

    @property
    def has_guesses(self) -> bool:
        """Whether runs with invalid names were checked against the track with the closest name."""
        return any(validated.problems and validated.run.is_guess for validated in self.runs)


@action(
    who=TAKING_PART,
    errors=[TOO_LARGE, UNSIGNED, PHASE_CLOSED, TOO_MANY_VALIDATIONS, *REJECTION_ERRORS],
    atomic=False,
)
def validate_only(
    call: ActionCall,
    phase: Phase,
    *,
    content: SkipValidation[Iterable[bytes]],
    file_name: FileName,
    slot: Run.Slot | Literal[""] = "",
) -> Validation:
    """Store an upload until a worker has checked it. Submitted uploads are checked first.

    If another validation of yours has not finished, this one replaces it.
    """
    given = Sending(call.user, call.team, phase, call.at, slot)
    require_signature(given)
    require_open(given)
    with receive(content, file_name) as stored:
        return keep_to_validate(given, stored)


def keep_to_validate(given: Sending, stored: StoredUpload, *, for_rejected_upload: bool = False) -> Validation:
    """Have a worker check the received file, within the validation limits. This replaces an unfinished validation.

    The row is written first, so that every file has a row. If a row has no file, its validation fails.
    """
    at = given.at
    recent = Validation.objects.filter(user=given.user, received_at__gt=at - AN_HOUR)
    if seconds := until_fewer(recent.values_list("received_at", flat=True), VALIDATIONS_AN_HOUR, AN_HOUR, at):
        raise TOO_MANY_VALIDATIONS(n=VALIDATIONS_AN_HOUR, seconds=seconds)
    expire(at)  # also done here, in case no worker is running
    with transaction.atomic():
        lock_senders(given.user, given.team)  # simultaneous validations by the same person wait here
        require_few_rejections(given.user, given.team, at)
        replaced = _end_unfinished(given.user, at)
        validation = Validation.objects.create(
            user=given.user,
            team=given.team,
            phase=given.phase,
            slot=given.slot,
            file_name=stored.name,
            size=stored.size,
            sha256=stored.sha256,
            for_rejected_upload=for_rejected_upload,
            received_at=at,
            lease_ends=at + timedelta(seconds=HINT_SECONDS),
        )
        Validation.objects.filter(pk__in=replaced).update(replaced_by=validation)
    for key in replaced:
        forget_file_to_validate(key)
    try:
        stored.keep_to_validate(validation.pk)
    except OSError:
        # Otherwise, it would count as the person's unfinished validation until a worker finds no file.
        validation.delete()
        raise
    if not Validation.objects.unfinished().filter(pk=validation.pk).exists():  # another one has replaced it meanwhile
        forget_file_to_validate(validation.pk)
    transaction.on_commit(lambda: jobs.publish_validations([validation.pk]))
    return validation


def _end_unfinished(user: User, at: datetime) -> list[UUID]:
    """End the person's unfinished validation, and return its key. If a worker is checking it, it loses its claim."""
    unfinished = list(Validation.objects.unfinished().filter(user=user).values_list("pk", flat=True))
    Validation.objects.filter(pk__in=unfinished).release(state=Validation.State.REPLACED, finished_at=at)
    return unfinished


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
