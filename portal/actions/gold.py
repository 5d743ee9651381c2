"""New gold standards from organizers, which a worker opens and checks; earlier ones that are used again."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import SkipValidation

from portal import jobs
from portal.actions.action import Act, action
from portal.actions.errors import Conflict, Invalid
from portal.actions.roles import ORGANIZERS
from portal.evaluation.gold import adopt, runs_to_score
from portal.evaluation.lanes import Lane
from portal.evaluation.limits import HINT_SECONDS
from portal.models import GoldStandard, GoldUpload, Track, User
from portal.queries.gold import live_phases
from portal.storage import store_sealed_gold
from scoring.limits import RUN_BYTES

GOLD_BYTES = RUN_BYTES  # as a run that is unpacked

SealedPieces = Annotated[Iterable[bytes], SkipValidation]  # read once, as they are stored

NO_SUCH_SPLIT = Invalid.declare("no_such_split", _("%(track)s has no items for %(split)s."))
PUBLIC_SCORES = Invalid.declare(
    "public_scores",
    _("The leaderboards of %(phases)s are public and would change at once. Confirm that you are sure."),
)
IN_USE = Conflict.declare("in_use", _("That version is in use."))


@action(who=ORGANIZERS, says=_("uploaded a gold file"), errors=[NO_SUCH_SPLIT, PUBLIC_SCORES])
def upload_gold(act: Act, track: Track, *, split: str, sealed: SealedPieces, is_sure: bool = False) -> GoldUpload:
    """Keep a gold standard that was sealed as it came in; a worker opens and checks it.

    `is_sure` where public scores would change at once.
    """
    if split not in track.definition.items:
        raise NO_SUCH_SPLIT(track=track.title, split=split)
    _require_sure(track, split, act.at, is_sure)
    upload = leave_for_worker(track, split, store_sealed_gold(sealed), act.at, act.user)
    act.record(**audit_words(upload))
    return upload


@action(who=ORGANIZERS, errors=[IN_USE, PUBLIC_SCORES])
def return_to_gold(act: Act, gold: GoldStandard, *, is_sure: bool = False) -> GoldStandard:
    """Make an earlier gold standard the newest version again; all runs are scored by it.

    `is_sure` where public scores would change at once. The audit log has the new version's own entry.
    """
    track = gold.track
    newest = GoldStandard.objects.newest(track, gold.split)
    if newest is None or newest.sealed_sha256 == gold.sealed_sha256:
        raise IN_USE()
    _require_sure(track, gold.split, act.at, is_sure)
    renewed = adopt(track, gold.split, gold.sealed_sha256, act.at, act.user, gold.counts, returned_to=gold.version)
    transaction.on_commit(lambda: jobs.publish_scores(runs_to_score(track, gold.split), Lane.BULK))
    return renewed


def _require_sure(track: Track, split: str, at: datetime, is_sure: bool) -> None:
    live = live_phases(track.shared_task, split, at)
    if live and GoldStandard.objects.newest(track, split) and not is_sure:
        raise PUBLIC_SCORES(phases=", ".join(phase.title for phase in live))


def leave_for_worker(
    track: Track, split: str, sealed_sha256: str, at: datetime, actor: User | None, *, is_imported: bool = False
) -> GoldUpload:
    upload = GoldUpload.objects.create(
        track=track,
        split=split,
        sealed_sha256=sealed_sha256,
        sent_by=actor,
        is_imported=is_imported,
        received_at=at,
        lease_ends=at + timedelta(seconds=HINT_SECONDS),
    )
    transaction.on_commit(lambda: jobs.publish_gold([upload.pk]))
    return upload


def audit_words(upload: GoldUpload) -> dict[str, str]:
    return {
        "subject": f"gold {upload.track.slug} {upload.split}",
        "upload": str(upload.pk),
        "sealed_sha256": upload.sealed_sha256,
    }
