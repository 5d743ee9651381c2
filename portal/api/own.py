"""Your team, its uploads and runs, and your validations. Organizers see those of all teams."""

from typing import Any
from uuid import UUID

from django.http import Http404, HttpResponse, JsonResponse
from django.utils.http import content_disposition_header
from ninja import Query

from portal.actions.uploads.validate_only import report_of
from portal.api.access import find_run, find_submission, find_task, find_validation, own_team, person
from portal.api.paging import Page, Paging, as_page, bad_cursor, note_next, page_of
from portal.api.requests import ApiRequest
from portal.api.routes import file, read
from portal.api.schemas.runs import (
    ItemsAnswer,
    ReportAnswer,
    RunAnswer,
    SubmissionAnswer,
    SubmissionSummary,
    ValidationAnswer,
)
from portal.api.schemas.teams import TeamAnswer
from portal.models import AccessToken, Run
from portal.parameters import LAST_PAGE, whole_number
from portal.permissions import may_download_run
from portal.queries.items import ItemChoice, item_table
from portal.queries.receipts import receipt as receipt_of
from portal.queries.runs import official_among, run_lines, run_view, submission_view
from portal.queries.uploads import run_body
from portal.queries.visible import visible_runs, visible_submissions


@read("Team", "/tasks/{slug:task}/team", TeamAnswer)
def team(request: ApiRequest, task: str) -> TeamAnswer:
    """Your team in the task."""
    found = own_team(request, task)
    token = person(request).token
    may_invite = token is not None and token.allows(AccessToken.Scope.SUBMIT)
    return TeamAnswer.of(found, may_invite=may_invite)


@read("Submissions", "/tasks/{slug:task}/submissions", Page[SubmissionSummary])
def submissions(request: ApiRequest, task: str, paging: Query[Paging]) -> dict[str, Any]:
    """Your team's uploads, newest first. Organizers see the uploads of all teams."""
    shared_task = find_task(request, task)
    rows = visible_submissions(person(request)).filter(shared_task=shared_task)
    found = page_of(request, rows, ("-received_at", "-pk"), paging)
    return as_page(request, [SubmissionSummary.of(one) for one in found])


@read("Submissions", "/tasks/{slug:task}/submissions/{uuid:submission}", SubmissionAnswer)
def submission(request: ApiRequest, task: str, submission: UUID) -> SubmissionAnswer:
    """An upload, its runs and all problems. Poll it until `is_finished`."""
    found = find_submission(request, task, submission)
    view = submission_view(found, request.user, request.at)
    return SubmissionAnswer.seen(view, official_among(view.runs, request.user, request.at))


@read("Submissions", "/tasks/{slug:task}/submissions/{uuid:submission}/report", ReportAnswer)
def report(request: ApiRequest, task: str, submission: UUID) -> dict[str, Any]:
    """The problems, in the format of `agon check --json`."""
    view = submission_view(find_submission(request, task, submission), request.user, request.at, with_place=False)
    return view.report


@read("Submissions", "/tasks/{slug:task}/submissions/{uuid:submission}/receipt", dict[str, Any])
def receipt(request: ApiRequest, task: str, submission: UUID) -> JsonResponse:
    """The signed receipt. It never changes. Verify it with `agon receipt verify`."""
    found = find_submission(request, task, submission)
    return JsonResponse(receipt_of(found), json_dumps_params={"indent": 1, "ensure_ascii": False})


@read("Submissions", "/tasks/{slug:task}/validations/{uuid:validation}", ValidationAnswer)
def validation(request: ApiRequest, task: str, validation: UUID) -> ValidationAnswer:
    """The report on a file that you only validated. Poll it until `is_finished`."""
    found = find_validation(request, task, validation)
    return ValidationAnswer.of(found, report_of(found, request.at))


@read("Runs", "/tasks/{slug:task}/runs", Page[RunAnswer])
def runs(request: ApiRequest, task: str, paging: Query[Paging], phase: str = "", track: str = "") -> dict[str, Any]:
    """Your team's runs, newest first. Organizers see the runs of all teams. `phase` and `track` filter them."""
    shared_task = find_task(request, task)
    own = visible_runs(person(request)).filter(kind=Run.Kind.TEAM, track__shared_task=shared_task)
    wanted = {name: slug for name, slug in (("phase__slug", phase), ("track__slug", track)) if slug}
    found = page_of(request, own.filter(**wanted), ("-received_at", "-pk"), paging)
    shown = own.filter(pk__in=[one.pk for one in found])
    lines = {line.run.pk: line for line in run_lines(shown, request.user, request.at)}
    official = official_among(lines.values(), request.user, request.at)
    return as_page(request, [RunAnswer.of(lines[one.pk], official) for one in found])


@read("Runs", "/tasks/{slug:task}/runs/{uuid:run}", RunAnswer)
def run(request: ApiRequest, task: str, run: UUID) -> RunAnswer:
    """A run of your team, or a baseline."""
    line = run_view(find_run(request, task, run), request.user, request.at).line
    return RunAnswer.of(line, official_among([line], request.user, request.at))


@read(
    "Runs",
    "/tasks/{slug:task}/runs/{uuid:run}/file",
    None,
    openapi_extra=file("application/octet-stream", "The run"),
)
def run_file(request: ApiRequest, task: str, run: UUID) -> HttpResponse:
    """The run file as uploaded, extracted from the archive if it was in one."""
    found = find_run(request, task, run)
    if not may_download_run(request.user, found):
        raise Http404
    name = content_disposition_header(as_attachment=True, filename=found.file_name) or ""
    headers = {"Content-Disposition": name}
    return HttpResponse(run_body(found), content_type="application/octet-stream", headers=headers)


@read("Runs", "/tasks/{slug:task}/runs/{uuid:run}/items", ItemsAnswer)
def run_items(request: ApiRequest, task: str, run: UUID, paging: Query[Paging], items: str = "") -> ItemsAnswer:
    """The run's answer and the gold answer for each item, if the task publishes them.

    To list only the items whose answer is not fully correct, use `items=wrong`. The `limit` parameter has no effect.
    """
    if paging.cursor and whole_number(paging.cursor, LAST_PAGE) is None:
        raise bad_cursor()
    found = find_run(request, task, run)
    view = run_view(found, request.user, request.at)
    if view.evaluation is None:
        raise Http404
    choice = ItemChoice(which=items, page=paging.cursor)
    table = item_table(found.track, found.phase, {found.name: view.evaluation.pk}, choice, request.at)
    if table is None:
        raise Http404
    if table.page.has_next():
        note_next(request, str(table.page.next_page_number()))
    return ItemsAnswer.of(table, getattr(request, "next_page", None))
