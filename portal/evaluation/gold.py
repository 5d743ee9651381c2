"""New versions of gold.

Workers check them, because only workers can decrypt gold. All runs are then rescored.
"""

from base64 import b64decode
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from portal.evaluation.child import Child, run_limited
from portal.evaluation.claim import claim_gold
from portal.evaluation.confined.gold import check_gold_file
from portal.evaluation.confined.gold_files import PIECE, CompletedGold
from portal.evaluation.record import Problems, record_error
from portal.evaluation.rescore import ask_again
from portal.models import AuditEntry, GoldStandard, GoldUpload, Phase, Run, Track, User
from portal.models.clock import running_from
from portal.objects.interface import gold_objects
from portal.storage import open_gold, store_gold
from scoring.definition.files import Files
from scoring.task_folder.secret_files import Fingerprint, Secret, copies_of_secrets

log = structlog.get_logger("portal.evaluation")

_STATE = GoldUpload.State


@dataclass(frozen=True, slots=True)
class GoldFinding:
    """The result of checking a gold standard. `problems` never quote its content.

    `counts` has the number of items in the gold and the number that runs must have, or None if unknown.
    """

    ok: bool
    is_new: bool  # whether the gold differs from the version in use
    problems: Problems
    counts: tuple[int, int] | None
    is_folders: bool = False  # for an import: whether the gold is the same as in the last import
    changes: dict[str, Any] = field(default_factory=dict)  # changes compared with the version in use


@dataclass(frozen=True, slots=True)
class Versions:
    """The gold in use and the gold of the last import."""

    newest: GoldStandard | None
    imported: GoldStandard | None

    @classmethod
    def of(cls, track: Track, split: str) -> Self:
        return cls(GoldStandard.objects.newest(track, split), GoldStandard.objects.last_imported(track, split))

    @property
    def have_parted(self) -> bool:
        """Whether organizers replaced the imported gold on the website."""
        newest, imported = self.newest, self.imported
        return newest is not None and (imported is None or newest.sealed_sha256 != imported.sealed_sha256)


def check_gold_upload(upload_id: UUID, at: datetime) -> list[UUID]:
    """Claim and check a gold upload, record the result, and return the runs that must now be scored.

    The list is empty if the claim was lost. If the file would replace another gold standard, the next step is
    `preview_gold`.
    """
    now = running_from(at)
    token = claim_gold(upload_id, at)
    if token is None:
        return []
    upload = GoldUpload.objects.select_related("track__shared_task", "sent_by").get(pk=upload_id)
    versions = Versions.of(upload.track, upload.split)
    logger = log.bind(gold=str(upload.pk), track=str(upload.track))
    try:
        definition = upload.track.shared_task.definition
        content = open_gold(upload.sealed_sha256)  # the child has no keys
        known = opened(versions.newest)
        imported = opened(versions.imported if upload.is_imported else None)
        if (files := definition.track(upload.track.slug, upload.split).files) is not None and not upload.is_imported:
            content = _completed(upload, token, files, content, known)
        arguments = (definition, upload.track.slug, upload.split, content, known, imported)
        finding = GoldFinding(**run_limited(check_gold_file, *arguments, readable=[definition.folder]))
        if finding.is_new and (copies := _public_copies(upload, content)):
            finding = replace(finding, ok=False, problems=[*finding.problems, *copies])
    except Exception as error:
        record_error(upload, token, error, now())
        return []
    logger.info("gold checked", accepted=finding.ok)
    return _record(upload, token, versions, finding, now())


def _completed(upload: GoldUpload, token: UUID, files: Files, content: bytes, known: bytes | None) -> bytes:
    """Complete the gold with files from the version in use, store it for the upload, and return it."""
    with Child(CompletedGold(files, content, known)) as child:
        size = child.ask("size")
        whole = b"".join(b64decode(child.ask("piece", start)) for start in range(0, size, PIECE))
    if not size or whole == content:
        return content
    sent, upload.sealed_sha256 = upload.sealed_sha256, store_gold(whole)
    is_held = GoldUpload.objects.held(upload, token).update(sealed_sha256=upload.sealed_sha256)
    # If the claim was lost, another worker needs the file that was sent.
    gold_objects().delete(sent if is_held else upload.sealed_sha256)
    return whole


def _public_copies(upload: GoldUpload, content: bytes) -> Problems:
    """Return an error for each public file of the task that has this content."""
    shared_task = upload.track.shared_task
    use = Secret(f"gold of the track {upload.track.slug}, split {upload.split}", upload.split)
    files = shared_task.dataset_files
    datasets = [dataset for dataset in shared_task.definition.datasets if dataset.slug in files]
    stored = {
        dataset.file: Fingerprint(files[dataset.slug]["size"], files[dataset.slug]["sha256"]) for dataset in datasets
    }
    found = copies_of_secrets(shared_task.definition, {Fingerprint.of(content): use}, stored)
    return [problem.as_dict() for problem in found]


@transaction.atomic
def adopt(
    track: Track,
    split: str,
    sealed_sha256: str,
    at: datetime,
    actor: User | None,
    counts: tuple[int, int] | None,
    *,
    is_imported: bool = False,
) -> GoldStandard:
    """Make the sealed content the next version. The caller queues `runs_to_score` after the commit."""
    gold = add_version(track, split, sealed_sha256, at, counts, is_imported=is_imported)
    AuditEntry.objects.record(actor, AuditEntry.Event.ADD_GOLD_STANDARD, track, at, **audit_details(gold))
    return gold


def add_version(
    track: Track,
    split: str,
    sealed_sha256: str,
    at: datetime,
    counts: tuple[int, int] | None,
    *,
    is_imported: bool = False,
    note: str = "",
    applied_by: User | None = None,
) -> GoldStandard:
    """Add the next version and request all scores again. The caller writes the audit entry.

    Args:
        counts: the number of items in the gold, and the number that runs must have.
        note: what public leaderboards say about the change.
    """
    listed_items, split_items = counts or (None, None)
    newest = GoldStandard.objects.newest(track, split)
    gold = GoldStandard.objects.create(
        track=track,
        split=split,
        version=newest.version + 1 if newest else 1,
        sealed_sha256=sealed_sha256,
        is_imported=is_imported,
        created_at=at,
        listed_items=listed_items,
        split_items=split_items,
        note=note,
        applied_by=applied_by,
    )
    ask_again(_runs(track, split))
    return gold


def audit_details(gold: GoldStandard) -> dict[str, str]:
    subject = f"gold {gold.track.slug} {gold.split} version {gold.version}"
    return {"subject": subject, "sealed_sha256": gold.sealed_sha256}


def runs_to_score(track: Track, split: str) -> list[UUID]:
    """List the waiting runs that can be scored."""
    waiting = _runs(track, split).filter(state=Run.State.RECEIVED)
    return list(waiting.scorable().values_list("pk", flat=True))


def drop_unused_gold() -> int:
    """Delete the sealed files of uploads that did not become a version, and return the number of uploads.

    Files whose check failed because of an internal error are kept for `retry_failed`. Files that can be applied are
    kept until a newer file or version replaces them.
    """
    settled = [_STATE.UNCHANGED, _STATE.REJECTED, _STATE.CONFLICT]
    there = Q(track=OuterRef("track"), split=OuterRef("split"))
    replaced = Q(Exists(GoldUpload.objects.filter(there, received_at__gt=OuterRef("received_at"))))
    replaced |= Q(Exists(GoldStandard.objects.filter(there, created_at__gt=OuterRef("received_at"))))
    used = GoldStandard.objects.values("sealed_sha256")
    unused = GoldUpload.objects.filter(Q(state__in=settled) | Q(replaced, state=_STATE.READY))
    unused = unused.exclude(sealed_sha256="").exclude(sealed_sha256__in=used).defer("preview")
    dropped = 0
    for upload in unused:
        gold_objects().delete(upload.sealed_sha256)
        dropped += GoldUpload.objects.filter(pk=upload.pk).update(sealed_sha256="", preview={})
    return dropped


def _runs(track: Track, split: str) -> Any:
    phases = Phase.objects.filter(shared_task=track.shared_task_id, split=split)
    return Run.objects.filter(track=track, phase__in=phases)


def opened(gold: GoldStandard | None) -> bytes | None:
    """Return the gold's content. This needs the worker's key."""
    return open_gold(gold.sealed_sha256) if gold else None


@transaction.atomic
def _record(upload: GoldUpload, token: UUID, versions: Versions, finding: GoldFinding, at: datetime) -> list[UUID]:
    mine = GoldUpload.objects.held(upload, token)
    listed, items = finding.counts or (None, None)
    done = {"checked_at": at, "problems": finding.problems, "listed_items": listed, "split_items": items}
    if not finding.ok:
        mine.release(state=_STATE.REJECTED, **done)
        return []
    if upload.is_imported and finding.is_folders:
        mine.release(state=_STATE.UNCHANGED, gold=versions.imported, **done)
        return []
    if not finding.is_new:
        if mine.release(state=_STATE.UNCHANGED, gold=versions.newest, **done) and upload.is_imported:
            GoldStandard.objects.filter(uploads=upload.pk).update(is_imported=True)
        return []
    if upload.is_imported and versions.have_parted:
        mine.release(state=_STATE.CONFLICT, **done)
        return []
    if versions.newest is not None and not upload.is_imported:
        mine.release(state=_STATE.PREVIEWING, preview={"changes": finding.changes}, **done)
        return []
    if not mine.release(state=_STATE.ACCEPTED, **done):
        return []
    track, split, sha256 = upload.track, upload.split, upload.sealed_sha256
    gold = adopt(track, split, sha256, at, upload.sent_by, finding.counts, is_imported=upload.is_imported)
    GoldUpload.objects.filter(pk=upload.pk).update(gold=gold)
    return runs_to_score(upload.track, upload.split)
