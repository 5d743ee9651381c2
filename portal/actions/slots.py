"""Slots: each track has one primary run, which is the official one, and some contrastive runs."""

from collections.abc import Sequence
from datetime import datetime

from django.utils.translation import gettext_lazy as _

from portal.actions.errors import Conflict
from portal.models import Run, User

PRIMARY_TAKEN = Conflict.declare(
    "slot_taken", _("Your team already has a primary run in %(track)s. Upload this run as contrastive.")
)
CONTRASTIVE_TAKEN = Conflict.declare(
    "slot_taken", _("You can have at most %(n)d contrastive runs in %(track)s. Upload one of the runs as primary.")
)
SLOT_ERRORS = (PRIMARY_TAKEN, CONTRASTIVE_TAKEN)


def fill_slots(runs: Sequence[Run], slot: str, user: User, at: datetime) -> None:
    """Give a slot to each new run of a track. The caller has locked the quota row.

    Without a requested slot, the first run becomes primary if the team has no primary run. Raises SLOT_ERRORS.
    """
    first = runs[0]
    if first.phase.contrastive is None:
        return
    mine = Run.objects.filter(team=first.team, phase=first.phase, track=first.track)
    others = mine.exclude(pk__in=[run.pk for run in runs]).exclude(state__in=(Run.State.REJECTED, Run.State.FAILED))
    has_primary = others.filter(chosen_at__isnull=False).exists()
    unasked = 0 if has_primary else 1
    primary = {Run.Slot.PRIMARY.value: len(runs), Run.Slot.CONTRASTIVE.value: 0}.get(slot, unasked)
    if primary + has_primary > 1:
        raise PRIMARY_TAKEN(track=first.track.title)
    contrastive = others.filter(chosen_at__isnull=True).count() + len(runs) - primary
    if contrastive > first.phase.contrastive:
        raise CONTRASTIVE_TAKEN(track=first.track.title, n=first.phase.contrastive)
    if primary:
        Run.objects.filter(pk=first.pk).update(chosen_at=at, chosen_by=user)
