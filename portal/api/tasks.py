"""Shared tasks, their phases, data, agreement and announcements; and the token's owner."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import reverse
from django.views.decorators.debug import sensitive_variables
from ninja import Query

from portal.actions.data_password import give_password
from portal.actions.downloads import OBSTACLES
from portal.api.access import find_page, find_task, person
from portal.api.paging import Page, Paging, as_page, page_of
from portal.api.problems import NO_SUCH_RANGE, problem_response
from portal.api.requests import ApiRequest
from portal.api.routes import file, read
from portal.api.schemas.account import MeAnswer, OwnTeamAnswer, TokenAnswer
from portal.api.schemas.tasks import (
    AgreementAnswer,
    AnnouncementAnswer,
    DatasetAnswer,
    ObstacleAnswer,
    PhaseAnswer,
    TaskAnswer,
    TaskSummary,
)
from portal.models import SharedTask
from portal.models.task import DatasetDefinition
from portal.permissions import DataAccess, data_access, may_create_tasks
from portal.queries.agreement import current_agreement
from portal.queries.datasets import dataset_line
from portal.queries.quota import remaining
from portal.queries.task_folder import folder_zip
from portal.queries.tasks import TaskPage
from portal.queries.uploads import upload_to_replace
from portal.queries.visible import announcements_of
from portal.web.datasets import dataset_response

DATA_PASSWORD = "X-Data-Password"
"""The header for a team's data password, if the file requires one."""


@read("You", "/me", MeAnswer)
def me(request: ApiRequest) -> MeAnswer:
    """The token's owner and permissions."""
    user = person(request)
    token = user.token
    assert token is not None
    only = {} if token.shared_task is None else {"shared_task": token.shared_task}
    memberships = user.memberships.filter(**only).select_related("team", "shared_task").order_by("shared_task__slug")
    return MeAnswer(
        name=user.name,
        email=user.email,
        may_create_tasks=may_create_tasks(user),
        token=TokenAnswer.read(token, task=token.shared_task.slug if token.shared_task else None),
        teams=[
            OwnTeamAnswer(
                task=one.shared_task.slug, team=one.team.name, state=one.team.state, is_captain=one.is_captain
            )
            for one in memberships
        ],
        organizes=list(SharedTask.objects.organized_by(user).order_by("slug").values_list("slug", flat=True)),
    )


@read("Tasks", "/tasks", Page[TaskSummary])
def tasks(request: ApiRequest, paging: Query[Paging]) -> dict[str, Any]:
    """All shared tasks that you can see, most recent year first, each with its next date."""
    rows = SharedTask.objects.visible_to(request.user).prefetch_related("phases__extra_times")
    found = page_of(request, rows, ("-year", "slug"), paging)
    return as_page(request, [TaskSummary.of(one, request.at) for one in found])


@read("Tasks", "/tasks/{slug:task}", TaskAnswer)
def task(request: ApiRequest, task: str) -> TaskAnswer:
    """A shared task with its tracks."""
    return TaskAnswer.seen(find_page(request, task), request.at)


@read("Tasks", "/tasks/{slug:task}/phases", list[PhaseAnswer])
def phases(request: ApiRequest, task: str) -> list[PhaseAnswer]:
    """The phases in order, each with its limits and the URLs of its leaderboards."""
    page = find_page(request, task)
    team = page.participating_team

    def answer(one: Any) -> PhaseAnswer:
        limits = remaining(team, request.user, one, request.at) if team else []
        boards = [f"{reverse('api:leaderboard', args=[task, track.slug])}?phase={one.slug}" for track in one.tracks()]
        replaces = upload_to_replace(team, one) if team else None
        return PhaseAnswer.of(one, page, request.at, limits, boards, replaces)

    return [answer(one) for one in page.phases]


@read(
    "Tasks",
    "/tasks/{slug:task}/folder.zip",
    None,
    openapi_extra=file("application/zip", "The rules, pages and public item ids that `agon check` needs"),
)
def folder(request: ApiRequest, task: str) -> HttpResponse:
    """The task folder, for checking runs on your own machine."""
    found = find_task(request, task)
    headers = {
        "Content-Disposition": f'attachment; filename="{task}.zip"',
        "ETag": f'"{found.definition_sha256}"',
    }
    return HttpResponse(folder_zip(found), content_type="application/zip", headers=headers)


@read("Tasks", "/tasks/{slug:task}/announcements", Page[AnnouncementAnswer])
def announcements(request: ApiRequest, task: str, paging: Query[Paging]) -> dict[str, Any]:
    """The organizers' announcements, newest first."""
    found = page_of(request, announcements_of([find_task(request, task)]), ("-at", "-pk"), paging)
    return as_page(request, [AnnouncementAnswer.of(one) for one in found])


@read("Data", "/tasks/{slug:task}/agreement", AgreementAnswer)
def agreement(request: ApiRequest, task: str) -> AgreementAnswer:
    """The current data agreement."""
    found = current_agreement(find_task(request, task), request.user)
    if found is None:
        raise Http404
    return AgreementAnswer.read(found)


@read("Data", "/tasks/{slug:task}/datasets", list[DatasetAnswer])
def datasets(request: ApiRequest, task: str) -> list[DatasetAnswer]:
    """The task's data files. For each file, the steps that you must complete before you can download it."""
    page = find_page(request, task)
    own = data_access(request.user, page.shared_task)
    return [_dataset(page, one, own, request.at) for one in page.shared_task.definition.datasets]


@read("Data", "/tasks/{slug:task}/datasets/{slug:dataset}", DatasetAnswer)
def dataset(request: ApiRequest, task: str, dataset: str) -> DatasetAnswer:
    """A data file of the task, and the steps that you must complete before you can download it."""
    page = find_page(request, task)
    own = data_access(request.user, page.shared_task)
    return _dataset(page, _definition(page, dataset), own, request.at)


@read(
    "Data",
    "/tasks/{slug:task}/datasets/{slug:dataset}/file",
    None,
    openapi_extra=file("application/octet-stream", "The file")
    | {
        "parameters": [
            {
                "in": "header",
                "name": DATA_PASSWORD,
                "required": False,
                "schema": {"type": "string"},
                "description": "Your team's data password, if the file requires one",
            }
        ]
    },
)
@sensitive_variables("password")
def dataset_file(request: ApiRequest, task: str, dataset: str) -> HttpResponseBase:
    """The file itself, as a whole or as a range of bytes (`Range`), so that a download can be resumed.

    If the portal stores data in S3, the response is a redirect to a link that is valid for one minute.
    """
    page = find_page(request, task)
    wanted, stored = _definition(page, dataset), page.shared_task.stored_dataset(dataset)
    if stored is None:
        raise Http404
    password = _sent_as_utf8(request.headers.get(DATA_PASSWORD, "")) if wanted.access == "password" else ""
    stamp = give_password(person(request), page.shared_task, request.at, guess=password) if password else ""
    response = dataset_response(request, page, wanted, stored, request.at, stamp=stamp, password=password)
    if response.status_code == HTTPStatus.REQUESTED_RANGE_NOT_SATISFIABLE:
        range_of = response["Content-Range"]
        return problem_response(NO_SUCH_RANGE(size=stored.size), **{"Content-Range": range_of})
    return response


def _definition(page: TaskPage, slug: str) -> DatasetDefinition:
    found = page.shared_task.dataset(slug)
    if found is None:
        raise Http404
    return found


def _dataset(page: TaskPage, dataset: DatasetDefinition, own: DataAccess, at: datetime) -> DatasetAnswer:
    return DatasetAnswer.read(
        dataset_line(page, dataset, at),
        obstacles=[
            ObstacleAnswer(code=obstacle, detail=OBSTACLES[obstacle]().message)
            for obstacle in own.obstacles(dataset.access, dataset.released, at)
        ],
        file=reverse("api:dataset_file", args=[page.shared_task.slug, dataset.slug]),
    )


def _sent_as_utf8(header: str) -> str:
    """Decode a header as UTF-8. Django reads headers as Latin-1 (PEP 3333). Invalid bytes match no password."""
    return header.encode("latin-1", "replace").decode("utf-8", "replace")
