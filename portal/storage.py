"""Files addressed by their content: limited in size, hashed, stored durably and found by SHA-256.

An upload is a temporary file until `keep` moves it to its address, and is acknowledged only after that. Rejected
uploads leave nothing behind.
"""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Self
from uuid import UUID

from portal.objects.folder import require_space
from portal.objects.interface import data_objects, gold_objects
from portal.sealing import (
    HEAD_BYTES,
    Sealer,
    has_key_for,
    has_private_key,
    key_id,
    public_key,
    seal,
    sealed_for,
    unseal,
)

STALE_SECONDS = 24 * 3600  # a draft that is unchanged for this long has no writer any more
_PIECE = 1024 * 1024  # bytes
_TO_VALIDATE = "validations/"


class StorageUnavailable(OSError):
    """Nothing can be stored now: the disk is nearly full or read-only, or the bucket does not answer."""


class UploadTooLarge(Exception):
    """The file is larger than the limit; nothing was kept."""

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit} bytes")
        self.limit = limit


@dataclass(frozen=True, slots=True)
class UploadedFile:
    """The identity of an uploaded file."""

    name: str  # name given by the sender
    sha256: str
    size: int  # bytes


@dataclass(frozen=True, slots=True)
class StoredUpload(UploadedFile):
    """A complete upload on disk under a temporary name. The context discards it unless it was kept."""

    path: Path

    def keep(self) -> None:
        """Move the file to its address durably. The same content may exist there already."""
        with _storing():
            data_objects().put(self.path, stored_name(self.sha256))

    def keep_to_validate(self, key: UUID) -> None:
        """Store the file for a worker under a separate name, because it is deleted soon, unlike other uploads."""
        with _storing():
            data_objects().put(self.path, _name_to_validate(key))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.path.unlink(missing_ok=True)


def store_upload(chunks: Iterable[bytes], name: str, limit: int) -> StoredUpload:
    """Write an upload to a temporary file, hashed and synced. Raises `UploadTooLarge` above `limit` bytes."""
    with _storing():
        folder = data_objects().drafts()
        require_space(folder)
    draft, sha256, size = _write(chunks, folder, limit)
    return StoredUpload(name, sha256, size, draft)


def store_file(path: Path) -> str:
    """Store a copy of one of our files, e.g. a baseline or a dataset, and return its SHA-256."""
    known = file_sha256(path)
    if data_objects().has(stored_name(known)):
        return known
    require_space(data_objects().drafts())
    return store_content(_pieces(path))


def store_content(pieces: Iterable[bytes]) -> str:
    """Store a body and return its SHA-256."""
    draft, sha256, _size = _write(pieces, data_objects().drafts())
    data_objects().put(draft, stored_name(sha256))
    return sha256


def stored_file(sha256: str) -> AbstractContextManager[Path]:
    """Yield a local file with that content, which exists during the context. Raises `OSError` if it cannot be read."""
    return data_objects().local(stored_name(sha256))


def stored_name(sha256: str) -> str:
    """Return the name for that content, whether it is stored or not."""
    return f"files/{sha256[:2]}/{sha256}"


def has_file_to_validate(key: UUID) -> bool:
    """Return whether the validation's file exists."""
    return data_objects().has(_name_to_validate(key))


def stored_file_to_validate(key: UUID) -> AbstractContextManager[Path]:
    """Yield the validation's file. Raises `OSError` if it cannot be read."""
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


def file_sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def folder_sha256(contents: Mapping[str, str]) -> str:
    """Return the digest of a folder, computed from the names and SHA-256s of its files."""
    digest = hashlib.sha256()
    for name, sha256 in sorted(contents.items()):
        digest.update(f"{name}\0{sha256}\n".encode())
    return digest.hexdigest()


def store_pack(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Store a paper pack and return its SHA-256 and size.

    Packs are separate from uploads because they are deleted again.
    """
    draft, sha256, size = _write(pieces, data_objects().drafts())
    data_objects().put(draft, pack_name(sha256))
    return sha256, size


def forget_pack(sha256: str) -> None:
    """Delete a pack if it exists."""
    data_objects().delete(pack_name(sha256))


def pack_name(sha256: str) -> str:
    """Return the name of that pack, whether it is stored or not."""
    return f"packs/{sha256[:2]}/{sha256}"


def store_gold(content: bytes) -> str:
    """Seal and store a gold standard, and return the SHA-256 of the sealed file."""
    return store_sealed_gold(seal([content]))


def gold_sealer() -> Sealer:
    """Return a sealer for gold that arrives in pieces."""
    return Sealer(public_key())


def store_sealed_gold(sealed: Iterable[bytes]) -> str:
    """Store gold that was sealed while it arrived, and return the sealed file's SHA-256, which reveals nothing."""
    with _storing():
        folder = gold_objects().drafts()
        require_space(folder)
        draft, sha256, _size = _write(sealed, folder)
        gold_objects().put(draft, sha256)
    return sha256


def sealed_gold(sealed_sha256: str) -> bytes:
    """Return a sealed gold standard. Raises `OSError` if it cannot be read."""
    with closing(gold_objects().open(sealed_sha256)) as file:
        return file.read()


def open_gold(sealed_sha256: str) -> bytes:
    """Return the content of a gold standard. Raises `CannotOpen` in every process except the worker's."""
    return unseal(sealed_gold(sealed_sha256))


def reseal_gold(sealed_sha256: str) -> str | None:
    """Seal the same gold with the newest key and return its new name. None if it already uses that key."""
    sealed = sealed_gold(sealed_sha256)
    if sealed_for(sealed) == key_id(public_key()):
        return None
    return store_sealed_gold(seal([unseal(sealed)]))


def can_open_gold() -> bool:
    """Return whether this process has the worker's key."""
    return has_private_key()


def can_open_this_gold(sealed_sha256: str) -> bool:
    """Return whether this process has the key for that file. Raises `OSError` if the file cannot be read."""
    with closing(gold_objects().open(sealed_sha256)) as file:
        return has_key_for(file.read(HEAD_BYTES))


@contextmanager
def _storing() -> Iterator[None]:
    """Convert errors of storage only, not those from reading the sender's upload."""
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
    """Delete old drafts of killed processes. Their age is measured by the file system's own clock."""
    newest_of_stale = draft.stat().st_mtime - STALE_SECONDS
    with os.scandir(draft.parent) as entries:
        for entry in entries:
            with suppress(OSError):  # its writer may have just finished
                if entry.stat().st_mtime < newest_of_stale:
                    shutil.rmtree(entry) if entry.is_dir() else Path(entry).unlink()


def _pieces(path: Path) -> Iterable[bytes]:
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            yield piece
