"""Trying an upload: the same check and the same limits as for a real one, and nothing of it stays."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import structlog
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.refusal import ActionRefused, LimitReached, Unavailable
from portal.actions.submit import rehearse, sending_team
from portal.evaluation.check import judge
from portal.evaluation.child import ChildError
from portal.evaluation.limits import CHECK_ONLY_SECONDS
from portal.evaluation.record import Problems, UploadFinding
from portal.models import Phase, Rate, SharedTask, User
from portal.models.clock import database_now
from portal.queries.quota import TrackLimits
from portal.storage import StoredUpload
from scoring.uploads import RecognisedRun, Upload

log = structlog.get_logger("portal.actions")

CHECKS_A_MINUTE = 10


@dataclass(frozen=True, slots=True)
class CheckedRun:
    """A run that was recognised by its name, or by the nearest right one.

    `track` is a slug, `items` None where the content could not be read.
    """

    name: str
    track: str
    number: int | None
    items: int | None
    problems: Problems
    is_guess: bool  # its name says no track, this one's is nearest

    @property
    def is_valid(self) -> bool:
        return not any(problem["severity"] == "error" for problem in self.problems)


@dataclass(frozen=True, slots=True)
class CheckOnly:
    """What would become of the upload. `refused` is what limits, numbers or window would say to a valid one.

    `left` are its tracks' limits as they would be after it; empty where it would not be taken.
    """

    file_name: str
    is_valid: bool
    problems: Problems  # about the upload as a whole
    runs: list[CheckedRun]
    refused: ActionRefused | None
    left: list[TrackLimits]

    @property
    def would_be_taken(self) -> bool:
        return self.is_valid and self.refused is None


def check_only(
    user: User,
    shared_task: SharedTask,
    phase: Phase,
    stored: StoredUpload,
    upload: Upload,
    at: datetime | None = None,
    slot: str = "",
) -> CheckOnly:
    """Judge an upload that is not kept, without gold: names, structure, content, run numbers and limits.

    Raises:
        NotAllowed: no team that takes part.
        LimitReached: too many checks in this minute.
        Unavailable: the check took too long, or failed on our side.
    """
    team = sending_team(user, shared_task)
    at = at or database_now()
    with transaction.atomic():
        may = Rate.objects.take(user, "check_only", CHECKS_A_MINUTE, at)
    if not may:
        message = _("That were %(n)d checks in a minute. Wait a moment, or check on your own machine.")
        raise LimitReached("too_many_checks", message % {"n": CHECKS_A_MINUTE})
    try:
        finding = judge(
            shared_task.definition, stored.path, stored.name, team.name, phase.split, seconds=CHECK_ONLY_SECONDS
        )
    except (ChildError, OSError) as fault:
        log.error("check only failed", team=team.name, fault=str(fault))
        message = _("The check could not be finished here. Upload the file, or check it on your own machine.")
        raise Unavailable("check_failed", message) from None
    runs = [_checked(run, finding) for run in upload.runs]
    refused, left = None, []
    if finding.ok:
        try:
            tracks = {run.track for run in runs}
            left = [
                line
                for line in rehearse(user, shared_task, phase, stored, upload, at, slot)
                if line.track.slug in tracks
            ]
        except ActionRefused as refusal:
            refused = refusal
    return CheckOnly(stored.name, finding.ok, finding.problems, runs, refused, left)


def _checked(run: RecognisedRun, finding: UploadFinding) -> CheckedRun:
    found = finding.runs.get(run.entry)
    values: dict[str, Any] = {"items": found.items or None, "problems": found.problems} if found else {}
    values = {"items": None, "problems": []} | values
    return CheckedRun(run.name, run.track, run.number, is_guess=run.is_guess, **values)
