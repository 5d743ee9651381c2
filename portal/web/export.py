"""Tables as downloads. Their content comes from `portal.export`."""

from datetime import datetime

from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase

from portal import export
from portal.models import SharedTask, User
from portal.queries.boards.overall import OverallBoard
from portal.queries.boards.table import BoardTable
from portal.task_exports import Export

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
"""Ending → media type."""


def board_file(board: BoardTable, ending: str) -> HttpResponse:
    content = export.board_csv(board) if ending == "csv" else export.board_json(board)
    parts = (
        board.track.shared_task.slug,
        board.track.slug,
        board.phase.slug,
        board.slice.key.replace("=", "-") if board.slice else "",
    )
    return _file(content, "_".join(filter(None, parts)), ending)


def overall_file(board: OverallBoard, ending: str) -> HttpResponse:
    content = export.overall_csv(board) if ending == "csv" else export.overall_json(board)
    return _file(content, f"{board.phase.shared_task.slug}_{board.phase.slug}", ending)


def task_export(request: HttpRequest, wanted: Export, shared_task: SharedTask, at: datetime) -> HttpResponseBase:
    """Return one of the exports for organizers. The caller must have checked the user's role."""
    assert isinstance(request.user, User)
    response: HttpResponseBase
    if request.method == "HEAD":
        response = HttpResponse()
    else:
        content = wanted.content(shared_task, request.user, at)
        response = HttpResponse(content) if isinstance(content, bytes) else StreamingHttpResponse(content)
    response["Content-Type"] = wanted.media_type
    response["Content-Disposition"] = f'attachment; filename="{shared_task.slug}_{wanted.name}"'
    response["Cache-Control"] = "private, no-store"
    return response


def _file(content: bytes, name: str, ending: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}.{ending}"'
    return HttpResponse(content, content_type=FORMATS[ending], headers={"Content-Disposition": disposition})
