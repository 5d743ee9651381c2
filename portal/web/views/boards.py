"""Leaderboards. All filters are in the URL, so that people can link to any view of a table."""

from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from portal.figures.tracks import tracks_figures
from portal.models import Run
from portal.queries.boards.choices import Choices
from portal.queries.boards.head import board_head
from portal.queries.boards.leaderboard import board_state
from portal.queries.boards.leaderboard import leaderboard as find_board
from portal.queries.boards.overall import overall as find_overall
from portal.queries.boards.table import BoardTable, released_table
from portal.queries.boards.whiskers import scale
from portal.queries.public_teams import has_public_rows
from portal.queries.tasks import TaskPage
from portal.queries.visible import public_releases
from portal.web.access import tab_context
from portal.web.board_address import choices_of, heads
from portal.web.board_cache import kept_part, personal
from portal.web.export import FORMATS, board_file, overall_file
from portal.web.views.figures import figure_file


@require_safe
def leaderboard(request: HttpRequest, slug: str, track: str) -> HttpResponse:
    """Show one track in one phase as a page or a file."""
    head = board_head(slug, track, request.GET.get("phase"))
    context = tab_context(request, slug, "leaderboard", head.at)
    page, choices = context["page"], choices_of(request.GET)
    chosen, phase = page.track(track), page.phase(head.phase)
    if (ending := request.GET.get("format")) in FORMATS:
        return personal(board_file(find_board(chosen, phase, request.user, head.at, choices), ending), head)
    context |= {"track": chosen, "phase": phase, "phases": page.phases_of(chosen)}
    reader = page.team and page.team.pk, page.is_organizer, getattr(request.user, "time_zone", "")
    make = partial(_board_text, request, context, choices)
    context["board_text"] = kept_part(request, head, reader, make)
    return personal(render(request, "boards/leaderboard.html", context), head)


def _board_text(request: HttpRequest, context: dict[str, Any], choices: Choices) -> SafeString:
    board = find_board(context["track"], context["phase"], request.user, context["at"], choices)
    parts = table_parts(board, choices) | {
        "board_state": board_state(board, choices, context["at"]),
        "step": board.phase.step_at(context["at"]),
        "has_public_rows": has_public_rows(context["page"].shared_task, board.phase, context["at"]),
        "systems": Run.SystemType.choices,
        "slots": Run.Slot.choices,
    }
    return mark_safe(render_to_string("boards/_board.html", context | parts, request))  # noqa: S308 - from a template


def table_parts(board: BoardTable, choices: Choices) -> dict[str, Any]:
    """Return the context of a table's templates."""
    shown = heads(board, choices)
    return {
        "board": board,
        "choices": choices,
        "heads": shown,
        "shown_columns": {head.column.key for head in shown},
        "scale": scale(board.rows) if board.comparison else None,
    }


@require_safe
def overall(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all tracks in one phase. If a task has only one track, show its leaderboard instead."""
    head = board_head(slug, None, request.GET.get("phase"))
    context = tab_context(request, slug, "leaderboard", head.at)
    page: TaskPage = context["page"]
    if len(page.tracks) == 1:
        return redirect("leaderboard", slug, page.tracks[0].slug)
    phase = page.phase(head.phase)
    group = request.GET.get("group", "")
    board = find_overall(phase.tracks(), phase, request.user, head.at, group)
    if (ending := request.GET.get("format")) in FORMATS:
        return personal(overall_file(board, ending), head)
    query = f"{urlencode({'phase': phase.slug, 'group': group})}&"  # in the figures' URLs
    context |= {"board": board, "group": group, "figures": tracks_figures(board), "query": query}
    context["phases"] = [listed for listed in page.phases if listed.tracks()]
    return personal(render(request, "boards/overall.html", context), head)


@require_safe
def overall_figure(request: HttpRequest, slug: str, name: str, ending: str) -> HttpResponse:
    """Return a figure about all tracks as a file."""
    head = board_head(slug, None, request.GET.get("phase") or None)
    page: TaskPage = tab_context(request, slug, "leaderboard", head.at)["page"]
    phase = page.phase(head.phase)
    board = find_overall(phase.tracks(), phase, request.user, head.at, request.GET.get("group", ""))
    return figure_file(request, tracks_figures(board), name, ending)


@require_safe
def released(request: HttpRequest, slug: str, track: str, phase: str, number: int) -> HttpResponse:
    """Show a leaderboard as it was released, at a permanent URL."""
    context = tab_context(request, slug, "leaderboard")
    wanted = {"track__shared_task__slug": slug, "track__slug": track, "phase__slug": phase, "number": number}
    release = get_object_or_404(public_releases(context["at"]), **wanted)
    board = released_table(release)
    if (ending := request.GET.get("format")) in FORMATS:
        return board_file(board, ending)
    context |= table_parts(board, Choices()) | {"release": release, "track": release.track}
    return render(request, "boards/released.html", context)
