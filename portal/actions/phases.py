"""Changing phase dates and granting extra time. Both are public and recorded in the audit log.

Only `Phase.objects.open` decides whether a run is on time. It is part of the statement that reserves quota.
"""

from datetime import datetime, timedelta
from typing import Annotated

from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import Moment, column
from portal.actions.base.roles import ORGANIZERS
from portal.models import ExtraTime, Phase, PhaseChange, Team, User, items_are_public

NOTICE = timedelta(hours=1)  # minimum notice before an earlier deadline, so that uploads in progress can finish

RELEASED = Conflict.declare(
    "released",
    _("The scores of %(phase)s are public, so the phase can’t accept more runs. Take back the release first."),
)
ITEMS_PUBLIC = Conflict.declare(
    "items_public",
    _(
        "The gold for the items in %(track)s, split %(split)s, is public, so %(phase)s can’t accept more runs. To open "
        "the phase again, set “published: false” for this gold in task.yaml and import the folder."
    ),
)
NOTHING_MOVED = Invalid.declare("nothing_moved", _("The phase already has these dates."))
OPENED = Invalid.declare(
    "opened", _("You can move the opening time only before the phase opens, and only to a future time.")
)
NO_CLOSING = Invalid.declare("no_closing", _("Enter the closing time."))
NO_DEADLINE = Invalid.declare("no_closing", _("%(phase)s has no deadline, so it doesn’t need extra time."))
CLOSES_FIRST = Invalid.declare("closes_first", _("The closing time must be later than the opening time."))
PAST = Invalid.declare("past", _("The new deadline is in the past. Choose a future time."))
DEADLINE_TOO_NEAR = Invalid.declare(
    "too_near",
    _("An earlier deadline must be at least one hour from now so that teams have time to react."),
)
NO_TIME = Invalid.declare("no_time", _("Extra time must end in the future and after the deadline."))
EXTRA_TIME_TOO_NEAR = Invalid.declare(
    "too_near",
    _("Extra time must end at least one hour from now so that teams have time to react. Choose a later time."),
)
ENDS_SOON = Conflict.declare(
    "too_near",
    _("This extra time already ends within an hour, so it can’t be shortened. Teams need time to react."),
)
NO_EXTRA_TIME = Conflict.declare("no_extra_time", _("This extra time no longer exists."))


@action(
    who=ORGANIZERS,
    says=_("changed the dates of a phase"),
    errors=[RELEASED, NOTHING_MOVED, OPENED, NO_CLOSING, CLOSES_FIRST, PAST, DEADLINE_TOO_NEAR, ITEMS_PUBLIC],
    locks=True,
)
def move_phase(
    call: ActionCall,
    phase: Phase,
    *,
    opens: Moment | None = None,
    closes: Moment | None,
    note: Annotated[str, column(PhaseChange, "note", required=True, title="Reason")],
) -> PhaseChange:
    """Change a phase's opening or closing time. The reason is public. Without `opens`, the opening time stays."""
    _require_unreleased(phase, call.at)
    opens = opens or phase.opens
    _require_window(phase, opens, closes, call.at)
    require_hidden_items(phase, closes, call.at)
    change = record_window(phase, opens, closes, note, call.user, call.at)
    before = {"opens": phase.opens.isoformat(), "closes": phase.closes and phase.closes.isoformat()}
    phase.opens, phase.closes = opens, closes
    phase.save(update_fields=["opens", "closes"])
    after = {"opens": opens.isoformat(), "closes": closes and closes.isoformat()}
    call.record(before=before, after=after, note=note)
    return change


@action(
    who=ORGANIZERS,
    says=_("granted extra time"),
    errors=[RELEASED, NO_DEADLINE, NO_TIME, ITEMS_PUBLIC, EXTRA_TIME_TOO_NEAR],
    locks=True,
)
def grant_extra_time(
    call: ActionCall,
    phase: Phase,
    *,
    team: Team | None = None,
    until: Moment,
    reason: Annotated[str, column(ExtraTime, "reason", required=True)],
) -> ExtraTime:
    """Accept runs from one team, or from all teams, after the deadline. A second call replaces the extra time."""
    _require_unreleased(phase, call.at)
    if not can_have_extra_time(phase, call.at):
        raise NO_DEADLINE(phase=phase.title)
    assert phase.closes is not None
    if until <= max(call.at, phase.closes):
        raise NO_TIME()
    require_hidden_items(phase, until, call.at)
    held = phase.extra_times.filter(team=team).first()
    if held is not None and until < min(held.until, call.at + NOTICE):
        raise EXTRA_TIME_TOO_NEAR()
    values = {"until": until, "reason": reason, "granted_by": call.user, "granted_at": call.at}
    extra_time, _is_new = ExtraTime.objects.update_or_create(phase=phase, team=team, defaults=values)
    call.record(team=team.name if team else "all", until=until.isoformat(), reason=reason)
    return extra_time


@action(who=ORGANIZERS, says=_("revoked extra time"), errors=[NO_EXTRA_TIME, ENDS_SOON], locks=True)
def revoke_extra_time(call: ActionCall, phase: Phase, *, extra_time_id: int) -> datetime | None:
    """Revoke extra time: immediately if the phase remains open for an hour without it, otherwise in an hour.

    Return the time when the extra time ends, or None if it has already ended.
    """
    extra_time = phase.extra_times.select_related("team").filter(pk=extra_time_id).first()
    if extra_time is None:
        raise NO_EXTRA_TIME()
    before, in_an_hour = extra_time.until, call.at + NOTICE
    is_without_effect = _is_without_effect(phase, extra_time, call.at)
    if is_without_effect:
        extra_time.delete()
    elif not can_be_revoked(phase, extra_time, call.at):
        raise ENDS_SOON()
    else:
        extra_time.until = in_an_hour
        extra_time.save(update_fields=["until"])
    after = None if is_without_effect else in_an_hour
    whom = extra_time.team.name if extra_time.team else "all"
    call.record(team=whom, before=before.isoformat(), after=after and after.isoformat())
    return after


def can_be_revoked(phase: Phase, extra_time: ExtraTime, at: datetime) -> bool:
    """Return whether the extra time has not ended and can end earlier: now or in an hour."""
    return extra_time.until > at + NOTICE or (extra_time.until > at and _is_without_effect(phase, extra_time, at))


def _is_without_effect(phase: Phase, extra_time: ExtraTime, at: datetime) -> bool:
    """Return whether the phase would stay open for an hour, or as long as now, without this extra time."""
    others = [one for one in phase.extra_times.all() if one != extra_time and one.team_id in (None, extra_time.team_id)]
    closes = max(filter(None, [phase.closes, *(one.until for one in others)]), default=None)
    return closes is None or closes >= min(extra_time.until, at + NOTICE)


def record_window(
    phase: Phase, opens: datetime, closes: datetime | None, note: str, by: User | None, at: datetime
) -> PhaseChange:
    """Record the phase's new window, which is public."""
    return PhaseChange.objects.create(
        phase=phase,
        opens_before=phase.opens,
        opens_after=opens,
        closes_before=phase.closes,
        closes_after=closes,
        note=note,
        by=by,
        at=at,
    )


def require_hidden_items(phase: Phase, closes: datetime | None, at: datetime) -> None:
    """Check that the phase does not accept runs while the gold of its items is public.

    Raises:
        Conflict: until `closes` (None: forever), the phase would accept runs that could be copied from that gold.
    """
    if closes is not None and closes <= at:
        return
    for track in phase.shared_task.tracks.all():
        if items_are_public(track, phase.split, at):
            raise ITEMS_PUBLIC(phase=phase.title, track=track.slug, split=phase.split)


def _require_window(phase: Phase, opens: datetime, closes: datetime | None, at: datetime) -> None:
    if (opens, closes) == (phase.opens, phase.closes):
        raise NOTHING_MOVED()
    if opens != phase.opens and min(opens, phase.opens) <= at:
        raise OPENED()
    if closes is None:
        if phase.closes is not None:
            raise NO_CLOSING()
        return
    if closes <= opens:
        raise CLOSES_FIRST()
    require_notice(phase, closes, at)
    if closes <= at:
        raise PAST()


def require_notice(phase: Phase, closes: datetime | None, at: datetime) -> None:
    is_nearer = closes is not None and (phase.closes is None or closes < phase.closes)
    if is_nearer and closes is not None and closes < at + NOTICE:
        raise DEADLINE_TOO_NEAR()


def is_released(phase: Phase, at: datetime) -> bool:
    """Return whether the scores are public, so that neither the dates can change nor extra time be granted."""
    return phase.scores == Phase.Scores.ON_RELEASE and phase.scores_are_public(at)


def can_have_extra_time(phase: Phase, at: datetime) -> bool:
    """Return whether the phase has opened and has a deadline."""
    return phase.closes is not None and phase.opens <= at


def _require_unreleased(phase: Phase, at: datetime) -> None:
    if is_released(phase, at):
        raise RELEASED(phase=phase.title)
