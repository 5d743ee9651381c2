"""Backups: a tar archive with all rows, all files that rows refer to, and the sealed gold, but no keys.

The rows are dumped first, in one snapshot. The files are copied afterward, while the portal keeps running. They still
exist by then: each file is on disk before its row is committed, is named after its content, and is never changed or
deleted. The files of pushes that were not applied are left out, and a restore marks those pushes as failed.
"""

import hashlib
import io
import json
import os
import tarfile
import tempfile
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import BinaryIO

from django.conf import settings

from portal import __version__
from portal.models import GoldStandard, GoldUpload, Run, SharedTask, Submission, rows
from portal.models.task import definition_name
from portal.objects.interface import Objects, data_objects, gold_objects
from portal.queries.receipts import public_key as receipt_key
from portal.sealing import as_text
from portal.sealing import public_key as gold_key
from portal.storage import stored_name

MANIFEST = "manifest.json"
DATABASE, DATA, GOLD = "database", "data", "gold"  # folders in the archive
_FILE_MODE = 0o600


@dataclass(frozen=True, slots=True)
class Member:
    """An archived file."""

    sha256: str
    size: int  # in bytes


@dataclass(slots=True)
class Manifest:
    """The archive's table of contents, which a restore checks."""

    agon: str  # portal version
    made_at: str
    migrations: list[str]
    receipt_key: str  # public key; the private key must be backed up separately, like the gold key
    gold_key: str  # public key
    rows: dict[str, int] = field(default_factory=dict)  # number of rows per table
    members: dict[str, Member] = field(default_factory=dict)
    revision: str = ""  # commit of the code, if known
    damaged: list[str] = field(default_factory=list)  # files that rows refer to but that are missing or damaged


@dataclass(frozen=True, slots=True)
class _Names:
    """Names of the files that rows refer to, by kind."""

    definitions: list[str]
    files: list[str]
    gold: list[str]


def write_backup(target: Path, at: datetime) -> Manifest:
    """Write the archive to a path that does not exist yet. The file appears there only when it is complete."""
    manifest = Manifest(__version__, at.isoformat(), rows.migrations(), receipt_key(), as_text(gold_key()))
    manifest.revision = settings.REVISION
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as scratch:
        draft = Path(scratch) / target.name
        draft.touch(mode=_FILE_MODE)
        with tarfile.open(draft, "w") as archive:
            backup = _Backup(archive, manifest)
            names = backup.add_database(Path(scratch))
            backup.add_files(names)
            backup.add_manifest()
        with draft.open("rb") as written:
            os.fsync(written.fileno())
        draft.rename(target)
    return manifest


class _Backup:
    def __init__(self, archive: tarfile.TarFile, manifest: Manifest) -> None:
        self._archive = archive
        self._manifest = manifest

    def add_database(self, scratch: Path) -> _Names:
        """Add all tables, read in one snapshot, and return the names of the files that they refer to."""
        with rows.snapshot():
            for table in rows.tables():
                with (scratch / table._meta.label_lower).open("w", encoding="utf-8") as file:
                    self._manifest.rows[table._meta.label_lower] = rows.dump(table, file)
            names = _names()
        for label in self._manifest.rows:
            path = scratch / label
            with path.open("rb") as dumped:
                self._add(f"{DATABASE}/{label}.jsonl", dumped, path.stat().st_size)
            path.unlink()
        return names

    def add_files(self, names: _Names) -> None:
        for sha256 in names.definitions:
            self._add_definition(definition_name(sha256))
        for sha256 in names.files:
            self._add_object(data_objects(), stored_name(sha256), f"{DATA}/{stored_name(sha256)}", sha256)
        for sha256 in names.gold:
            self._add_object(gold_objects(), sha256, f"{GOLD}/{sha256}", sha256)

    def add_manifest(self) -> None:
        body = json.dumps(asdict(self._manifest), indent=1).encode()
        entry = tarfile.TarInfo(MANIFEST)
        entry.size, entry.mode = len(body), _FILE_MODE
        self._archive.addfile(entry, io.BytesIO(body))

    def _add_definition(self, name: str) -> None:
        try:
            folder = data_objects().folder(name)
        except OSError as error:
            folder = Path()
            self._manifest.damaged.append(f"{name}: {error}")
        files = sorted(path for path in folder.rglob("*") if path.is_file()) if folder.name else []
        if not files:
            self._manifest.damaged.append(f"{name}: missing")
        for path in files:
            with path.open("rb") as file:
                self._add(f"{DATA}/{name}/{path.relative_to(folder).as_posix()}", file, path.stat().st_size)

    def _add_object(self, objects: Objects, name: str, member: str, sha256: str) -> None:
        try:
            with objects.local(name) as path, closing(path.open("rb")) as file:
                found = self._add(member, file, path.stat().st_size)
        except OSError as error:
            self._manifest.damaged.append(f"{member}: {error.strerror or error}")
        else:
            if found.sha256 != sha256:
                self._manifest.damaged.append(f"{member}: damaged (SHA-256 {found.sha256})")

    def _add(self, member: str, file: BinaryIO, size: int) -> Member:
        entry = tarfile.TarInfo(member)
        entry.size, entry.mode = size, _FILE_MODE
        reader = _Hashing(file)
        self._archive.addfile(entry, reader)
        self._manifest.members[member] = found = Member(reader.digest.hexdigest(), size)
        return found


class _Hashing(io.RawIOBase):
    """A wrapper around a reader that hashes all bytes read through it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self.digest = hashlib.sha256()

    def read(self, size: int = -1) -> bytes:
        piece = self._file.read(size)
        self.digest.update(piece)
        return piece


def _names() -> _Names:
    """Return the names of the files that the snapshot's rows refer to.

    The files of checked gold uploads are left out: each either became a gold standard or was discarded.
    """
    tasks = SharedTask.objects.all()
    files = {*Submission.objects.values_list("sha256", flat=True), *Run.objects.values_list("file_sha256", flat=True)}
    files |= {stored["sha256"] for task in tasks for stored in task.dataset_files.values()}
    waiting = GoldUpload.objects.filter(state__in=GoldUpload.UNDECIDED).exclude(sealed_sha256="")
    gold = {*GoldStandard.objects.values_list("sealed_sha256", flat=True)}
    gold |= {*waiting.values_list("sealed_sha256", flat=True)}
    return _Names(sorted({task.definition_sha256 for task in tasks}), sorted(files - {""}), sorted(gold))
