"""Tables as downloads; `portal.export` writes their content."""

from collections.abc import Iterable

from django.http import HttpResponse

from portal import export
from portal.models import Download, SharedTask
from portal.queries.board_table import BoardTable
from portal.queries.overall import OverallBoard

FORMATS = {"csv": "text/csv; charset=utf-8", "json": "application/json"}
"""Ending → media type."""


def board_file(board: BoardTable, ending: str) -> HttpResponse:
    content = export.board_csv(board) if ending == "csv" else export.board_json(board)
    parts = (board.track.shared_task.slug, board.track.slug, board.phase.slug, board.language)
    return _file(content, "_".join(filter(None, parts)), ending)


def overall_file(board: OverallBoard, ending: str) -> HttpResponse:
    content = export.overall_csv(board) if ending == "csv" else export.overall_json(board)
    return _file(content, f"{board.phase.shared_task.slug}_{board.phase.slug}", ending)


def downloads_file(shared_task: SharedTask, rows: Iterable[Download]) -> HttpResponse:
    return _file(export.downloads_csv(rows), f"{shared_task.slug}_downloads", "csv")


def _file(content: bytes, name: str, ending: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}.{ending}"'
    return HttpResponse(content, content_type=FORMATS[ending], headers={"Content-Disposition": disposition})
