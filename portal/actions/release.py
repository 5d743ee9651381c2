"""Making the scores of a phase public: one timestamp that every page, export and feed compares with its own time."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.organizing import audit_phase, locked_phase
from portal.actions.refusal import Conflict, NotAcceptable
from portal.models import Phase, User


@transaction.atomic
def release_scores(user: User, phase: Phase, when: datetime | None, at: datetime) -> Phase:
    """Let everybody see the scores from that time on; None: from now on.

    Raises:
        NotAllowed: the user does not organize the task.
        NotAcceptable: the phase is not one whose scores are released, or the time has passed.
        Conflict: runs may still come in then.
    """
    phase = locked_phase(user, phase)
    released = when or at
    _require_by_hand(phase)
    if released < at:
        raise NotAcceptable("past", _("That time has passed. Release now, or at a time to come."))
    _require_closed(phase, released)
    return _set(user, phase, released, "release_scores", at)


@transaction.atomic
def take_back_release(user: User, phase: Phase, at: datetime) -> Phase:
    """Hide the scores again, or call off a release to come; one that was public can be put back with its date.

    Raises:
        NotAllowed: the user does not organize the task.
        Conflict: there is no release.
    """
    phase = locked_phase(user, phase)
    if phase.scores != Phase.Scores.ON_RELEASE or phase.released is None:
        raise Conflict("no_release", _("There is no release of %(phase)s to take back.") % {"phase": phase.title})
    return _set(user, phase, None, "take_back_release", at)


@transaction.atomic
def put_release_back(user: User, phase: Phase, at: datetime) -> Phase:
    """Make the scores public again as of the release that was taken back; nobody gets its mails twice.

    Raises:
        NotAllowed: the user does not organize the task.
        Conflict: no release was taken back, or the phase takes runs again.
    """
    phase = locked_phase(user, phase)
    if phase.taken_back is None or phase.released is not None:
        raise Conflict("not_taken_back", _("No release of %(phase)s was taken back.") % {"phase": phase.title})
    _require_closed(phase, at)
    return _set(user, phase, phase.taken_back, "put_release_back", at)


def _require_by_hand(phase: Phase) -> None:
    if phase.scores != Phase.Scores.ON_RELEASE:
        message = _("The scores of %(phase)s are not released by hand.")
        raise NotAcceptable("no_release", message % {"phase": phase.title})


def _require_closed(phase: Phase, released: datetime) -> None:
    closing = phase.last_closing
    if closing is None or closing > released:
        message = _("%(phase)s takes runs until after that: whoever saw scores could still send some.")
        raise Conflict("still_open", message % {"phase": phase.title})


def _set(user: User, phase: Phase, released: datetime | None, verb: str, at: datetime) -> Phase:
    before = phase.released
    was_public = before is not None and before <= at
    phase.taken_back = before if released is None and was_public else None
    phase.released = released
    phase.save(update_fields=["released", "taken_back"])
    moments = {"before": before and before.isoformat(), "released": released and released.isoformat()}
    audit_phase(user, phase, verb, at, **moments)
    return phase
