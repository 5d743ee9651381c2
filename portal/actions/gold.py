"""Uploading gold standards, previewing earlier versions, and applying previews. A worker checks each gold standard."""

from datetime import datetime, timedelta
from typing import Annotated, Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal import jobs
from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.input import column, passes
from portal.actions.base.roles import ORGANIZERS
from portal.actions.uploads.intake import TOO_LARGE
from portal.evaluation.gold import add_version, audit_details, runs_to_score
from portal.evaluation.lanes import Lane
from portal.evaluation.limits import HINT_SECONDS
from portal.models import BoardChange, GoldStandard, GoldUpload, Track, User
from portal.models.run import one_line
from portal.sealing import SealedFile
from portal.storage import store_sealed_gold
from scoring.limits import RUN_BYTES

GOLD_BYTES = RUN_BYTES  # the same limit as for an unpacked run

Note = Annotated[str, column(BoardChange, "note", required=True, title="Reason"), passes(one_line)]

NO_SUCH_SPLIT = Invalid.declare("no_such_split", _("%(track)s has no items for %(split)s."))
NOT_READY = Conflict.declare(
    "not_ready", _("There is no preview to apply. Request one, then wait until it is computed.")
)
STALE = Conflict.declare(
    "stale_preview",
    _("The current gold, the rules or the runs have changed since this preview was computed. Request a new preview."),
)
IN_USE = Conflict.declare("in_use", _("This version is already in use."))


@action(who=ORGANIZERS, says=_("uploaded a gold file"), errors=[TOO_LARGE, NO_SUCH_SPLIT])
def upload_gold(call: ActionCall, track: Track, *, split: str, sealed: SealedFile) -> GoldUpload:
    """Store a gold standard that was encrypted as it was received. A worker opens and checks it.

    The first gold standard is used immediately. A correction gets a preview and is used after `apply_gold`.
    """
    if sealed.length > GOLD_BYTES:
        raise TOO_LARGE(limit=GOLD_BYTES)
    if split not in track.definition.items:
        raise NO_SUCH_SPLIT(track=track.title, split=split)
    upload = leave_for_worker(track, split, store_sealed_gold(sealed), call.at, call.user)
    call.record(**audit_words(upload))
    return upload


def _lost_the_race(_act: ActionCall, _target: GoldUpload, **_input: str) -> GoldStandard:
    """Raise STALE, because another version was added at the same time."""
    raise STALE()


@action(
    who=ORGANIZERS,
    says=_("applied a gold standard"),
    errors=[NOT_READY, STALE],
    locks=True,
    on_race=_lost_the_race,
)
def apply_gold(call: ActionCall, upload: GoldUpload, *, note: Note) -> GoldStandard:
    """Make a previewed gold standard the newest version. All runs are scored again with it.

    Public leaderboards show the new scores once all runs have them, together with `note`, which everyone can read.
    """
    if upload.state != GoldUpload.State.READY:
        raise NOT_READY()
    track, split = upload.track, upload.split
    versions = GoldStandard.objects.filter(track=track, split=split).order_by("version")
    list(versions.select_for_update(no_key=True).values_list("pk"))  # applies previews of the same gold one by one
    if not upload.sealed_sha256 or upload.basis != upload.basis_at(call.at):
        raise STALE()
    same = GoldStandard.objects.filter(track=track, split=split, sealed_sha256=upload.sealed_sha256)
    former = same.order_by("version").first()
    detail: dict[str, Any] = {"returned_to": former.version} if former else {}
    gold = add_version(track, split, upload.sealed_sha256, call.at, upload.counts, note=note, applied_by=call.user)
    call.record(**audit_details(gold), note=note, **detail)
    GoldUpload.objects.filter(pk=upload.pk).update(state=GoldUpload.State.ACCEPTED, gold=gold)
    score_after_commit(track, split)
    return gold


@action(who=ORGANIZERS, says=_("requested a preview of an earlier gold standard"), errors=[IN_USE])
def preview_former_gold(call: ActionCall, gold: GoldStandard) -> GoldUpload:
    """Queue a preview of an earlier gold standard, as for a correction. Applying it makes it the newest version.

    A worker checks it again, because it may have been valid only under earlier rules.
    """
    newest = GoldStandard.objects.newest(gold.track, gold.split)
    if newest is None or newest.sealed_sha256 == gold.sealed_sha256:
        raise IN_USE()
    upload = leave_for_worker(gold.track, gold.split, gold.sealed_sha256, call.at, call.user)
    call.record(version=gold.version, **audit_words(upload))
    return upload


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


def score_after_commit(track: Track, split: str) -> None:
    """Queue the runs that need scores from a new gold standard, once it is committed."""
    transaction.on_commit(lambda: jobs.publish_scores(runs_to_score(track, split), Lane.BULK))


def new_version(gold: GoldStandard) -> str:
    """Describe a new gold standard in words, such as `gold task1 test: version 2, 90 of 100 items have gold`."""
    covered = "" if gold.counts is None else ", {} of {} items have gold".format(*gold.counts)
    return f"gold {gold.track.slug} {gold.split}: version {gold.version}{covered}"


def audit_words(upload: GoldUpload) -> dict[str, str]:
    return {
        "subject": f"gold {upload.track.slug} {upload.split}",
        "upload": str(upload.pk),
        "sealed_sha256": upload.sealed_sha256,
    }
