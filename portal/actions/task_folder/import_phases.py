"""Import phases. Changes that would surprise teams are rejected."""

import dataclasses
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from django.db.models import Count
from django.utils.translation import gettext, ngettext_lazy
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import ActionError, Conflict, Invalid
from portal.actions.phases import record_window, require_hidden_items, require_notice
from portal.models import Phase, SharedTask, Submission, User
from scoring.definition import Phase as PhaseDefinition

WINDOW = Invalid.declare("window", _("These phase changes are not possible:\n%(problems)s"))
_WINDOW_OF_PHASE = Invalid.declare("window_of_phase", _("phase %(phase)s: %(problem)s"))
RELEASED = Conflict.declare(
    "released", _("The scores of this phase are public, so it can’t accept more runs. Take back the release first.")
)
HAS_OPENED = Invalid.declare(
    "opened", _("The phase has already opened, so its opening time can’t be moved to the future.")
)
SEVERAL_UPLOADS = Conflict.declare(
    "several_uploads",
    ngettext_lazy(
        "%(n)d team has more than one upload in this phase. With “submissions: 1”, a later upload would replace all "
        "of them. Remove the key “submissions” from this phase in task.yaml, or add another phase with "
        "“submissions: 1”.",
        "%(n)d teams have more than one upload in this phase. With “submissions: 1”, a later upload would replace all "
        "of them. Remove the key “submissions” from this phase in task.yaml, or add another phase with "
        "“submissions: 1”.",
        "n",
    ),
)

_DATES = {"opens", "closes", "released"}  # which organizers can also change on the website
_COLUMNS = {column.name for column in Phase._meta.concrete_fields} - _DATES
_KEYS_WITH_COLUMN = [key.name for key in dataclasses.fields(PhaseDefinition) if key.name in _COLUMNS]


def phase_fields(phase: PhaseDefinition, before: PhaseDefinition | None) -> dict[str, Any]:
    """Return the fields for the phase's row.

    Values that organizers can also change on the website are included only if the folder changed them.
    """
    names = [*_KEYS_WITH_COLUMN]
    names += [name for name in ("opens", "closes") if before is None or getattr(before, name) != getattr(phase, name)]
    if phase.released is not None and (before is None or before.released != phase.released):
        names.append("released")
    return {name: getattr(phase, name) for name in names}


def record_windows(
    shared_task: SharedTask, wanted: Iterable[Mapping[str, Any]], at: datetime, by: User | None = None
) -> None:
    """Record each changed window. In a draft, every window is allowed.

    Raises:
        Invalid: some phases cannot be changed. The error lists all of them.
    """
    there = {phase.slug: phase for phase in shared_task.phases.prefetch_related("extra_times")}
    problems = []
    for fields in wanted:
        phase = there.get(fields["slug"])
        try:
            if phase is None:
                require_hidden_items(Phase(shared_task=shared_task, **fields), fields["closes"], at)
            else:
                _require_single_uploads(phase, fields)
                _move(phase, fields, at, by)
        except ActionError as error:
            problems.append(_WINDOW_OF_PHASE(phase=fields["slug"], problem=error))
    if problems:
        raise WINDOW(problems=problems)


def _require_single_uploads(phase: Phase, fields: Mapping[str, Any]) -> None:
    """Check that no team has several uploads if the phase is about to keep only one per team.

    Raises:
        Conflict: a team's next upload would replace several uploads.
    """
    if fields["max_submissions"] is None or phase.max_submissions is not None:
        return
    uploads = Submission.objects.valid().filter(phase=phase).order_by().values("team").annotate(uploads=Count("pk"))
    if teams := uploads.filter(uploads__gt=1).count():
        raise SEVERAL_UPLOADS(n=teams)


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
        Invalid: a past opening time would move to the future, or an earlier deadline would come too soon.
        Conflict: the phase would accept runs while its scores are public.
    """
    is_public = phase.scores == Phase.Scores.ON_RELEASE and released is not None and released <= at
    if is_public and (closes is None or closes > at):
        raise RELEASED()
    if opens != phase.opens and phase.opens <= at < opens:
        raise HAS_OPENED()
    if not phase.has_closed(at):
        require_notice(phase, closes, at)
