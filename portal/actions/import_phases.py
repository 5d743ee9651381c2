"""Importing phases. Changes that would surprise teams are rejected."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from portal.actions.errors import ActionError, Conflict, Invalid
from portal.actions.phases import record_window, require_hidden_items, require_notice
from portal.models import Phase, SharedTask, User
from scoring.definition import Phase as PhaseDefinition

WINDOW = Invalid.declare("window", _("These phase changes are not possible:\n%(problems)s"))
RELEASED = Conflict.declare(
    "released", _("The scores of this phase are public, so it can’t accept more runs. Take back the release first.")
)
HAS_OPENED = Invalid.declare(
    "opened", _("The phase has already opened, so its opening time can’t be moved to the future.")
)


def phase_fields(phase: PhaseDefinition, before: PhaseDefinition | None) -> dict[str, Any]:
    """Return the fields of the phase's row.

    Values that organizers can also change on the website are included only if the folder changed them.
    """
    names = [
        "slug",
        "title",
        "split",
        "runs_per_track",
        "contrastive",
        "runs_per_day",
        "scores",
        "official",
        "run_numbers",
        "team_names",
        "ladder_step",
    ]
    names += [name for name in ("opens", "closes") if before is None or getattr(before, name) != getattr(phase, name)]
    if phase.released is not None and (before is None or before.released != phase.released):
        names.append("released")
    return {name: getattr(phase, name) for name in names}


def record_windows(
    shared_task: SharedTask, wanted: Iterable[Mapping[str, Any]], at: datetime, by: User | None = None
) -> None:
    """Record each changed window. In a draft, every change is allowed.

    Raises:
        Invalid: some windows may not be moved. The error lists all of them.
    """
    there = {phase.slug: phase for phase in shared_task.phases.prefetch_related("graces")}
    problems = []
    for fields in wanted:
        phase = there.get(fields["slug"])
        try:
            if phase is None:
                require_hidden_items(Phase(shared_task=shared_task, **fields), fields["closes"], at)
            else:
                _move(phase, fields, at, by)
        except ActionError as error:
            problems.append(f"phase {fields['slug']}: {error.message}")
    if problems:
        raise WINDOW(problems="\n".join(problems))


def _move(phase: Phase, fields: Mapping[str, Any], at: datetime, by: User | None) -> None:
    opens, closes = fields.get("opens", phase.opens), fields.get("closes", phase.closes)
    if (opens, closes) == (phase.opens, phase.closes):
        return
    if phase.shared_task.state != SharedTask.State.DRAFT:
        _require_import(phase, opens, closes, fields.get("released", phase.released), at)
    require_hidden_items(phase, closes, at)
    record_window(phase, opens, closes, gettext("The organizers changed the task’s definition."), by, at)


def _require_import(
    phase: Phase, opens: datetime, closes: datetime | None, released: datetime | None, at: datetime
) -> None:
    """Check that an import may set this window and release date. The dates of closed phases can be corrected.

    Raises:
        Invalid: it would close an open phase, or leave less time than the required notice before its deadline.
        Conflict: the phase would accept runs while its scores are public.
    """
    is_public = phase.scores == Phase.Scores.ON_RELEASE and released is not None and released <= at
    if is_public and (closes is None or closes > at):
        raise RELEASED()
    if opens != phase.opens and phase.opens <= at < opens:
        raise HAS_OPENED()
    if not phase.has_closed(at):
        require_notice(phase, closes, at)
