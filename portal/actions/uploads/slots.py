"""Slots: in each track, a team has one primary run, which is the official one, and some contrastive runs."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import ActionError, Conflict
from portal.models import Run, User

PRIMARY_TAKEN = Conflict.declare(
    "slot_taken", _("Your team already has a primary run in %(track)s. Upload this run as contrastive.")
)
CONTRASTIVE_TAKEN = Conflict.declare(
    "slot_taken", _("You can have at most %(n)d contrastive runs in %(track)s. Upload one of the runs as primary.")
)
ONE_PRIMARY = Conflict.declare(
    "slot_taken",
    _(
        "Only one run in %(track)s can be primary, and this upload contains %(runs)d. Upload the primary run by "
        "itself, and the others as contrastive."
    ),
)
NO_SLOTS_LEFT = Conflict.declare(
    "slot_taken",
    _("Slots left in %(track)s: %(primary)d primary, %(contrastive)d contrastive. This upload contains %(runs)d runs."),
)
SLOT_ERRORS = (PRIMARY_TAKEN, CONTRASTIVE_TAKEN, ONE_PRIMARY, NO_SLOTS_LEFT)


def fill_slots(runs: Sequence[Run], slot: str, user: User, at: datetime) -> None:
    """Assign a slot to each new run in a track. The caller must have locked the quota row.

    If no slot was requested, the first run becomes primary unless the team already has a primary run.

    Raises:
        ActionError: one of SLOT_ERRORS.
    """
    first = runs[0]
    if first.phase.contrastive is None:
        return
    mine = Run.objects.filter(team=first.team, phase=first.phase, track=first.track)
    others = mine.exclude(pk__in=[run.pk for run in runs]).exclude(state__in=Run.NOT_COUNTED)
    has_primary = others.filter(chosen_at__isnull=False).exists()
    unasked = 0 if has_primary else 1
    primary = {Run.Slot.PRIMARY.value: len(runs), Run.Slot.CONTRASTIVE.value: 0}.get(slot, unasked)
    left = max(0, first.phase.contrastive - others.filter(chosen_at__isnull=True).count())
    if primary + has_primary > 1 or len(runs) - primary > left:
        raise _slot_error(first, len(runs), has_primary, left, wants_primary=primary > 0 and slot != "")
    if primary:
        Run.objects.filter(pk=first.pk).update(chosen_at=at, chosen_by=user)


def _slot_error(first: Run, runs: int, has_primary: bool, left: int, *, wants_primary: bool) -> ActionError:
    """Return the error for an upload that does not fit. It suggests only what is possible with the remaining slots."""
    assert first.phase.contrastive is not None
    track = first.track.title
    if wants_primary and has_primary and runs <= left:
        return PRIMARY_TAKEN(track=track)
    if not has_primary and runs - 1 <= left:
        if wants_primary:
            return ONE_PRIMARY(track=track, runs=runs)
        return CONTRASTIVE_TAKEN(track=track, n=first.phase.contrastive)
    return NO_SLOTS_LEFT(track=track, primary=int(not has_primary), contrastive=left, runs=runs)
