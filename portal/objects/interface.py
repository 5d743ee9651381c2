"""The storage interface, and the storages that the settings choose."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.core.files.storage import storages


class Objects(Protocol):
    """Files by name. A name contains the digest of its content, so files never change.

    All errors are `OSError`. A missing object raises `FileNotFoundError`.
    """

    def probe(self) -> None:
        """Raise `OSError` if no file can be stored now."""

    def drafts(self) -> Path:
        """The local folder for files that are not stored yet."""

    def put(self, draft: Path, name: str) -> None:
        """Store a draft durably under its name. The draft itself is removed."""

    def put_folder(self, draft: Path, name: str) -> None:
        """Store a whole folder."""

    def has(self, name: str) -> bool: ...

    def has_folder(self, name: str) -> bool: ...

    def open(self, name: str) -> BinaryIO:
        """Open the file as a stream that starts at its beginning."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Yield a local file with that content, which exists during the context."""

    def folder(self, name: str) -> Path:
        """Return a local folder with that content. It is not deleted."""

    def link(self, name: str, file_name: str, method: str) -> str | None:
        """Return a URL from which anyone can download the file as `file_name` for a minute.

        None if the portal serves it.
        """

    def delete(self, name: str) -> None:
        """Delete an object if it exists."""

    def names(self) -> Iterator[str]:
        """Return all names, without drafts."""


def data_objects() -> Objects:
    """Return the storage of definitions, uploads, baselines and datasets."""
    return cast(Objects, storages["data"])


def gold_objects() -> Objects:
    """Return the storage of sealed gold standards, each named by the SHA-256 of its sealed bytes."""
    return cast(Objects, storages["gold"])
