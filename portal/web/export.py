"""Tables as files to download: what they hold is written in `portal.export`."""

from collections.abc import Iterable

from django.http import HttpResponse

from portal import export
from portal.models import Download, SharedTask
from portal.queries.board_table import BoardTable
from portal.queries.overall import OverallBoard

_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


def as_csv(board: BoardTable) -> HttpResponse:
    return _file(export.board_csv(board), _name(board), "csv")


def as_json(board: BoardTable) -> HttpResponse:
    return _file(export.board_json(board), _name(board), "json")


def overall_as_csv(board: OverallBoard) -> HttpResponse:
    return _file(export.overall_csv(board), _overall_name(board), "csv")


def overall_as_json(board: OverallBoard) -> HttpResponse:
    return _file(export.overall_json(board), _overall_name(board), "json")


def downloads_as_csv(shared_task: SharedTask, rows: Iterable[Download]) -> HttpResponse:
    return _file(export.downloads_csv(rows), f"{shared_task.slug}_downloads", "csv")


def _file(content: bytes, name: str, ending: str) -> HttpResponse:
    disposition = f'attachment; filename="{name}.{ending}"'
    return HttpResponse(content, content_type=_TYPES[ending], headers={"Content-Disposition": disposition})


def _name(board: BoardTable) -> str:
    parts = (board.track.shared_task.slug, board.track.slug, board.phase.slug, board.language)
    return "_".join(filter(None, parts))


def _overall_name(board: OverallBoard) -> str:
    return f"{board.phase.shared_task.slug}_{board.phase.slug}"
