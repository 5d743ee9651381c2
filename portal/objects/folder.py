"""Objects stored as files on this machine, or on a volume that several machines share."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

# Web servers, workers and commands may run as different users in one group, so the group can read all files.
_FILE_MODE, _FOLDER_MODE = 0o640, 0o750
SPARE_BYTES = 256 * 1024**2  # disk space that uploads leave free
DRAFTS = "incoming"  # on the same file system, so that a draft can be renamed instead of copied


class Folder:
    def __init__(self, location: Path) -> None:
        self._root = Path(location)

    def probe(self) -> None:
        write_probe(self.drafts())

    def drafts(self) -> Path:
        folder = self._root / DRAFTS
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def put(self, draft: Path, name: str) -> None:
        """Rename the file and sync its folder, so that the new name survives a power failure."""
        address = self._root / name
        address.parent.mkdir(parents=True, exist_ok=True)
        draft.chmod(_FILE_MODE)
        draft.replace(address)
        descriptor = os.open(address.parent, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def put_folder(self, draft: Path, name: str) -> None:
        settle_folder(draft, self._root / name)

    def has(self, name: str) -> bool:
        return (self._root / name).exists()

    def has_folder(self, name: str) -> bool:
        return self.has(name)

    def stored_at(self, name: str) -> datetime | None:
        try:
            return datetime.fromtimestamp((self._root / name).stat().st_mtime, UTC)
        except FileNotFoundError:
            return None

    def folder_stored_at(self, name: str) -> datetime | None:
        return self.stored_at(name)

    def open(self, name: str) -> BinaryIO:
        return (self._root / name).open("rb")

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        address = self._root / name
        address.stat()  # raises an error if there is no file, as a bucket does
        yield address

    def folder(self, name: str) -> Path:
        return self._root / name

    def link(self, name: str, file_name: str, method: str) -> None:
        return None

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def delete_folder(self, name: str) -> None:
        remove_folder(self._root / name, self.drafts())

    def names(self) -> Iterator[str]:
        for path in sorted(self._root.rglob("*")):
            name = path.relative_to(self._root)
            if path.is_file() and name.parts[0] != DRAFTS:
                yield name.as_posix()


def require_space(folder: Path) -> None:
    """Raise `OSError` if the disk is nearly full.

    The space that is left is reserved for the database and for evaluating uploads.
    """
    if shutil.disk_usage(folder).free < SPARE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def write_probe(folder: Path) -> None:
    """Write and delete a few bytes. Raise `OSError` if the disk is nearly full, broken or read-only."""
    require_space(folder)
    with tempfile.TemporaryFile(dir=folder) as file:
        file.write(b"ready?")
        file.flush()
        os.fsync(file.fileno())


def settle_folder(draft: Path, address: Path) -> None:
    """Move a folder to this path. If its content is already stored there, only update the stored folder's time."""
    address.parent.mkdir(parents=True, exist_ok=True)
    for path in (draft, *draft.rglob("*")):
        path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)
    try:
        draft.rename(address)
    except OSError:
        if not address.is_dir():
            raise
        shutil.rmtree(draft)
        os.utime(address)


def remove_folder(address: Path, drafts: Path) -> None:
    """Delete a folder if it exists. It is renamed first, so that no one reads a folder that is only partly deleted."""
    removed = Path(tempfile.mkdtemp(dir=drafts))
    with suppress(FileNotFoundError):
        address.rename(removed)
    shutil.rmtree(removed)
