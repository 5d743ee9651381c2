"""The storage interface, and the storages selected in the settings."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from datetime import datetime
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.core.files.storage import storages


class Objects(Protocol):
    """Files and folders by name. The content of a name never changes.

    Names contain a digest of the content or a unique key. All errors are `OSError`. If an object is missing, the error
    is `FileNotFoundError`.
    """

    def probe(self) -> None:
        """Raise `OSError` if files cannot be stored now."""

    def drafts(self) -> Path:
        """Return the local folder for files that are not stored yet."""

    def put(self, draft: Path, name: str) -> None:
        """Store a draft durably under `name` and remove the draft."""

    def put_folder(self, draft: Path, name: str) -> None:
        """Store a whole folder under `name` and remove the draft."""

    def has(self, name: str) -> bool: ...

    def has_folder(self, name: str) -> bool: ...

    def stored_at(self, name: str) -> datetime | None:
        """Return when the object was last stored, by the storage's clock. None if it does not exist."""

    def folder_stored_at(self, name: str) -> datetime | None:
        """Return when the folder was last stored. Storing the same folder again updates this time."""

    def open(self, name: str) -> BinaryIO:
        """Open the file as a stream, positioned at its beginning."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """Yield a local file with the object's content. It may be deleted when the context ends."""

    def folder(self, name: str) -> Path:
        """Return the path of a local folder with the stored folder's content. Only `delete_folder` deletes it."""

    def link(self, name: str, file_name: str, method: str) -> str | None:
        """Return a URL, valid for a minute, from which anyone can download the file as `file_name`.

        Return None if the portal serves the file itself.
        """

    def delete(self, name: str) -> None:
        """Delete an object if it exists."""

    def delete_folder(self, name: str) -> None:
        """Delete a folder if it exists. Copies on other machines are kept."""

    def names(self) -> Iterator[str]:
        """Yield the names of all stored files. Drafts are not included."""


def data_objects() -> Objects:
    """Return the storage of definitions, uploads, baselines and datasets."""
    return cast(Objects, storages["data"])


def gold_objects() -> Objects:
    """Return the storage of sealed gold standards, each named by the SHA-256 of its sealed bytes."""
    return cast(Objects, storages["gold"])
