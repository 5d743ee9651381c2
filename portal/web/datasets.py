"""Data files for pages and the API: the steps before a download, and the download itself."""

from dataclasses import dataclass
from datetime import datetime

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_variables

from portal.actions.downloads import record_download
from portal.models.task import DatasetDefinition, StoredDataset
from portal.permissions import DataAccess, Obstacle, data_access
from portal.queries.datasets import dataset_line
from portal.queries.tasks import TaskPage
from portal.web.access import client_address
from portal.web.files import ByteRange, encrypted_response, file_response, no_such_bytes, wanted_range

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


def known_stamp(request: HttpRequest, page: TaskPage) -> str:
    """Return the stamp of the password that was entered in this session, or an empty string."""
    stamp: str = request.session.get(STAMPS, {}).get(str(page.shared_task.pk), "")
    return stamp


def own_access(request: HttpRequest, page: TaskPage) -> DataAccess:
    return data_access(request.user, page.shared_task, known_stamp(request, page))


@sensitive_variables("password")
def dataset_response(
    request: HttpRequest,
    page: TaskPage,
    dataset: DatasetDefinition,
    stored: StoredDataset,
    at: datetime,
    *,
    stamp: str,
    password: str = "",
) -> HttpResponseBase:
    """Return the file or the requested range after the download has been recorded. HEAD requests are not recorded.

    If the file is encrypted for the user, it is sent as a whole, in an archive encrypted with `password`.

    Raises:
        ActionError: one of `OBSTACLES`.
    """
    line = dataset_line(page, dataset, at)
    part = ByteRange(0, stored.size, stored.size) if line.is_encrypted else wanted_range(request, stored)
    record_download(
        request.user,
        page.shared_task,
        at,
        dataset=dataset,
        stored=stored,
        address=client_address(request),
        stamp=stamp,
        first_byte=part.first if part and request.method != "HEAD" else None,
    )
    if part is None:
        return no_such_bytes(stored)
    if line.is_encrypted:
        return encrypted_response(stored, line.file_name, password)
    return file_response(request, stored, part, line.file_name)


def access_steps(page: TaskPage, dataset: DatasetDefinition, own: DataAccess, at: datetime) -> list[AccessStep]:
    """Return what the user must do before the download. An encrypted file's password is requested at the download."""
    obstacles = own.obstacles(dataset.access, dataset.released, at)
    return [step(page, obstacle) for obstacle in obstacles if not (dataset.encrypted and obstacle == Obstacle.PASSWORD)]


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
