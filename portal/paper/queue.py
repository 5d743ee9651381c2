"""Packs that wait to be built: one for each state of the boards, and one at a time. Nothing here draws figures."""

from datetime import datetime
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import F

from portal.evaluation.limits import HINT_SECONDS
from portal.models import PaperPack, Phase, Track, User
from portal.models.paper_pack import phases_without_pack
from portal.queries.paper_packs import boards_state

ATTEMPTS = 3
TRACK_SECONDS = 240  # of one track; a worker that takes longer has died


def request_pack(phase: Phase, user: User | None, at: datetime) -> PaperPack:
    """The pack for the boards as they are now; waiting for a worker if no one has asked for it before.

    However often and by whomever it is asked for, one state of the boards is built once. What waits for an older
    state is dropped.
    """
    state = boards_state(phase, at)
    waiting = {"revisions": state.revisions, "requested_by": user, "requested_at": at}
    with transaction.atomic():
        found, is_new = PaperPack.objects.get_or_create(
            phase=phase, audience=state.audience, boards=state.digest, defaults=waiting
        )
        failed = PaperPack.objects.due(at).filter(pk=found.pk, state=PaperPack.State.FAILED)
        if failed.release(state=PaperPack.State.QUEUED, attempts=ATTEMPTS - 1):
            found.refresh_from_db()
        if is_new:
            older = PaperPack.objects.filter(phase=phase, audience=state.audience).exclude(pk=found.pk)
            older.filter(state__in=(PaperPack.State.QUEUED, PaperPack.State.FAILED)).delete()
    return found


def packs_to_build(at: datetime) -> list[UUID]:
    """Ask for the packs that a release or a change of released boards brings; the one that has waited longest.

    None while another is being built, so that packs never occupy more than one process of the workers.
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
    """The token of the worker that may build that pack now; None while any pack is being built, or when it is done.

    The unique constraint on the state decides between two packs.
    """
    waiting = PaperPack.objects.filter(pk=pack_id, state=PaperPack.State.QUEUED)
    tracks = Track.objects.filter(shared_task__phases__paper_packs=pack_id).count()
    started = {"state": PaperPack.State.BUILDING, "attempts": F("attempts") + 1, "done": 0, "total": tracks}
    try:
        with transaction.atomic():
            return waiting.claim(at, TRACK_SECONDS, **started)
    except IntegrityError:  # another one is being built
        return None
