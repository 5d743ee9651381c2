"""Actions that receive a file: submitting, validating, pushing folders, and uploading gold standards and datasets."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Annotated, Any, Literal

from django.http import Http404, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from ninja import Query, Status
from pydantic import BaseModel, Field

from portal.actions.base.action import Action
from portal.actions.base.input import NOT_VALID, InvalidInput
from portal.actions.datasets import DATASET_BYTES, replace_dataset
from portal.actions.gold import GOLD_BYTES, upload_gold
from portal.actions.task_folder.pushes import PUSH_BYTES, push_new_task, push_task
from portal.actions.uploads.intake import too_large
from portal.actions.uploads.submit import submit
from portal.actions.uploads.validate_only import report_of, validate_only
from portal.api.access import find_phase, find_task, find_track, person
from portal.api.requests import ApiRequest
from portal.api.routes import ACTION_PROBLEMS, operation
from portal.api.schemas.organizers import GoldUploadAnswer, PushAnswer
from portal.api.schemas.runs import SubmissionAnswer, ValidationAnswer
from portal.api.uploads import FORM_BODY, RAW_BODY, received, sealed
from portal.models import Run, TaskPush
from portal.models.clock import database_now
from portal.queries.gold_preview import find_preview
from portal.queries.runs import official_among, submission_view
from scoring.limits import RUN_FIELDS, UPLOAD_BYTES

KEY = "Idempotency-Key"
PHASE = "/tasks/{slug:task}/phases/{slug:phase}"


_KEY = {
    "in": "header",
    "name": KEY,
    "required": False,
    "schema": {"type": "string"},
    "description": "Your own unique key for this upload. Retries with the same key don’t submit the file again",
}


class UploadQuery(BaseModel):
    """The file's details in the URL."""

    file_name: Annotated[
        str,
        Field(
            max_length=submit.length_of("file_name"),
            description="File name, which identifies the runs. Not needed if you send the file in a form",
        ),
    ] = ""
    slot: Annotated[Run.Slot | Literal[""], Field(description="Only for phases with primary and contrastive runs")] = ""


class SubmitQuery(UploadQuery):
    """The file's details in the URL, with the task's run fields."""

    field: Annotated[
        list[str],
        Field(max_length=RUN_FIELDS, description="One of the task’s run fields as KEY=TEXT. Repeat it for each field"),
    ] = []


class Sure(BaseModel):
    """The confirmation of a change that everyone can see."""

    is_sure: Annotated[
        bool,
        Field(description="Confirms that you want to change something that others have already seen or downloaded"),
    ] = False


def upload(
    path: str, action: Action[Any, Any, Any], find: Callable[..., Any], answers: dict[int, Any], tag: str, body: Any
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a URL that receives a file. The action's role is checked before the body is read."""

    def may(request: ApiRequest) -> bool:
        match = request.resolver_match
        assert match is not None
        named = {name: match.kwargs[name] for name in ("task", "phase", "track") if name in match.kwargs}
        request.target = find(request, *named.values())
        action.who.check(request.user, request.target)
        return True

    def declare(view: Callable[..., Any]) -> Callable[..., Any]:
        headers = [_KEY] if action.key else []
        return operation(
            ["POST"],
            path,
            action.name,
            view.__doc__ or "",
            tag,
            auth=may,
            response={**answers, **ACTION_PROBLEMS, 411: None},
            openapi_extra={"requestBody": {"required": True, "content": body}, "parameters": headers},
        )(view)

    return declare


@upload(f"{PHASE}/submissions", submit, find_phase, {201: SubmissionAnswer}, "Submissions", RAW_BODY | FORM_BODY)
def submit_file(request: ApiRequest, task: str, phase: str, query: Query[SubmitQuery]) -> Any:
    """Submit a file: a run, or a zip of several runs.

    The body is the file itself, or a form with the part `file`. When the response arrives, the file is stored. Poll the
    URL in `Location` for the results of its runs. A repeated request with the same `Idempotency-Key` gives the same
    submission.
    """
    fields = _run_fields(query.field)
    with received(request, query.file_name, UPLOAD_BYTES, too_large) as body:
        at = database_now()
        submission = submit(
            request.user,
            request.target,
            at,
            content=body.pieces,
            file_name=body.name,
            slot=query.slot,
            key=request.headers.get(KEY, ""),
            fields=fields,
        )
    view = submission_view(submission, request.user, at, with_place=False)
    official = official_among(view.runs, request.user, at)
    answer = SubmissionAnswer.seen(view, official)
    request.location = reverse("api:submission", args=[task, submission.pk])
    return Status(int(HTTPStatus.CREATED), answer)


def _run_fields(given: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    if not all(separator for _key, separator, _text in pairs):
        problem: Any = NOT_VALID(label="field", reason=_("Use KEY=TEXT."))
        raise InvalidInput({"field": problem})
    return {key: text for key, _separator, text in pairs}


@upload(f"{PHASE}/validations", validate_only, find_phase, {202: ValidationAnswer}, "Submissions", RAW_BODY | FORM_BODY)
def validate_file(request: ApiRequest, task: str, phase: str, query: Query[UploadQuery]) -> Any:
    """Validate a file without submitting it. The check and the report are the same, and no quota is used.

    Poll the URL in `Location` until `is_finished`.
    """
    with received(request, query.file_name, UPLOAD_BYTES, too_large) as body:
        at = database_now()
        validation = validate_only(
            request.user, request.target, at, content=body.pieces, file_name=body.name, slot=query.slot
        )
    request.location = reverse("api:validation", args=[task, validation.pk])
    return Status(int(HTTPStatus.ACCEPTED), ValidationAnswer.of(validation, report_of(validation, at)))


@upload(
    "/tasks/{slug:task}/organize/gold/{slug:track}/{slug:split}",
    upload_gold,
    find_track,
    {202: GoldUploadAnswer},
    "Organizers",
    RAW_BODY,
)
def gold_file(request: ApiRequest, task: str, track: str, split: str) -> Any:
    """Upload a gold standard. It is encrypted as it is received, and a worker opens and checks it.

    The first gold standard of a track and split is used immediately. A correction gets a preview: poll the URL in
    `Location` until `is_finished`, then apply it.
    """
    with sealed(request, GOLD_BYTES) as file:
        at = database_now()
        upload = upload_gold(request.user, request.target, at, split=split, sealed=file)
    request.location = reverse("api:gold_upload", args=[task, upload.pk])
    preview = find_preview(upload.shared_task, upload.pk, person(request), at)
    return Status(int(HTTPStatus.ACCEPTED), GoldUploadAnswer.of(preview))


@upload("/pushes", push_new_task, person, {202: PushAnswer}, "Organizers", RAW_BODY)
def first_push(request: ApiRequest) -> Any:
    """Push the folder of a new task as a zip. It is encrypted as it is received, so only a worker can open it.

    Poll the URL in `Location` until `is_finished`. A valid folder becomes a draft that only you can see.
    """
    with sealed(request, PUSH_BYTES) as file:
        push = push_new_task(request.user, request.target, database_now(), sealed=file)
    return _pushed(request, push)


@upload("/tasks/{slug:task}/organize/pushes", push_task, find_task, {202: PushAnswer}, "Organizers", RAW_BODY)
def later_push(request: ApiRequest, task: str) -> Any:
    """Push the folder of an existing task as a zip.

    Poll the URL in `Location` until `is_finished`. A valid folder is compared with the task and can then be
    applied.
    """
    with sealed(request, PUSH_BYTES) as file:
        push = push_task(request.user, request.target, database_now(), sealed=file)
    return _pushed(request, push)


@upload(
    "/tasks/{slug:task}/organize/datasets/{slug:dataset}",
    replace_dataset,
    find_task,
    {204: None},
    "Organizers",
    RAW_BODY | FORM_BODY,
)
def dataset_version(request: ApiRequest, task: str, dataset: str, query: Query[Sure]) -> HttpResponse:
    """Replace a dataset's file."""
    wanted = request.target.dataset(dataset)
    if wanted is None:
        raise Http404
    with received(request, dataset, DATASET_BYTES) as body:
        at = database_now()
        replace_dataset(request.user, request.target, at, dataset=wanted, content=body.pieces, is_sure=query.is_sure)
    return HttpResponse(status=HTTPStatus.NO_CONTENT)


def _pushed(request: ApiRequest, push: TaskPush) -> Any:
    request.location = reverse("api:push", args=[push.pk])
    return Status(int(HTTPStatus.ACCEPTED), PushAnswer.of(push))
