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
    names = {"phase": phase.title}
    if phase.scores != Phase.Scores.ON_RELEASE:
        raise NotAcceptable("no_release", _("The scores of %(phase)s are not released by hand.") % names)
    if released < at:
        raise NotAcceptable("past", _("That time has passed. Release now, or at a time to come."))
    closing = phase.last_closing
    if closing is None or closing > released:
        message = _("%(phase)s takes runs until after that: whoever saw scores could still send some.")
        raise Conflict("still_open", message % names)
    return _set(user, phase, released, "release_scores", at)


@transaction.atomic
def take_back_release(user: User, phase: Phase, at: datetime) -> Phase:
    """Hide the scores again, or call off a release to come.

    Raises:
        NotAllowed: the user does not organize the task.
        Conflict: there is no release.
    """
    phase = locked_phase(user, phase)
    if phase.scores != Phase.Scores.ON_RELEASE or phase.released is None:
        raise Conflict("no_release", _("There is no release of %(phase)s to take back.") % {"phase": phase.title})
    return _set(user, phase, None, "take_back_release", at)


def _set(user: User, phase: Phase, released: datetime | None, verb: str, at: datetime) -> Phase:
    before = phase.released
    phase.released = released
    phase.save(update_fields=["released"])
    moments = {"before": before and before.isoformat(), "released": released and released.isoformat()}
    audit_phase(user, phase, verb, at, **moments)
    return phase
