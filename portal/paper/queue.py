"""Packs that wait to be built: one for each state of the boards, and one at a time. Nothing here draws figures."""

from datetime import datetime, timedelta
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
        retried = {"state": PaperPack.State.QUEUED, "attempts": ATTEMPTS - 1, "lease_ends": None}
        failed = PaperPack.objects.filter(pk=found.pk, state=PaperPack.State.FAILED, lease_ends__lte=at)
        if failed.update(**retried):
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
    lost = PaperPack.objects.filter(state=PaperPack.State.BUILDING, lease_ends__lte=at)
    lost.filter(attempts__gte=ATTEMPTS).update(state=PaperPack.State.FAILED, token=None, lease_ends=at)
    lost.update(state=PaperPack.State.QUEUED, token=None, lease_ends=None)
    if PaperPack.objects.filter(state=PaperPack.State.BUILDING).exists():
        return []
    found = list(PaperPack.objects.hintable(at).order_by("requested_at").values_list("pk", flat=True)[:1])
    PaperPack.objects.filter(pk__in=found).update(lease_ends=at + timedelta(seconds=HINT_SECONDS))
    return found


def claim_pack(pack_id: UUID, token: UUID, at: datetime) -> bool:
    """Whether that pack may be built now by the holder of the token.

    Another pack that is being built goes first: the unique constraint on the state decides.
    """
    mine = PaperPack.objects.filter(pk=pack_id, state=PaperPack.State.QUEUED)
    lease_ends = at + timedelta(seconds=TRACK_SECONDS)
    try:
        with transaction.atomic():
            return bool(
                mine.update(
                    state=PaperPack.State.BUILDING,
                    token=token,
                    lease_ends=lease_ends,
                    attempts=F("attempts") + 1,
                    done=0,
                    total=Track.objects.filter(shared_task__phases__paper_packs=pack_id).count(),
                )
            )
    except IntegrityError:  # another one is being built
        return False
