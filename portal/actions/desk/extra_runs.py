"""Extra runs for one team."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.input import column
from portal.actions.base.roles import ORGANIZERS
from portal.models import ExtraRuns, Phase, Team

MOST = 100  # extra runs in each track

NO_LIMIT = Conflict.declare("no_limit", _("%(phase)s has no run limit for the whole phase, so no runs can be added."))
WITH_SLOTS = Conflict.declare(
    "with_slots",
    _("%(phase)s has primary and contrastive runs, so no runs can be added. Change the limits in task.yaml instead."),
)
NO_NUMBERS = Conflict.declare(
    "no_numbers",
    _(
        "%(phase)s allows each run number only once, and file names allow only %(numbers)d numbers, so a team can’t "
        "use more runs. Change “naming” or “run_numbers” in task.yaml first."
    ),
)


@action(who=ORGANIZERS, says=_("granted extra runs"), errors=[NO_LIMIT, WITH_SLOTS, NO_NUMBERS], locks=True)
def grant_extra_runs(
    call: ActionCall,
    phase: Phase,
    *,
    team: Team,
    runs: Annotated[int, Field(ge=0, le=MOST, title="Extra runs in each track")],
    reason: Annotated[str, column(ExtraRuns, "reason", required=True)],
) -> ExtraRuns:
    """Let one team upload this many more runs in each track of the phase. A second call replaces the number.

    Limits per day stay as they are.
    """
    _require_possible(phase, runs)
    values = {"runs": runs, "reason": reason, "granted_by": call.user, "granted_at": call.at}
    granted, _is_new = ExtraRuns.objects.update_or_create(phase=phase, team=team, defaults=values)
    call.record(team=team.name, extra_runs=runs, reason=reason)
    return granted


def _require_possible(phase: Phase, runs: int) -> None:
    if phase.runs_per_track is None:
        raise NO_LIMIT(phase=phase.title)
    if phase.contrastive is not None:
        raise WITH_SLOTS(phase=phase.title)
    numbers = phase.shared_task.definition.naming.numbers
    is_once = phase.max_submissions is None and phase.run_numbers == Phase.RunNumbers.ONCE
    if is_once and numbers and runs and len(numbers) < phase.runs_per_track + runs:
        raise NO_NUMBERS(phase=phase.title, numbers=len(numbers))
