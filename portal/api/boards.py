"""Leaderboards as paginated JSON or as complete CSV files. Public boards are cached (`web.board_cache`)."""

from dataclasses import replace
from datetime import date
from typing import Annotated, Literal

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from ninja import Query
from pydantic import BaseModel, Field

from portal import export
from portal.api.access import find_page, find_task
from portal.api.paging import bad_cursor, note_next
from portal.api.requests import ApiRequest
from portal.api.routes import file, read
from portal.api.schemas.boards import BoardAnswer, ReleaseAnswer, ReleasedBoardAnswer
from portal.models import Run
from portal.parameters import LAST_PAGE, whole_number
from portal.queries.boards import overall as overall_queries
from portal.queries.boards.choices import PAGE_SIZE
from portal.queries.boards.head import BoardHead, board_head
from portal.queries.boards.leaderboard import Leaderboard
from portal.queries.boards.leaderboard import leaderboard as find_board
from portal.queries.boards.table import released_table
from portal.queries.visible import public_releases
from portal.web.board_address import choices_of
from portal.web.board_cache import personal, wants_csv
from portal.web.export import FORMATS

Slug = Annotated[
    str | None,
    Field(max_length=50, description="Slug of the phase. Default: the phase that the leaderboard page shows first"),
]


class BoardQuery(BaseModel):
    """The parameters of a leaderboard. Only `runs`, `as_of` and `slice` change ranks."""

    phase: Slug = None
    runs: Literal["official", "all"] = "official"
    search: Annotated[str, Field(max_length=200, description="Part of a team name, run name or method")] = ""
    system: Run.SystemType | Literal[""] = ""
    slot: Run.Slot | Literal[""] = ""
    papers: Annotated[str, Field(max_length=1, description="If present, only teams with a paper")] = ""
    slice: Annotated[str, Field(max_length=200, description="Slice of the scored items, for example language=es")] = ""
    sort: Annotated[
        str, Field(max_length=100, description="Metric to sort by. A leading “-” sorts from high to low")
    ] = ""
    as_of: Annotated[date | None, Field(description="Only runs received by the end of this day (AoE)")] = None
    cursor: Annotated[str, Field(max_length=500, description="Value from `next` on the previous page")] = ""
    limit: Annotated[int, Field(ge=1, le=1000, description="Rows per page")] = PAGE_SIZE


class OverallQuery(BaseModel):
    """The phase."""

    phase: Slug = None


CSV = {"text/csv": {"schema": {"type": "string", "contentMediaType": "text/csv"}}}
AS_CSV_TOO = {"responses": {200: {"content": CSV}}}


@read("Leaderboards", "/tasks/{slug:task}/leaderboards/{slug:track}", BoardAnswer, openapi_extra=AS_CSV_TOO)
def leaderboard(request: ApiRequest, task: str, track: str, query: Query[BoardQuery]) -> HttpResponse:
    """A track's leaderboard in a phase, with the rows that you can see.

    With `Accept: text/csv`, the response is the whole table as CSV. Before the release, only organizers can see its
    rows.
    """
    if wants_csv(request):
        return leaderboard_csv(request, task, track, query)
    head, board = _board(request, task, track, query, query.limit)
    if board.page < board.pages:
        note_next(request, str(board.page + 1))
    more = {"count": board.count, "next": getattr(request, "next_page", None), "hidden_reason": board.hidden_reason}
    return personal(_file(export.as_json(export.board_content(board) | more), "json"), head)


@read(
    "Leaderboards",
    "/tasks/{slug:task}/leaderboards/{slug:track}.csv",
    None,
    openapi_extra=file("text/csv", "The whole leaderboard"),
)
def leaderboard_csv(request: ApiRequest, task: str, track: str, query: Query[BoardQuery]) -> HttpResponse:
    """The leaderboard as CSV."""
    head, board = _board(request, task, track, query, size=None)
    return personal(_file(export.board_csv(board), "csv"), head)


@read("Leaderboards", "/tasks/{slug:task}/leaderboards", export.OverallAnswer, openapi_extra=AS_CSV_TOO)
def leaderboards(request: ApiRequest, task: str, query: Query[OverallQuery]) -> HttpResponse:
    """A phase's results in all its tracks side by side, and rankings across several tracks. Also available as CSV."""
    page, head = find_page(request, task), board_head(task, None, query.phase)
    phase = page.phase(head.phase)
    board = overall_queries.overall(phase.tracks(), phase, request.user, head.at)
    if wants_csv(request):
        return personal(_file(export.overall_csv(board), "csv"), head)
    return personal(_file(export.overall_json(board), "json"), head)


@read("Leaderboards", "/tasks/{slug:task}/releases", list[ReleaseAnswer])
def releases(request: ApiRequest, task: str) -> list[ReleaseAnswer]:
    """Leaderboards as they were when released, newest first."""
    found = find_task(request, task)
    return [
        ReleaseAnswer.read(
            one,
            track=one.track.slug,
            phase=one.phase.slug,
            gold_version=one.gold.version,
            address=reverse("api:released_leaderboard", args=[task, one.track.slug, one.phase.slug, one.number]),
        )
        for one in public_releases(request.at).filter(track__shared_task=found).defer("content")
    ]


@read(
    "Leaderboards",
    "/tasks/{slug:task}/releases/{slug:track}/{slug:phase}/{number:number}",
    ReleasedBoardAnswer,
    openapi_extra=AS_CSV_TOO,
)
def released_leaderboard(request: ApiRequest, task: str, track: str, phase: str, number: int) -> HttpResponse:
    """A leaderboard as it was when released."""
    wanted = {"track__slug": track, "phase__slug": phase, "number": number}
    of_task = public_releases(request.at).filter(track__shared_task=find_task(request, task))
    board = released_table(get_object_or_404(of_task, **wanted))
    return _file(export.board_csv(board), "csv") if wants_csv(request) else _file(export.board_json(board), "json")


def _board(
    request: ApiRequest, task: str, track: str, query: BoardQuery, size: int | None
) -> tuple[BoardHead, Leaderboard]:
    page, head = find_page(request, task), board_head(task, track, query.phase)
    number = whole_number(query.cursor or "1", LAST_PAGE)
    if number is None:
        raise bad_cursor()
    choices = replace(choices_of(request.GET), baselines=True, page=number or 1, size=size)
    return head, find_board(page.track(track), page.phase(head.phase), request.user, head.at, choices)


def _file(content: bytes, ending: str) -> HttpResponse:
    return HttpResponse(content, content_type=FORMATS[ending])
