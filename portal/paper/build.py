"""Build a paper pack in a separate process (`manage.py build_pack`). Progress is saved for each track."""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from uuid import UUID

import structlog
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.db.models import Q
from django.urls import reverse

from portal.models import PaperPack
from portal.models.clock import running_from
from portal.paper.pack import pack
from portal.paper.queue import ATTEMPTS, TRACK_SECONDS, claim_pack
from portal.storage import forget_pack, store_pack

log = structlog.get_logger("portal.paper")

RETRY_SECONDS = 600


class _Superseded(Exception):
    """Another worker has claimed this pack."""


def build_pack(pack_id: UUID, at: datetime) -> bool:
    """Claim, build and store the pack. Return whether this succeeded."""
    now = running_from(at)
    token = claim_pack(pack_id, at)
    if token is None:
        return False
    row = PaperPack.objects.select_related("phase__shared_task", "requested_by").get(pk=pack_id)
    try:
        sha256, size = store_pack(_pieces(row, token, at, now))
    except _Superseded:
        return False
    except Exception as error:
        log.exception("paper files not built", pack=str(row), attempt=row.attempts, error=type(error).__name__)
        state = PaperPack.State.QUEUED if row.attempts < ATTEMPTS else PaperPack.State.FAILED
        PaperPack.objects.held(row, token).release(now() + timedelta(seconds=RETRY_SECONDS), state=state)
        return False
    ready = {"state": PaperPack.State.READY, "sha256": sha256, "size": size, "built_at": now()}
    if not PaperPack.objects.held(row, token).release(**ready):
        return False
    _forget_older(row)
    log.info("pack built", pack=str(row), bytes=size)
    return True


def _pieces(row: PaperPack, token: UUID, at: datetime, now: Callable[[], datetime]) -> Iterable[bytes]:
    phase = row.phase
    tracks = phase.tracks()
    address = f"{settings.PUBLIC_URL}{reverse('task', args=[phase.shared_task.slug])}"
    viewer = AnonymousUser() if row.audience == PaperPack.Audience.PUBLIC else row.requested_by or AnonymousUser()

    def progress(done: int) -> None:
        if not PaperPack.objects.held(row, token).renew(now(), TRACK_SECONDS, done=done):
            raise _Superseded

    return pack(tracks, phase, viewer, at, address, progress)


def _forget_older(row: PaperPack) -> None:
    """Delete the phase's older packs, for every audience, and their files if no other pack has the same content."""
    for older in PaperPack.objects.filter(phase=row.phase, requested_at__lte=row.requested_at).exclude(
        Q(pk=row.pk) | Q(state=PaperPack.State.BUILDING)
    ):
        older.delete()
        if older.sha256 and not PaperPack.objects.filter(sha256=older.sha256).exists():
            forget_pack(older.sha256)
