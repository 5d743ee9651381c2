"""The queue of paper packs. Each state of the boards has one pack per audience, and packs are built one at a time.

This module draws no figures.
"""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from portal.evaluation.limits import HINT_SECONDS
from portal.models import PaperPack, Phase, User
from portal.models.paper_pack import phases_without_pack
from portal.queries.paper_packs import boards_state, is_lost

ATTEMPTS = 3
TRACK_SECONDS = 240  # for each track; a worker that takes longer is considered dead


def request_pack(phase: Phase, user: User | None, at: datetime) -> PaperPack:
    """Return the pack for the current boards. Queue it if it was never requested, has failed, or has lost its file.

    The pack for a state of the boards is built only once, no matter how often it is requested. Waiting packs for older
    states are deleted.
    """
    state = boards_state(phase, at)
    waiting = {"revisions": state.revisions, "requested_by": user, "requested_at": at}
    with transaction.atomic():
        found, is_new = PaperPack.objects.get_or_create(
            phase=phase, audience=state.audience, boards=state.digest, defaults=waiting
        )
        if is_lost(found):
            PaperPack.objects.filter(pk=found.pk).release(
                state=PaperPack.State.QUEUED, attempts=0, sha256="", requested_at=at
            )
            found.refresh_from_db()
        failed = PaperPack.objects.due(at).filter(pk=found.pk, state=PaperPack.State.FAILED)
        if failed.release(state=PaperPack.State.QUEUED, attempts=ATTEMPTS - 1):
            found.refresh_from_db()
        if is_new:
            older = PaperPack.objects.filter(phase=phase, audience=state.audience).exclude(pk=found.pk)
            older.filter(state__in=(PaperPack.State.QUEUED, PaperPack.State.FAILED)).delete()
    return found


def packs_to_build(at: datetime) -> list[UUID]:
    """Queue packs for released phases whose boards have changed. Return the pack that has waited longest.

    Return an empty list while a pack is being built, so that packs occupy at most one worker process.
    """
    for phase in phases_without_pack(at).select_related("shared_task"):
        request_pack(phase, None, at)
    lost = PaperPack.objects.due(at).filter(state=PaperPack.State.BUILDING)
    lost.filter(attempts__gte=ATTEMPTS).release(at, state=PaperPack.State.FAILED)
    lost.release(state=PaperPack.State.QUEUED)
    if PaperPack.objects.filter(state=PaperPack.State.BUILDING).exists():
        return []
    waiting = PaperPack.objects.due(at).filter(state=PaperPack.State.QUEUED)
    return waiting.order_by("requested_at").hint(at, HINT_SECONDS, 1)


def claim_pack(pack_id: UUID, at: datetime) -> UUID | None:
    """Return a token for building the pack now, or None if it is not waiting or any pack is being built.

    A unique constraint on the state prevents two packs from being built at the same time.
    """
    waiting = PaperPack.objects.filter(pk=pack_id, state=PaperPack.State.QUEUED)
    phase = Phase.objects.select_related("shared_task").get(paper_packs=pack_id)
    total = len(phase.tracks())
    started = {"state": PaperPack.State.BUILDING, "attempts": F("attempts") + 1, "done": 0, "total": total}
    try:
        with transaction.atomic():
            return waiting.claim(at, TRACK_SECONDS, **started)
    except IntegrityError:  # another pack is being built
        return None
