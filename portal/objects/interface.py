"""The interface of storage, and the storages of the settings."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.core.files.storage import storages


class Objects(Protocol):
    """Files by name. A name contains the digest of its content, so files never change.

    All errors are `OSError`; `FileNotFoundError` if there is no such object.
    """

    def probe(self) -> None:
        """Raise `OSError` unless files could be stored now."""

    def drafts(self) -> Path:
        """A local folder for files that are not stored yet."""

    def put(self, draft: Path, name: str) -> None:
        """Store a draft: durable and found by its name when this returns. The draft is gone then."""

    def put_folder(self, draft: Path, name: str) -> None:
        """Store a whole folder."""

    def has(self, name: str) -> bool: ...

    def has_folder(self, name: str) -> bool: ...

    def open(self, name: str) -> BinaryIO:
        """A stream from the beginning."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """A local file with that content, during the context."""

    def folder(self, name: str) -> Path:
        """A local folder with that content, permanently."""

    def link(self, name: str, file_name: str, method: str) -> str | None:
        """A URL at which anyone can download the file as `file_name` for a minute; None if the portal serves it."""

    def delete(self, name: str) -> None:
        """Delete an object, if it exists."""

    def names(self) -> Iterator[str]:
        """All names, without drafts."""


def data_objects() -> Objects:
    """Storage of definitions, uploads, baselines and datasets."""
    return cast(Objects, storages["data"])


def gold_objects() -> Objects:
    """Storage of sealed gold standards, each named by the SHA-256 of its sealed bytes."""
    return cast(Objects, storages["gold"])
