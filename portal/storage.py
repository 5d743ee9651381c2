"""Files addressed by their content: limited in size, hashed, stored durably and found by SHA-256.

An upload is a temporary file until `keep` moves it to its permanent name. Only then is the upload acknowledged.
Rejected uploads leave no files behind.
"""

import errno
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Self
from uuid import UUID

from django.db import connection, transaction

from portal.models.task import definition_name
from portal.objects.folder import require_space
from portal.objects.interface import Objects, data_objects, gold_objects
from portal.sealing import (
    HEAD_BYTES,
    has_key_for,
    key_id,
    public_key,
    seal,
    sealed_for,
    unseal,
)

STALE_SECONDS = 24 * 3600  # if a draft has not changed for this long, no process is still writing it
# A copy stored longer ago is stored again, so that cleanup (see UNUSED) cannot delete it before its row is written.
FRESH = timedelta(days=1)
UNUSED = timedelta(days=3)  # age at which files may be deleted if no row refers to them
_PIECE = 1024 * 1024  # bytes
_TO_VALIDATE = "validations/"


class StorageUnavailable(OSError):
    """Files cannot be stored now: the disk is nearly full or read-only, or the bucket does not respond."""


class UploadTooLarge(Exception):
    """The file is larger than the limit. Nothing was kept."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """The name, size and SHA-256 of an uploaded file."""

    name: str  # name given by the sender
    sha256: str
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class StoredUpload(UploadedFile):
    """A complete upload, on disk under a temporary name. It is deleted when the context ends unless it was kept."""

    path: Path

    def keep(self) -> None:
        """Durably store the file under the name for its content. The same content may already be stored."""
        name = stored_name(self.sha256)
        with name_held(name), _storing():
            data_objects().put(self.path, name)

    def keep_to_validate(self, key: UUID) -> None:
        """Store the file for a worker under a separate name. Unlike other uploads, it will soon be deleted."""
        with _storing():
            data_objects().put(self.path, _name_to_validate(key))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)


def store_upload(chunks: Iterable[bytes], name: str, limit: int) -> StoredUpload:
    """Write an upload to a temporary file, hash it and sync it to disk.

    Raises:
        UploadTooLarge: the upload has more than `limit` bytes.
    """
    with _storing():
        folder = data_objects().drafts()
        require_space(folder)
    draft, sha256, size = _write(chunks, folder, limit)
    return StoredUpload(name, sha256, size, draft)


Pieces = Callable[[], Iterable[bytes]]  # returns a body, and can be called more than once


def store_content(sha256: str, pieces: Pieces, at: datetime) -> None:
    """Store local content, such as a baseline or a dataset, unless it was stored recently."""
    name = stored_name(sha256)
    if _is_fresh(data_objects().stored_at(name), at):
        return
    require_space(data_objects().drafts())
    draft, _sha256, _size = _write(pieces(), data_objects().drafts())
    with name_held(name):
        data_objects().put(draft, name)


def store_definition(sha256: str, files: Mapping[str, Path], at: datetime) -> None:
    """Store the public files of a task's folder, given by name, unless they were stored recently."""
    name = definition_name(sha256)
    if _is_fresh(data_objects().folder_stored_at(name), at):
        return
    require_space(data_objects().drafts())
    draft = Path(tempfile.mkdtemp(dir=data_objects().drafts()))
    for file, path in files.items():
        (draft / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, draft / file)
    with name_held(name):
        data_objects().put_folder(draft, name)


def forget_unused(name: str, at: datetime) -> bool:
    """Delete a file or definition to which no row refers. Return True if it is gone.

    A file that was stored recently is kept, because its row may not be committed yet.
    """
    objects = data_objects()
    is_folder = name.startswith(definition_name(""))
    with name_held(name, alone=True):
        stored_at = objects.folder_stored_at(name) if is_folder else objects.stored_at(name)
        if stored_at is not None and at - stored_at < UNUSED:
            return False
        (objects.delete_folder if is_folder else objects.delete)(name)
    return True


def _is_fresh(stored_at: datetime | None, at: datetime) -> bool:
    return stored_at is not None and at - stored_at < FRESH


@contextmanager
def name_held(name: str, *, alone: bool = False) -> Iterator[None]:
    """Lock a name until the transaction ends: a file's, so that no process deletes it while another one stores it.

    With `alone`, no other process holds the name. SQLite needs no lock, because it has only one writer at a time.
    """
    with transaction.atomic(savepoint=False):  # callers do not go on in their transaction if this fails
        if connection.vendor == "postgresql":
            lock = "pg_advisory_xact_lock" if alone else "pg_advisory_xact_lock_shared"
            with connection.cursor() as cursor:
                cursor.execute(f"SELECT {lock}(hashtextextended(%s, 0))", [name])
        yield


def stored_file(sha256: str) -> AbstractContextManager[Path]:
    """Yield a local file with this content. It may be deleted when the context ends.

    Raises:
        OSError: the file cannot be read.
    """
    return data_objects().local(stored_name(sha256))


def stored_name(sha256: str) -> str:
    """Return the name for this content, whether or not it is stored."""
    return f"files/{sha256[:2]}/{sha256}"


def has_file_to_validate(key: UUID) -> bool:
    """Return whether the validation's file exists."""
    return data_objects().has(_name_to_validate(key))


def stored_file_to_validate(key: UUID) -> AbstractContextManager[Path]:
    """Yield a local copy of the validation's file.

    Raises:
        OSError: the file cannot be read.
    """
    return data_objects().local(_name_to_validate(key))


def forget_file_to_validate(key: UUID) -> None:
    """Delete the validation's file if it exists."""
    data_objects().delete(_name_to_validate(key))


def files_to_validate() -> Iterator[UUID]:
    """Return the keys of all validations that have a file."""
    names = (name.removeprefix(_TO_VALIDATE) for name in data_objects().names() if name.startswith(_TO_VALIDATE))
    return map(UUID, names)


def _name_to_validate(key: UUID) -> str:
    return f"{_TO_VALIDATE}{key}"


def content_sha256(pieces: Pieces) -> str:
    digest = hashlib.sha256()
    for piece in pieces():
        digest.update(piece)
    return digest.hexdigest()


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(contents: Mapping[str, str]) -> str:
    """Return the digest of a folder, computed from the names and hashes of its files."""
    digest = hashlib.sha256()
    for name, sha256 in sorted(contents.items()):
        digest.update(f"{name}\0{sha256}\n".encode())
    return digest.hexdigest()


def store_pack(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Store a paper pack and return its SHA-256 and size.

    Packs are kept separate from uploads, because packs can be deleted later.
    """
    draft, sha256, size = _write(pieces, data_objects().drafts())
    data_objects().put(draft, pack_name(sha256))
    return sha256, size


def has_pack(sha256: str) -> bool:
    return data_objects().has(pack_name(sha256))


def forget_pack(sha256: str) -> None:
    """Delete a pack if it exists."""
    data_objects().delete(pack_name(sha256))


def pack_name(sha256: str) -> str:
    """Return the name of this pack, whether or not it is stored."""
    return f"packs/{sha256[:2]}/{sha256}"


def store_gold(content: bytes) -> str:
    """Seal and store a gold standard, and return the SHA-256 of the sealed file."""
    return store_sealed_gold(seal([content]))


def store_sealed_gold(sealed: Iterable[bytes]) -> str:
    """Store gold that was sealed on receipt. Return the sealed file's SHA-256, which reveals nothing about the gold."""
    with _storing():
        folder = gold_objects().drafts()
        require_space(folder)
        draft, sha256, _size = _write(sealed, folder)
        gold_objects().put(draft, sha256)
    return sha256


def sealed_gold(sealed_sha256: str) -> bytes:
    """Return a sealed gold standard.

    Raises:
        OSError: the file cannot be read.
    """
    with closing(gold_objects().open(sealed_sha256)) as file:
        return file.read()


def open_gold(sealed_sha256: str) -> bytes:
    """Return the content of a gold standard.

    Raises:
        CannotOpen: this process lacks the key (only workers have it), or the file was changed.
        OSError: the file cannot be read.
    """
    return unseal(sealed_gold(sealed_sha256))


def reseal_gold(sealed_sha256: str) -> str | None:
    """Seal the same gold with the newest key and return its new name, or None if it is already sealed with that key."""
    sealed = sealed_gold(sealed_sha256)
    if sealed_for(sealed) == key_id(public_key()):
        return None
    return store_gold(unseal(sealed))


def can_open_this_gold(sealed_sha256: str) -> bool:
    """Return whether this process has the key for the file.

    Raises:
        OSError: the file cannot be read.
    """
    with closing(gold_objects().open(sealed_sha256)) as file:
        return has_key_for(file.read(HEAD_BYTES))


def is_for_another_key(sealed_sha256: str) -> bool:
    """Return whether the file was sealed for a key other than the one that is used now. No private key is needed.

    Raises:
        OSError: the file cannot be read.
    """
    with closing(gold_objects().open(sealed_sha256)) as file:
        return sealed_for(file.read(HEAD_BYTES)) != key_id(public_key())


def try_storage(objects: Objects) -> None:
    """Store, find and delete a file, which takes longer than the probe but also shows rights that a bucket lacks.

    Raises:
        OSError: one of these is not possible. The text says why.
    """
    draft, sha256, _size = _write([b"ready?"], objects.drafts())
    name = f"probes/{sha256}"
    try:
        objects.put(draft, name)
        if not objects.has(name):
            raise FileNotFoundError(errno.ENOENT, "a file that was just stored is not there")
        objects.delete(name)
    finally:
        draft.unlink(missing_ok=True)


@contextmanager
def _storing() -> Iterator[None]:
    """Convert an `OSError` to `StorageUnavailable`. Do not read the sender's upload in this context."""
    try:
        yield
    except OSError as error:
        raise StorageUnavailable(*error.args) from error


def _write(chunks: Iterable[bytes], folder: Path, limit: int | None = None) -> tuple[Path, str, int]:
    """Write the content to a new file with mode 0600, and return its path, SHA-256 and size."""
    with _storing():
        descriptor, name = tempfile.mkstemp(dir=folder)
    draft = Path(name)
    _clear_up(draft)
    digest = hashlib.sha256()
    size = 0
    try:
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if limit is not None and size > limit:
                    raise UploadTooLarge(limit)
                digest.update(chunk)
                with _storing():
                    file.write(chunk)
            with _storing():
                file.flush()
                os.fsync(file.fileno())
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft, digest.hexdigest(), size


def _clear_up(draft: Path) -> None:
    """Delete old drafts of processes that were killed.

    The age of drafts is measured by the file system's own clock.
    """
    newest_of_stale = draft.stat().st_mtime - STALE_SECONDS
    with os.scandir(draft.parent) as entries:
        for entry in entries:
            with suppress(OSError):  # the draft may have just been moved or deleted
                if entry.stat().st_mtime < newest_of_stale:
                    shutil.rmtree(entry) if entry.is_dir() else Path(entry).unlink()


def pieces_of(path: Path) -> Iterator[bytes]:
    """Yield the file's content in pieces."""
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
