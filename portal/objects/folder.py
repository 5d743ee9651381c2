"""Objects as files on this machine, or on a volume that several machines share."""

import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

# Web, workers and commands may be different users of one group, so that group can read all files.
_FILE_MODE, _FOLDER_MODE = 0o640, 0o750
SPARE_BYTES = 256 * 1024**2  # bytes of the disk that uploads cannot use
DRAFTS = "incoming"  # in the same file system, so that a draft is renamed instead of copied


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
        """Rename the file and sync the folder, so that the name survives a power failure, too."""
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

    def open(self, name: str) -> BinaryIO:
        return (self._root / name).open("rb")

    @contextmanager
    def local(self, name: str) -> Iterator[Path]:
        address = self._root / name
        address.stat()  # raises an error if there is no file, like a bucket
        yield address

    def folder(self, name: str) -> Path:
        return self._root / name

    def link(self, name: str, file_name: str, method: str) -> None:
        return None

    def delete(self, name: str) -> None:
        (self._root / name).unlink(missing_ok=True)

    def names(self) -> Iterator[str]:
        for path in sorted(self._root.rglob("*")):
            name = path.relative_to(self._root)
            if path.is_file() and name.parts[0] != DRAFTS:
                yield name.as_posix()


def require_space(folder: Path) -> None:
    """Raise `OSError` if the disk is nearly full. The rest is reserved for the database and for evaluating uploads."""
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
    """Rename a folder to the address of its content, unless another process has stored it first."""
    address.parent.mkdir(parents=True, exist_ok=True)
    for path in (draft, *draft.rglob("*")):
        path.chmod(_FOLDER_MODE if path.is_dir() else _FILE_MODE)
    try:
        draft.rename(address)
    except OSError:
        if not address.is_dir():
            raise
        shutil.rmtree(draft)
