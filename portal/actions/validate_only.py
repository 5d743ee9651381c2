"""Validating an upload without submitting it: the same check and the same limits, and no quota is used."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from portal import jobs
from portal.actions.errors import ActionError, Conflict, LimitReached
from portal.actions.rejections import lock_senders, require_few_rejections
from portal.actions.submit import rehearse, sending_team
from portal.evaluation.limits import HINT_SECONDS
from portal.evaluation.validate import expire
from portal.models import Phase, SharedTask, User, Validation
from portal.models.clock import database_now
from portal.queries.quota import TrackLimits
from portal.storage import StoredUpload, UploadedFile
from scoring.uploads.inspection import RecognisedRun

VALIDATIONS_AN_HOUR = 60  # of a person
_AN_HOUR = timedelta(hours=1)


@dataclass(frozen=True, slots=True)
class ValidatedRun:
    """A run that was recognized by its name, or by the nearest valid one; `items` None where it cannot be read."""

    run: RecognisedRun
    items: int | None
    problems: list[dict[str, Any]]  # each as `Problem.as_dict`

    @property
    def is_valid(self) -> bool:
        return not any(problem["severity"] == "error" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class ValidationReport:
    """What would become of the upload now. `refused` is what limits, numbers or window say to a valid one.

    `left` are its tracks' limits as they would be after it; empty where it would not be accepted.
    """

    is_valid: bool
    problems: list[dict[str, Any]]  # about the upload as a whole
    runs: list[ValidatedRun]
    refused: ActionError | None
    left: list[TrackLimits]

    @property
    def would_be_accepted(self) -> bool:
        return self.is_valid and self.refused is None


def validate_only(
    user: User, shared_task: SharedTask, phase: Phase, stored: StoredUpload, at: datetime | None = None, slot: str = ""
) -> Validation:
    """Keep an upload until a worker has checked it; uploads that are submitted go before it.

    The row comes first, so that no file is left without one: a row without its file fails, and says so.

    Raises:
        NotAllowed: no team that takes part.
        Conflict: another file of this person is being validated.
        LimitReached: too many validations within an hour, or too many rejected uploads.
    """
    team = sending_team(user, shared_task)
    at = at or database_now()
    if Validation.objects.recent(user, at, _AN_HOUR).count() >= VALIDATIONS_AN_HOUR:
        message = _("You validated %(n)d files within an hour. Wait a while, or check files on your own machine.")
        raise LimitReached("too_many_validations", message % {"n": VALIDATIONS_AN_HOUR})
    expire(at)  # where no worker runs, none else does it
    try:
        with transaction.atomic():
            lock_senders(user, team)
            require_few_rejections(user, team, at)
            validation = Validation.objects.create(
                user=user,
                team=team,
                phase=phase,
                slot=slot,
                file_name=stored.name,
                size=stored.size,
                sha256=stored.sha256,
                received_at=at,
                lease_ends=at + timedelta(seconds=HINT_SECONDS),
            )
    except IntegrityError:
        message = _("Another file of yours is being validated. Wait for its report, then validate this one.")
        raise Conflict("validation_running", message) from None
    try:
        stored.keep_to_validate(validation.pk)
    except OSError:
        validation.delete()
        raise
    transaction.on_commit(lambda: jobs.publish_validations([validation.pk]))
    return validation


def report_of(validation: Validation, at: datetime) -> ValidationReport | None:
    """The report, with what limits and window say at that moment; None until there is one."""
    if validation.state != Validation.State.DONE:
        return None
    found = validation.report
    runs = [_validated(run) for run in found["runs"]]
    refused, left = None, []
    if found["ok"]:
        try:
            left = _left(validation, [one.run for one in runs], at)
        except ActionError as refusal:
            refused = refusal
    return ValidationReport(found["ok"], found["problems"], runs, refused, left)


def _left(validation: Validation, runs: list[RecognisedRun], at: datetime) -> list[TrackLimits]:
    phase = validation.phase
    file = UploadedFile(validation.file_name, validation.sha256, validation.size)
    limits = rehearse(validation.user, phase.shared_task, phase, file, runs, at, validation.slot)
    tracks = {run.track for run in runs}
    return [line for line in limits if line.track.slug in tracks]


def _validated(plain: dict[str, Any]) -> ValidatedRun:
    values = dict(plain)
    items, problems = values.pop("items"), values.pop("problems")
    return ValidatedRun(RecognisedRun(**values), items, problems)
