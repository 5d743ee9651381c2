"""A task's data files: name, size, checksum, license and release."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from portal.models.task import DatasetDefinition
from portal.queries.tasks import TaskPage

PACKED = (".bz2", ".gz", ".xz", ".zst")  # extensions that are kept together with the one before them


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """A data file as one person sees it."""

    slug: str
    title: str
    file_name: str  # name for the download
    size: int | None  # bytes; None if the file is missing
    sha256: str  # empty before the release, because it would confirm guesses at the content
    licence: str
    access: str  # public, registered, approved or password
    released: datetime | None  # None if the file is already released
    is_encrypted: bool  # whether the file is encrypted for this reader

    @property
    def who(self) -> str:
        """Say who can download the file."""
        return {
            "public": _("everyone"),
            "registered": _("members of a team"),
            "approved": _("members of an approved team"),
            "password": _("members of an approved team who enter its password"),
        }[self.access]


def dataset_line(page: TaskPage, dataset: DatasetDefinition, at: datetime) -> DatasetLine:
    """Return the file as the reader of `page` sees it. Organizers get every file at any time, and never encrypted."""
    is_encrypted = dataset.encrypted and not page.is_organizer
    is_released = dataset.released is None or dataset.released <= at
    stored = page.shared_task.stored_dataset(dataset.slug)
    return DatasetLine(
        slug=dataset.slug,
        title=dataset.title,
        file_name=_saved_name(page, dataset) + (".zip" if is_encrypted else ""),
        size=stored.size if stored else None,
        sha256=stored.sha256 if stored and (is_released or page.is_organizer) else "",
        licence=dataset.licence,
        access=dataset.access,
        released=None if is_released else dataset.released,
        is_encrypted=is_encrypted,
    )


def _saved_name(page: TaskPage, dataset: DatasetDefinition) -> str:
    """Return a name that is unique in the portal. Task folders may contain several files with the same name."""
    endings = dataset.file.suffixes[-2:]
    ending = "".join(endings) if endings and endings[-1] in PACKED else dataset.file.suffix
    return f"{page.shared_task.slug}-{dataset.slug}{ending}"
