"""Releasing a phase's scores.

The release is a timestamp that every page, export and feed compares with the current time.
"""

from datetime import datetime, timedelta
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import Moment
from portal.actions.base.roles import ORGANIZERS
from portal.models import Phase

NOT_RELEASED_BY_HAND = Invalid.declare(
    "not_by_hand", _("The scores of %(phase)s can’t be released because task.yaml already says when they are shown.")
)
PAST = Invalid.declare("past", _("This time is in the past. Release the scores now, or choose a future time."))
STILL_OPEN = Conflict.declare(
    "still_open",
    _(
        "%(phase)s still accepts runs at that time, so people could see scores before they submit. Choose a time after "
        "the phase closes."
    ),
)
NO_RELEASE = Conflict.declare("no_release", _("%(phase)s has no release to take back."))
RELEASE_CHANGED = Invalid.declare(
    "release_changed",
    _("The release of %(phase)s has changed since you saw it. Check its date on the “Release” page, then try again."),
)
NOT_TAKEN_BACK = Conflict.declare("not_taken_back", _("%(phase)s has no release to restore."))


@action(who=ORGANIZERS, says=_("released scores"), errors=[NOT_RELEASED_BY_HAND, PAST, STILL_OPEN], locks=True)
def release_scores(call: ActionCall, phase: Phase, *, when: Moment | None = None) -> Phase:
    """Make the scores public at the time `when`, or now if no time is given."""
    released = when or call.at
    if phase.scores != Phase.Scores.ON_RELEASE:
        raise NOT_RELEASED_BY_HAND(phase=phase.title)
    if released < call.at:
        raise PAST()
    _require_closed(phase, released)
    return _set(call, phase, released)


@action(who=ORGANIZERS, says=_("took back a release"), errors=[NO_RELEASE, RELEASE_CHANGED], locks=True)
def take_back_release(
    call: ActionCall,
    phase: Phase,
    *,
    seen: Annotated[
        Moment | None, Field(title="Release time", description="If given, it must be the current release time")
    ] = None,
) -> Phase:
    """Hide the scores again, or cancel a scheduled release. Hidden scores can be released again with their old date."""
    if phase.scores != Phase.Scores.ON_RELEASE or phase.released is None:
        raise NO_RELEASE(phase=phase.title)
    if seen is not None and abs(seen - phase.released) >= timedelta(milliseconds=1):  # the API shows milliseconds
        raise RELEASE_CHANGED(phase=phase.title)
    return _set(call, phase, None)


@action(
    name="put_release_back",
    who=ORGANIZERS,
    says=_("restored a release"),
    errors=[NOT_TAKEN_BACK, STILL_OPEN],
    locks=True,
)
def restore_release(call: ActionCall, phase: Phase) -> Phase:
    """Make the scores public again with their earlier release date. No one gets the same email twice."""
    if phase.taken_back is None or phase.released is not None:
        raise NOT_TAKEN_BACK(phase=phase.title)
    _require_closed(phase, call.at)
    return _set(call, phase, phase.taken_back)


def _require_closed(phase: Phase, released: datetime) -> None:
    closing = phase.last_closing
    if closing is None or closing > released:
        raise STILL_OPEN(phase=phase.title)


def _set(call: ActionCall, phase: Phase, released: datetime | None) -> Phase:
    before = phase.released
    was_public = before is not None and before <= call.at
    phase.taken_back = before if released is None and was_public else None
    phase.released = released
    phase.save(update_fields=["released", "taken_back"])
    call.record(before=before and before.isoformat(), released=released and released.isoformat())
    return phase
