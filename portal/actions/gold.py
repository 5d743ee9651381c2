"""New gold standards: from a folder whose files were looked at, or from an organizer, for a worker to look at."""

from collections.abc import Iterable
from datetime import datetime, timedelta
from pathlib import Path
from typing import Annotated

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from pydantic import SkipValidation

from portal import jobs
from portal.actions.action import Act, action
from portal.actions.errors import ActionError, Conflict, Invalid
from portal.actions.roles import ORGANIZERS
from portal.evaluation.gold import Versions, adopt, runs_to_score
from portal.evaluation.lanes import Lane
from portal.evaluation.limits import HINT_SECONDS
from portal.models import AuditEntry, GoldStandard, GoldUpload, Track, User
from portal.queries.gold import live_phases
from portal.storage import can_open_gold, open_gold, store_gold, store_sealed_gold
from scoring.gold.check import check_gold
from scoring.limits import RUN_BYTES

GOLD_BYTES = RUN_BYTES  # as a run that is unpacked

SealedPieces = Annotated[Iterable[bytes], SkipValidation]  # read once, as they are stored

NO_SUCH_SPLIT = Invalid.declare("no_such_split", _("%(track)s has no items for %(split)s."))
PUBLIC_SCORES = Invalid.declare(
    "public_scores",
    _("The leaderboards of %(phases)s are public and would change at once. Confirm that you are sure."),
)
IN_USE = Conflict.declare("in_use", _("That version is in use."))
NEVER_IMPORTED = Conflict.declare(
    "gold_changed_twice",
    _(
        "gold %(track)s %(split)s: version %(version)d was uploaded on the page, and the folder has another file. "
        "To use the folder’s, upload it on the page Gold, then import again."
    ),
)
CHANGED_TWICE = Conflict.declare(
    "gold_changed_twice",
    _(
        "gold %(track)s %(split)s: the file has changed since the last import, and version %(version)d was put in its "
        "place on the page. To use the folder’s file, upload it on the page Gold, then import again. To keep "
        "version %(version)d, restore the file of the last import (version %(imported)d), or remove it from the folder."
    ),
)


@transaction.atomic
def add_gold_standard(track: Track, split: str, file: Path, at: datetime, actor: User | None = None) -> GoldStandard:
    """The newest version of a track's gold for that split, after the import of a file that was found sound.

    It is compared with what the last import brought. The same file adds no version, so that gold which organizers
    have replaced on the page since stays. Where the worker's key is not at hand to see that, the file is left for a
    worker to compare, and the version is the old one for the moment.

    Raises:
        Conflict: both the file and the gold in use have changed since the last import.
    """
    versions = Versions.of(track, split)
    if versions.newest is not None and not can_open_gold():
        upload = _leave_for_worker(track, split, store_gold(file), at, actor, is_imported=True)
        AuditEntry.objects.record(actor, "upload_gold", track, at, **_audit_words(upload))
        return versions.newest
    content = file.read_bytes()
    if versions.newest is not None:
        if _holds(versions.imported, content):
            return versions.newest
        if _holds(versions.newest, content):
            GoldStandard.objects.filter(pk=versions.newest.pk).update(is_imported=True)
            return versions.newest
        if versions.have_parted:
            raise _changed_twice(track, split, versions)
    counts = check_gold(track.shared_task.definition, track.slug, file, split).counts
    gold = adopt(track, split, store_gold(file), at, actor, counts, is_imported=True)
    transaction.on_commit(lambda: jobs.publish_scores(runs_to_score(track, split), Lane.BULK))
    return gold


def _holds(gold: GoldStandard | None, content: bytes) -> bool:
    return gold is not None and open_gold(gold.sealed_sha256) == content


def _changed_twice(track: Track, split: str, versions: Versions) -> ActionError:
    assert versions.newest is not None
    names = {"track": track.slug, "split": split, "version": versions.newest.version}
    if versions.imported is None:
        return NEVER_IMPORTED(**names)
    return CHANGED_TWICE(**names, imported=versions.imported.version)


@action(who=ORGANIZERS, says=_("uploaded a gold file"), errors=[NO_SUCH_SPLIT, PUBLIC_SCORES])
def upload_gold(act: Act, track: Track, *, split: str, sealed: SealedPieces, is_sure: bool = False) -> GoldUpload:
    """Keep a gold standard that was sealed as it came in; a worker opens and checks it.

    `is_sure` where public scores would change at once.
    """
    if split not in track.definition.items:
        raise NO_SUCH_SPLIT(track=track.title, split=split)
    _require_sure(track, split, act.at, is_sure)
    upload = _leave_for_worker(track, split, store_sealed_gold(sealed), act.at, act.user)
    act.record(**_audit_words(upload))
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


def _leave_for_worker(
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


def _audit_words(upload: GoldUpload) -> dict[str, str]:
    return {
        "subject": f"gold {upload.track.slug} {upload.split}",
        "upload": str(upload.pk),
        "sealed_sha256": upload.sealed_sha256,
    }
