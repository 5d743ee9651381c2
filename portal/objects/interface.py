"""What a place for bytes can do, and which place the settings name."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO, Protocol, cast

from django.core.files.storage import storages


class Objects(Protocol):
    """Bytes by name. A name holds the digest of its content, so what is there never changes.

    Whatever goes wrong is an `OSError`; `FileNotFoundError` where there is no such object.
    """

    def probe(self) -> None:
        """Whether something could be kept now; `OSError` where not."""

    def drafts(self) -> Path:
        """A folder of this machine for what is not yet at its address."""

    def put(self, draft: Path, name: str) -> None:
        """Durable, and found under its name, when this returns; the draft is gone then."""

    def put_folder(self, draft: Path, name: str) -> None:
        """The same for a whole folder."""

    def has(self, name: str) -> bool: ...

    def has_folder(self, name: str) -> bool: ...

    def open(self, name: str) -> BinaryIO:
        """To be read from the beginning, piece by piece."""

    def local(self, name: str) -> AbstractContextManager[Path]:
        """A file of this machine with that content, while the context lasts."""

    def folder(self, name: str) -> Path:
        """A folder of this machine with that content, for good."""

    def link(self, name: str, file_name: str, method: str) -> str | None:
        """An address at which anybody gets the bytes, saved as `file_name`, for a minute; None where we serve them."""

    def delete(self, name: str) -> None:
        """Nothing happens where there is no such object."""

    def names(self) -> Iterator[str]:
        """All that is there, but for drafts."""


def data_objects() -> Objects:
    """Definitions, uploads, baselines and datasets."""
    return cast(Objects, storages["data"])


def gold_objects() -> Objects:
    """Sealed gold standards, each named by the SHA-256 of its sealed bytes."""
    return cast(Objects, storages["gold"])
