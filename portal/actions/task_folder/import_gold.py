"""Import a folder's gold, after comparing it with the last import and with the gold in use."""

from datetime import datetime
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import Conflict
from portal.actions.gold import (
    audit_words,
    leave_for_worker,
    new_version,
    score_after_commit,
    upload_gold,
)
from portal.evaluation.gold import Versions, adopt, opened
from portal.models import GoldStandard, SharedTask, Track
from portal.sealing import has_private_key
from portal.storage import store_gold
from scoring import Definition
from scoring.definition.files import Files
from scoring.score import named_bytes
from scoring.task_folder.gold_file import check_gold

GOLD_CHANGED_TWICE = Conflict.declare(
    "gold_changed_twice", _("The gold has changed both in the folder and on the “Gold” page:\n%(problems)s")
)
NEVER_IMPORTED = Conflict.declare(
    "gold_changed_twice",
    _(
        "gold %(track)s %(split)s: version %(version)d was uploaded on the “Gold” page, and the folder has a different "
        "file. To use the file from the folder, upload it on the “Gold” page, then import again."
    ),
)
CHANGED_TWICE = Conflict.declare(
    "gold_changed_twice",
    _(
        "gold %(track)s %(split)s: the file in the folder has changed since the last import, and version %(version)d "
        "was uploaded on the “Gold” page. To use the file from the folder, upload it on the “Gold” page, then import "
        "again. To keep version %(version)d, restore the file from the last import (version %(imported)d) in the "
        "folder, or remove the file from the folder."
    ),
)


def import_gold(shared_task: SharedTask, definition: Definition, at: datetime) -> list[str]:
    """Add the new gold standards and return one sentence for each change.

    Raises:
        Conflict: gold changed both in the folder and on the website. The error lists every such gold standard.
    """
    changes, problems = [], []
    tracks = {track.slug: track for track in shared_task.tracks.all()}
    for wanted in definition.gold:
        track = tracks[wanted.track]
        before = GoldStandard.objects.newest(track, wanted.split)
        if before is not None and not any(path.exists() for path in definition.paths_of_gold(wanted)):
            continue  # a folder without gold changes nothing
        try:
            files = definition.track(wanted.track, wanted.split).files
            gold = add_gold_standard(track, wanted.split, wanted.file, at, files)
        except Conflict as conflict:
            problems.append(conflict)
            continue
        if gold != before:
            changes.append(new_version(gold))
        elif not has_private_key():
            changes.append(f"gold {track.slug} {wanted.split}: a worker will compare it with version {gold.version}")
    if problems:
        raise GOLD_CHANGED_TWICE(problems=problems)
    return changes


@transaction.atomic
def add_gold_standard(track: Track, split: str, file: Path, at: datetime, files: Files | None = None) -> GoldStandard:
    """Import the checked gold for a track's split and return the newest version.

    The gold is one file, or several if the track's runs have several `files`.

    It is compared with the last import. If the file has not changed since then, nothing is added, because organizers
    may have replaced the gold on the website in the meantime. The comparison needs the worker's key. If the key is
    missing, the new gold is queued for a worker, and the current version is returned.

    Raises:
        Conflict: both the file and the gold in use have changed since the last import.
    """
    versions, content = Versions.of(track, split), named_bytes(files, file)
    if versions.newest is not None and not has_private_key():
        upload = leave_for_worker(track, split, store_gold(content), at, None, is_imported=True)
        upload_gold.record(None, track, at, **audit_words(upload))
        return versions.newest
    if versions.newest is not None:
        if opened(versions.imported) == content:
            return versions.newest
        if opened(versions.newest) == content:
            GoldStandard.objects.filter(pk=versions.newest.pk).update(is_imported=True)
            return versions.newest
        if versions.have_parted:
            names = {"track": track.slug, "split": split, "version": versions.newest.version}
            if versions.imported is None:
                raise NEVER_IMPORTED(**names)
            raise CHANGED_TWICE(**names, imported=versions.imported.version)
    counts = check_gold(track.shared_task.definition, track.slug, content, split).counts
    gold = adopt(track, split, store_gold(content), at, None, counts, is_imported=True)
    score_after_commit(track, split)
    return gold
