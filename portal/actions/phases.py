"""Moving the window of a phase, and granting grace: both are audited, and everybody can read of them.

Whether a run comes in time is decided by `Phase.objects.open` alone, in the statement that takes from the quota.
"""

from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid
from portal.actions.organizing import audit_phase, locked_phase
from portal.actions.texts import checked_text
from portal.models import Grace, Phase, PhaseChange, Team, User, items_are_public

NOTICE = timedelta(hours=1)  # no deadline comes nearer than this at one stroke; an upload under way ends long before


@transaction.atomic
def move_phase(
    user: User, phase: Phase, opens: datetime, closes: datetime | None, note: str, at: datetime
) -> PhaseChange:
    """Give a phase another window, with a note for everybody.

    Raises:
        NotAllowed: the user does not organize the task.
        Invalid: no note, no change, a window that cannot be, or a deadline drawn too near.
        Conflict: the scores or the gold of the items are public, so that nobody may upload runs as if they were not.
    """
    phase = locked_phase(user, phase)
    _require_words(note)
    _require_unreleased(phase, at)
    _require_window(phase, opens, closes, at)
    require_hidden_items(phase, closes, at)
    change = record_window(phase, opens, closes, note.strip(), user, at)
    before = {"opens": phase.opens.isoformat(), "closes": phase.closes and phase.closes.isoformat()}
    phase.opens, phase.closes = opens, closes
    phase.save(update_fields=["opens", "closes"])
    after = {"opens": opens.isoformat(), "closes": closes and closes.isoformat()}
    audit_phase(user, phase, "move_phase", at, before=before, after=after, note=change.note)
    return change


def require_import(
    phase: Phase, opens: datetime, closes: datetime | None, released: datetime | None, at: datetime
) -> None:
    """Let an import give a phase another window and release; dates of a phase that is over can be corrected.

    Raises:
        Invalid: the phase is open and would not be, or its deadline is drawn too near.
        Conflict: it would accept runs while its scores are public.
    """
    is_public = phase.scores == Phase.Scores.ON_RELEASE and released is not None and released <= at
    if is_public and (closes is None or closes > at):
        raise Conflict("released", _("Its scores are public: it can accept no more runs. Take the release back first."))
    if opens != phase.opens and phase.opens <= at < opens:
        raise Invalid("opened", _("It has opened already, so its opening cannot move to a time to come."))
    if not phase.has_closed(at):
        _require_notice(phase, closes, at)


def record_window(
    phase: Phase, opens: datetime, closes: datetime | None, note: str, by: User | None, at: datetime
) -> PhaseChange:
    """What everyone reads of the window that the phase is about to get."""
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
    """Keep a phase closed as long as everyone can read the gold of its items.

    Raises:
        Conflict: until `closes` (None: for ever) it would accept runs that can be made from that gold.
    """
    if closes is not None and closes <= at:
        return
    for track in phase.shared_task.tracks.all():
        if items_are_public(track, phase.split, at):
            message = _(
                "The gold of the items of %(track)s, split %(split)s, is public, so %(phase)s accepts no more runs. "
                "To open it again, write published: false for that gold in task.yaml and import the folder."
            )
            raise Conflict("items_public", message % {**_names(phase), "track": track.slug, "split": phase.split})


@transaction.atomic
def grant_grace(user: User, phase: Phase, team: Team | None, until: datetime, reason: str, at: datetime) -> Grace:
    """Take runs of a team, or of all, beyond the closing; granted once more, the later word holds.

    Raises:
        NotAllowed: the user does not organize the task.
        Invalid: no reason, a time that adds nothing or takes away the next hour, or a phase that has not opened
            or stays open.
        Conflict: the scores or the gold of the items are public.
    """
    phase = locked_phase(user, phase)
    _require_words(reason)
    _require_unreleased(phase, at)
    if phase.closes is None or phase.opens > at:
        raise Invalid("no_closing", _("%(phase)s has no deadline, so it needs no extra time.") % _names(phase))
    if until <= max(at, phase.closes):
        raise Invalid("no_time", _("Extra time must end after the deadline, and in the future."))
    require_hidden_items(phase, until, at)
    held = phase.graces.filter(team=team).first()
    if held is not None and until < min(held.until, at + NOTICE):
        message = _("Extra time can't end within the next hour, so that no team is surprised. Choose a later time.")
        raise Invalid("too_near", message)
    values = {"until": until, "reason": reason.strip(), "granted_by": user, "granted_at": at}
    grace, _is_new = Grace.objects.update_or_create(phase=phase, team=team, defaults=values)
    whom = team.name if team else "all"
    audit_phase(user, phase, "grant_grace", at, team=whom, until=until.isoformat(), reason=grace.reason)
    return grace


@transaction.atomic
def revoke_grace(user: User, phase: Phase, grace_id: int, at: datetime) -> datetime | None:
    """End extra time: at once where the phase stays open for an hour without it, else in an hour.

    Returns the time at which it ends now, or None where nothing is left of it.

    Raises:
        NotAllowed: the user does not organize the task.
        Conflict: there is no such extra time, or it ends within an hour anyway.
    """
    phase = locked_phase(user, phase)
    grace = phase.graces.select_related("team").filter(pk=grace_id).first()
    if grace is None:
        raise Conflict("no_grace", _("There is no such extra time any more."))
    before, in_an_hour = grace.until, at + NOTICE
    others = phase.graces.exclude(pk=grace.pk).filter(Q(team__isnull=True) | Q(team=grace.team))
    closes = max(filter(None, [phase.closes, *others.values_list("until", flat=True)]), default=None)
    is_needless = closes is None or closes >= min(before, in_an_hour)
    if is_needless:
        grace.delete()
    elif before <= in_an_hour:
        raise Conflict(
            "too_near",
            _("This extra time ends within an hour anyway. It can't be cut shorter, so that no team is surprised."),
        )
    else:
        grace.until = in_an_hour
        grace.save(update_fields=["until"])
    whom = grace.team.name if grace.team else "all"
    after = None if is_needless else in_an_hour
    audit_phase(
        user, phase, "revoke_grace", at, team=whom, before=before.isoformat(), after=after and after.isoformat()
    )
    return after


def _require_window(phase: Phase, opens: datetime, closes: datetime | None, at: datetime) -> None:
    if (opens, closes) == (phase.opens, phase.closes):
        raise Invalid("nothing_moved", _("This is the window that it has already."))
    if opens != phase.opens and min(opens, phase.opens) <= at:
        message = _("The opening can be moved only before it, and only to a time to come.")
        raise Invalid("opened", message)
    if closes is None:
        if phase.closes is not None:
            raise Invalid("no_closing", _("Say when it closes."))
        return
    if closes <= opens:
        raise Invalid("closes_first", _("The phase must close after it opens."))
    _require_notice(phase, closes, at)
    if closes <= at:
        raise Invalid("past", _("The new deadline has passed already."))


def _require_notice(phase: Phase, closes: datetime | None, at: datetime) -> None:
    is_nearer = closes is not None and (phase.closes is None or closes < phase.closes)
    if is_nearer and closes is not None and closes < at + NOTICE:
        message = _("An earlier deadline must be at least one hour ahead, so that no team is surprised.")
        raise Invalid("too_near", message)


def _require_unreleased(phase: Phase, at: datetime) -> None:
    if phase.scores == Phase.Scores.ON_RELEASE and phase.scores_are_public(at):
        message = _("The scores of %(phase)s are public: it can take no more runs. Take the release back first.")
        raise Conflict("released", message % _names(phase))


def _require_words(text: str) -> None:
    if not checked_text(text, _("The reason"), 300):
        raise Invalid("no_reason", _("Say why, in a few words; everybody can read it."))


def _names(phase: Phase) -> dict[str, str]:
    return {"phase": phase.title}
