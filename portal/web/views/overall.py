"""A shared task's tracks side by side, and its rankings over several of them."""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_safe

from portal.queries import overall as queries
from portal.queries.board_head import board_head
from portal.queries.tasks import TaskPage
from portal.web.access import tab_context
from portal.web.board_cache import personal
from portal.web.export import FORMATS, overall_file


@require_safe
def overall(request: HttpRequest, slug: str) -> HttpResponse:
    """All tracks in one phase; a task of one track has its board instead."""
    head = board_head(slug, None, request.GET.get("phase"))
    if head is None:
        raise Http404
    context = tab_context(request, slug, "leaderboard", head.at)
    page: TaskPage = context["page"]
    if len(page.tracks) == 1:
        return redirect("leaderboard", slug, page.tracks[0].slug)
    phase = next(one for one in page.phases if one.slug == head.phase)
    group = request.GET.get("group", "")
    board = queries.overall(page.tracks, phase, request.user, head.at, group)
    if (ending := request.GET.get("format")) in FORMATS:
        return personal(overall_file(board, ending), head)
    return personal(render(request, "boards/overall.html", context | {"board": board, "group": group}), head)
