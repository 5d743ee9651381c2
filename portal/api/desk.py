"""What organizers read while a task runs: all uploads, rejected ones included, one team, and messages to teams."""

from typing import Any
from uuid import UUID

from django.db.models import Q
from django.http import Http404
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from ninja import Query

from portal.api.access import find_team, organized, person
from portal.api.paging import Page, Paging, as_page, bad_cursor, note_next, page_of
from portal.api.requests import ApiRequest
from portal.api.routes import file, read
from portal.api.schemas.desk import (
    DeskTeamAnswer,
    OrganizedUploadAnswer,
    TeamMessageAnswer,
    TeamMessageSummary,
    UploadProblemsAnswer,
    UploadsQuery,
)
from portal.models import Submission, TeamMessage, TeamNote
from portal.queries.desk.teams import team_rows
from portal.queries.desk.uploads import find_upload, read_cursor, uploads_page
from portal.web.views.desk_uploads import stored_upload_response

UPLOADS = "/tasks/{slug:task}/organize/uploads"


@read("Organizers", UPLOADS, Page[OrganizedUploadAnswer])
def organized_uploads(
    request: ApiRequest, task: str, paging: Query[Paging], wanted: Query[UploadsQuery]
) -> dict[str, Any]:
    """All uploads, newest first, including rejected ones."""
    shared_task = organized(request, task)
    if paging.cursor and read_cursor(paging.cursor) is None:
        raise bad_cursor()
    found = uploads_page(shared_task, wanted.filter, paging.cursor, paging.limit)
    if found.older:
        note_next(request, found.older)
    return as_page(request, [OrganizedUploadAnswer.of(row) for row in found.rows])


@read("Organizers", f"{UPLOADS}/{{uuid:submission}}", UploadProblemsAnswer)
def organized_upload(request: ApiRequest, task: str, submission: UUID) -> UploadProblemsAnswer:
    """The problems in an upload and all its runs, even if it was rejected on receipt."""
    found = find_upload(organized(request, task), submission)
    if found is None:
        raise Http404
    return UploadProblemsAnswer(id=found.upload.pk, state=found.state, problems=found.problems)


@read(
    "Organizers",
    f"{UPLOADS}/{{uuid:submission}}/file",
    None,
    openapi_extra=file("application/octet-stream", "The upload"),
)
def organized_upload_file(request: ApiRequest, task: str, submission: UUID) -> HttpResponseBase:
    """The file exactly as it was uploaded."""
    upload = get_object_or_404(Submission, shared_task=organized(request, task), pk=submission)
    return stored_upload_response(request, upload)


@read("Organizers", "/tasks/{slug:task}/organize/teams/{number:team}", DeskTeamAnswer)
def organized_team(request: ApiRequest, task: str, team: int) -> DeskTeamAnswer:
    """A team with your notes about it."""
    shared_task = organized(request, task)
    found = find_team(request, task, team)
    (row,) = team_rows(shared_task, [found])
    return DeskTeamAnswer.with_notes(row, TeamNote.objects.filter(team=found).select_related("by"))


@read("Organizers", "/tasks/{slug:task}/organize/messages", Page[TeamMessageSummary])
def team_messages(request: ApiRequest, task: str, paging: Query[Paging]) -> dict[str, Any]:
    """The messages that were sent to teams, newest first."""
    rows = organized(request, task).team_messages.filter(sent_at__isnull=False).select_related("by")
    found = page_of(request, rows, ("-sent_at", "-pk"), paging)
    return as_page(request, [TeamMessageSummary.of(message) for message in found])


@read("Organizers", "/tasks/{slug:task}/organize/messages/{number:message}", TeamMessageAnswer)
def team_message(request: ApiRequest, task: str, message: int) -> TeamMessageAnswer:
    """A message that was sent, or that you have prepared, with its recipients."""
    own = Q(sent_at__isnull=False) | Q(by=person(request))
    found = TeamMessage.objects.filter(own, shared_task=organized(request, task))
    return TeamMessageAnswer.of(get_object_or_404(found, pk=message))
