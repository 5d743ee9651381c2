"""Restore a backup: verify the whole archive, store its files, then insert all rows in one transaction."""

import hashlib
import json
import os
import shutil
import tarfile
import tempfile
from collections import defaultdict
from collections.abc import Mapping
from io import TextIOWrapper
from pathlib import Path, PurePosixPath
from typing import IO, Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.actions.base.errors import Conflict, Invalid
from portal.backup.backup import DATA, DATABASE, GOLD, MANIFEST, Manifest, Member
from portal.evaluation.pushes import fail_restored
from portal.models import rows
from portal.objects.interface import Objects, data_objects, gold_objects

_DEFINITIONS = f"{DATA}/definitions/"

NO_BACKUP = Invalid.declare("no_backup", _("This is not a backup: %(why)s."))
NO_MANIFEST = Invalid.declare("no_backup", _("This is not a complete backup: its manifest is missing."))
DAMAGED = Invalid.declare("damaged", _("The backup is damaged: %(names)s."))
OTHER_VERSION = Invalid.declare(
    "other_version",
    _(
        "The backup was made with Agon %(theirs)s (%(revision)s), which has different database tables. Restore the "
        "backup with that version, then upgrade as described in docs/storage-and-backup.md."
    ),
)
TOO_OLD = Invalid.declare(
    "other_version", _("The backup has no %(column)s. It was made before Agon 0.1.0 and can’t be restored.")
)
DATABASE_NOT_EMPTY = Conflict.declare(
    "not_empty", _("The database is not empty. Restore the backup into a new database.")
)
STORAGE_NOT_EMPTY = Conflict.declare(
    "not_empty",
    _(
        "The storage contains files that are not in the backup, such as %(name)s. Restore the backup into empty "
        "storage."
    ),
)


def restore_backup(source: Path) -> Manifest:
    """Fill an empty portal from a backup. A restore that was interrupted can be started again.

    Raises:
        Invalid: the file is not a backup, is damaged, or comes from a portal version with different tables.
        Conflict: the portal already has rows, or files that are not in the archive.
    """
    try:
        with tarfile.open(source, "r:") as archive:
            manifest = _sound_manifest(archive)
            _require_empty(manifest)
            _put_files(archive, manifest)
            with transaction.atomic():
                _load_rows(archive, manifest)
    except tarfile.TarError as error:
        raise NO_BACKUP(why=error) from None
    return manifest


def _sound_manifest(archive: tarfile.TarFile) -> Manifest:
    """Return the manifest after reading every file and verifying its hash."""
    try:
        content = json.load(_opened(archive, MANIFEST))
        _require_our_tables(content)
        content["members"] = {name: Member(**member) for name, member in content["members"].items()}
        manifest = Manifest(**content)
    except (KeyError, TypeError, ValueError):
        raise NO_MANIFEST() from None
    there = {entry.name for entry in archive if entry.name != MANIFEST}
    damaged = sorted(there ^ manifest.members.keys())
    damaged += [
        name
        for name in sorted(there & manifest.members.keys())
        if _sha256(archive, name) != manifest.members[name].sha256
    ]
    if damaged:
        raise DAMAGED(names=", ".join(damaged[:20]))
    return manifest


def _require_our_tables(content: Mapping[str, Any]) -> None:
    """Check that the backup has the same database tables as this portal.

    This check comes first because manifests of other versions may have different keys.
    """
    if content["migrations"] != rows.migrations():
        raise OTHER_VERSION(theirs=content["agon"], revision=content.get("revision") or content["made_at"][:10])


def require_empty_database() -> None:
    """Check that the database has no rows. It may be new or older, so this also works without the current tables.

    Raises:
        Conflict: it has some.
    """
    if not rows.is_empty():
        raise DATABASE_NOT_EMPTY()


def _require_empty(manifest: Manifest) -> None:
    """Check that the portal is empty.

    Files that are in the archive are allowed, because an interrupted restore may have left them.
    """
    require_empty_database()
    folders = {"/".join(PurePosixPath(name).parts[:3]) for name in manifest.members if name.startswith(_DEFINITIONS)}
    known = folders | manifest.members.keys()
    for prefix, objects in ((DATA, data_objects()), (GOLD, gold_objects())):
        for name in objects.names():
            if f"{prefix}/{name.removesuffix('.zip')}" not in known:
                raise STORAGE_NOT_EMPTY(name=name)


def _put_files(archive: tarfile.TarFile, manifest: Manifest) -> None:
    definitions: dict[str, list[str]] = defaultdict(list)
    for member in manifest.members:
        kind, _slash, name = member.partition("/")
        if member.startswith(_DEFINITIONS):
            definitions["/".join(PurePosixPath(name).parts[:2])].append(member)
        elif kind != DATABASE:
            _put_file(archive, member, data_objects() if kind == DATA else gold_objects(), name)
    for name, members in definitions.items():
        if not data_objects().has_folder(name):
            _put_definition(archive, members, name)


def _put_file(archive: tarfile.TarFile, member: str, objects: Objects, name: str) -> None:
    with tempfile.NamedTemporaryFile(dir=objects.drafts(), delete=False) as draft:
        shutil.copyfileobj(_opened(archive, member), draft)
        draft.flush()
        os.fsync(draft.fileno())
    objects.put(Path(draft.name), name)


def _put_definition(archive: tarfile.TarFile, members: list[str], name: str) -> None:
    draft = Path(tempfile.mkdtemp(dir=data_objects().drafts()))
    for member in members:
        path = draft / PurePosixPath(member).relative_to(f"{DATA}/{name}")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            shutil.copyfileobj(_opened(archive, member), file)
    data_objects().put_folder(draft, name)


def _load_rows(archive: tarfile.TarFile, manifest: Manifest) -> None:
    for table in reversed(rows.tables()):
        if table._meta.label in rows.MADE_BY_MIGRATING:
            table._base_manager.all().delete()
    for table in rows.tables():
        label = table._meta.label_lower
        with TextIOWrapper(_opened(archive, f"{DATABASE}/{label}.jsonl"), encoding="utf-8") as lines:
            try:
                count = rows.load(table, lines)
            except rows.MissingColumn as missing:
                raise TOO_OLD(column=missing) from None
            if count != manifest.rows[label]:
                raise DAMAGED(names=label)
    rows.reset_sequences()
    fail_restored()


def _opened(archive: tarfile.TarFile, name: str) -> IO[bytes]:
    file = archive.extractfile(name)
    if file is None:
        raise KeyError(name)
    return file


def _sha256(archive: tarfile.TarFile, name: str) -> str:
    return hashlib.file_digest(_opened(archive, name), "sha256").hexdigest()  # type: ignore[arg-type]
