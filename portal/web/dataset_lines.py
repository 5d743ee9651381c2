"""The files on a data page: size, license, and what the user must still do to get them."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

from portal.models.task import DatasetDefinition
from portal.permissions import DataAccess, Obstacle, data_access
from portal.queries.tasks import TaskPage

PACKED = (".bz2", ".gz", ".xz", ".zst")  # extensions that are kept together with the one before them
STAMPS = "data_passwords"  # session key of the mapping: shared task → stamp of its verified password


@dataclass(frozen=True, slots=True)
class AccessStep:
    """A step that the user must still complete, with a link to it."""

    text: str
    link: str
    label: str

    @property
    def reason(self) -> str:
        """Return the text without a first sentence that is the same as the link's label."""
        return self.text.removeprefix(f"{self.label}.").strip()


@dataclass(frozen=True, slots=True)
class DatasetLine:
    """One file on the data page."""

    slug: str
    title: str
    file_name: str  # name for the download
    size: int | None  # bytes; None if the file is missing
    sha256: str  # empty before the release, because it would confirm guesses at the content
    licence: str
    who: str
    released: datetime | None
    steps: list[AccessStep]  # steps still needed; the password of an encrypted file is requested at download
    is_encrypted: bool  # whether the file is encrypted for this reader

    @property
    def can_download(self) -> bool:
        return not self.steps and self.size is not None


def own_access(request: HttpRequest, page: TaskPage) -> DataAccess:
    known = request.session.get(STAMPS, {}).get(str(page.shared_task.pk), "")
    return data_access(request.user, page.shared_task, known)


def dataset_line(page: TaskPage, dataset: DatasetDefinition, own: DataAccess, at: datetime) -> DatasetLine:
    who = {
        "public": _("everyone"),
        "registered": _("members of a team"),
        "approved": _("members of an approved team"),
        "password": _("members of an approved team who enter its password"),
    }
    is_encrypted = dataset.encrypted and not own.is_organizer
    steps = [
        step(page, obstacle)
        for obstacle in own.obstacles(dataset.access, dataset.released, at)
        if not (is_encrypted and obstacle == Obstacle.PASSWORD)
    ]
    is_released = dataset.released is None or dataset.released <= at
    stored = page.shared_task.stored_dataset(dataset.slug)
    return DatasetLine(
        slug=dataset.slug,
        title=dataset.title,
        file_name=_saved_name(page, dataset) + (".zip" if is_encrypted else ""),
        size=stored.size if stored else None,
        sha256=stored.sha256 if stored and (is_released or not steps) else "",
        licence=dataset.licence,
        who=who[dataset.access],
        released=None if is_released else dataset.released,
        steps=steps,
        is_encrypted=is_encrypted,
    )


def _saved_name(page: TaskPage, dataset: DatasetDefinition) -> str:
    """Return a name that is unique in the portal. Task folders may contain several files with the same name."""
    endings = dataset.file.suffixes[-2:]
    ending = "".join(endings) if endings and endings[-1] in PACKED else dataset.file.suffix
    return f"{page.shared_task.slug}-{dataset.slug}{ending}"


def step(page: TaskPage, obstacle: Obstacle) -> AccessStep:
    slug = page.shared_task.slug
    back = reverse("task_data", args=[slug])
    team = (reverse("team", args=[slug]), _("Your team"))
    link, label = {
        Obstacle.NOT_RELEASED: ("", ""),
        Obstacle.SIGNED_OUT: (f"{reverse('account_login')}?{urlencode({'next': back})}", _("Sign in")),
        Obstacle.NO_TEAM: (team[0], _("Create or join a team")),
        Obstacle.UNSIGNED: (f"{reverse('agreement', args=[slug])}?{urlencode({'next': back})}", _("Read and sign")),
        Obstacle.PASSWORD: (reverse("data_password", args=[slug]), _("Enter your team’s password")),
    }.get(obstacle, team)
    return AccessStep(str(obstacle.label), link, label)
