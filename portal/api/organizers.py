"""Resources for organizers: teams, gold standards, new scores, downloads and the audit log."""

from typing import Any
from uuid import UUID

from django.http.response import HttpResponseBase
from ninja import Query

from portal.api.access import find_push, organized, person
from portal.api.paging import Page, Paging, as_page, page_of
from portal.api.requests import ApiRequest
from portal.api.routes import file, read
from portal.api.schemas.organizers import (
    AuditAnswer,
    EffectAnswer,
    GoldAnswer,
    GoldUploadAnswer,
    OrganizedTeamAnswer,
    OrganizerAnswer,
    PushAnswer,
    TeamsQuery,
    WaitingScoresAnswer,
)
from portal.queries.boards.waiting_scores import waiting_scores
from portal.queries.desk.teams import all_team_rows
from portal.queries.gold import gold_lines
from portal.queries.gold_preview import find_preview
from portal.queries.visible import audit_log, visible_pushes
from portal.task_exports import EXPORTS, Export
from portal.web.export import task_export


@read("Organizers", "/tasks/{slug:task}/organize/teams", list[OrganizedTeamAnswer])
def organized_teams(request: ApiRequest, task: str, wanted: Query[TeamsQuery]) -> list[OrganizedTeamAnswer]:
    """All teams, with those awaiting approval first. The parameters filter them."""
    return [OrganizedTeamAnswer.of(row) for row in all_team_rows(organized(request, task), wanted.filter, request.at)]


@read("Organizers", "/tasks/{slug:task}/organize/gold", list[GoldAnswer])
def gold(request: ApiRequest, task: str) -> list[GoldAnswer]:
    """The gold standard of each track, and the state of the last upload. The gold itself is never shown."""
    return [
        GoldAnswer.read(
            line,
            track=line.track.slug,
            upload=line.upload.pk if line.upload else None,
            upload_state=line.upload.state if line.upload else None,
            upload_problems=line.upload.problems if line.upload else [],
        )
        for line in gold_lines(organized(request, task))
    ]


@read("Organizers", "/tasks/{slug:task}/organize/gold-uploads/{uuid:upload}", GoldUploadAnswer)
def gold_upload(request: ApiRequest, task: str, upload: UUID) -> GoldUploadAnswer:
    """An uploaded gold file: its state, and what it would change."""
    return GoldUploadAnswer.of(find_preview(organized(request, task), upload, person(request), request.at))


@read("Organizers", "/tasks/{slug:task}/organize/scores", list[WaitingScoresAnswer])
def new_scores(request: ApiRequest, task: str) -> list[WaitingScoresAnswer]:
    """Released leaderboards with new scores, which you can apply."""
    return [
        WaitingScoresAnswer.read(
            one,
            track=one.board.track.slug,
            phase=one.board.phase.slug,
            effect=EffectAnswer.model_validate(one.effect) if one.effect else None,
        )
        for one in waiting_scores(organized(request, task), person(request), request.at)
    ]


def _declare(wanted: Export) -> None:
    """Declare a URL for this export."""

    def view(request: ApiRequest, task: str) -> HttpResponseBase:
        return task_export(request, wanted, organized(request, task), request.at)

    view.__name__ = _OPERATIONS.get(wanted.name, f"export_{wanted.name.replace('.', '_')}")
    view.__doc__ = str(wanted.about).rstrip(".")
    path = f"/tasks/{{slug:task}}/organize/{wanted.name}"
    kind = wanted.media_type.partition(";")[0]
    read("Organizers", path, None, openapi_extra=file(kind, str(wanted.title)))(view)


_OPERATIONS = {"downloads.csv": "downloads"}  # keeps the name it had before other exports were added

for _export in EXPORTS.values():
    _declare(_export)


@read("Organizers", "/tasks/{slug:task}/organize/audit", Page[AuditAnswer])
def audit(request: ApiRequest, task: str, paging: Query[Paging], verb: str = "") -> dict[str, Any]:
    """The audit log: who did what and when, newest first."""
    found = page_of(request, audit_log(organized(request, task), verb), ("-at", "-pk"), paging)
    return as_page(request, [AuditAnswer.read(one, actor=str(one.actor) if one.actor else None) for one in found])


@read("Organizers", "/tasks/{slug:task}/organize/organizers", list[OrganizerAnswer])
def organizers(request: ApiRequest, task: str) -> list[OrganizerAnswer]:
    """The organizers of the task."""
    people = organized(request, task).organizers.order_by("name", "email")
    return [OrganizerAnswer(name=one.name, address=one.email) for one in people]


@read("Organizers", "/pushes/{uuid:push}", PushAnswer)
def push(request: ApiRequest, push: UUID) -> PushAnswer:
    """A pushed folder. Poll it until `is_finished`."""
    return PushAnswer.of(find_push(request, push))


@read("Organizers", "/tasks/{slug:task}/organize/pushes", Page[PushAnswer])
def pushes(request: ApiRequest, task: str, paging: Query[Paging]) -> dict[str, Any]:
    """The pushed folders of a task, newest first."""
    rows = visible_pushes(person(request)).filter(shared_task=organized(request, task))
    return as_page(request, [PushAnswer.of(one) for one in page_of(request, rows, ("-received_at", "-pk"), paging)])
