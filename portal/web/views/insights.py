"""Results analysis of a track: statistics, figures, and hard items."""

import hashlib
from typing import Any

from django.core.cache import caches
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from portal import __version__
from portal.figures.field import field_figures
from portal.models import Phase, Track
from portal.queries.boards import insights as queries
from portal.queries.boards.head import board_head
from portal.queries.boards.leaderboard import default_phase
from portal.queries.items import ItemTable, item_table
from portal.queries.tasks import TaskPage
from portal.web.access import tab_context
from portal.web.board_address import item_choice
from portal.web.views.figures import figure_file

_KEPT_SECONDS = 24 * 60 * 60


@require_safe
def insights(request: HttpRequest, slug: str, track: str) -> HttpResponse:
    """Show the results analysis of one track in one phase."""
    context = _context(request, slug, track)
    context["figures"] = field_figures(context["insights"])
    if key := _key(slug, track, context["board"].phase.slug, context["page"]):
        caches["figures"].set(key, context["figures"], _KEPT_SECONDS)
    return render(request, "insights/insights.html", context)


COMPARED = 20  # runs on one page, because each one's answers to all items are read


@require_safe
def compare(request: HttpRequest, slug: str, track: str) -> HttpResponse:
    """Compare the runs that `run` in the URL names: all metrics, and the difference between each pair."""
    context = _context(request, slug, track)
    found = context["insights"]
    wanted = set(request.GET.getlist("run"))
    rows = {row.label: row for row in context["board"].rows}
    chosen = [name for name in rows if name in wanted][:COMPARED]
    context |= {
        "limit": COMPARED,
        "is_cut": len(wanted & rows.keys()) > COMPARED,
        "names": list(found.details),
        "chosen": {name: rows[name] for name in chosen},
        "table": _items(request, context, chosen),
        "leads": [lead for lead in found.leads if lead.ahead in chosen and lead.behind in chosen],
    }
    return render(request, "insights/compare.html", context)


def _items(request: HttpRequest, context: dict[str, Any], chosen: list[str]) -> ItemTable | None:
    board, evaluations = context["board"], context["insights"].evaluation_ids
    runs = {name: pk for name, pk in evaluations.items() if name in chosen}
    return item_table(board.track, board.phase, runs, item_choice(request.GET, "differ"), context["at"])


@require_safe
def figure(request: HttpRequest, slug: str, track: str, name: str, ending: str) -> HttpResponse:
    """Return one of the figures as a file.

    Preparing the figures takes longer than drawing one, so those of public boards are kept for the board's state.
    """
    page: TaskPage = tab_context(request, slug, "leaderboard")["page"]
    key = _key(slug, track, request.GET.get("phase") or None, page)
    figures = caches["figures"].get(key) if key else None
    if figures is None:
        figures = field_figures(_context(request, slug, track)["insights"])
        if key:
            caches["figures"].set(key, figures, _KEPT_SECONDS)
    return figure_file(request, figures, name, ending)


def _key(slug: str, track: str, phase: str | None, page: TaskPage) -> str | None:
    """Return the key of a board's figures in its present state, for all readers who see the same names.

    None if the board is not public.
    """
    head = board_head(slug, track, phase)
    if head.state is None:
        return None
    reader = page.team and page.team.pk, page.is_organizer
    shown = repr((__version__, slug, track, head.state, reader, get_language()))
    return f"figures:{hashlib.sha256(shown.encode()).hexdigest()}"


def _context(request: HttpRequest, slug: str, track: str) -> dict[str, Any]:
    context = tab_context(request, slug, "leaderboard")
    page: TaskPage = context["page"]
    chosen = get_object_or_404(Track.objects.select_related("shared_task"), shared_task=page.shared_task, slug=track)
    found = queries.insights(chosen, _phase(request, context, chosen), request.user, context["at"])
    query = f"phase={found.board.phase.slug}&"  # in the figures' URLs
    context["phases"] = page.phases_of(chosen)
    return context | {"track": chosen, "insights": found, "board": found.board, "query": query}


def _phase(request: HttpRequest, context: dict[str, Any], track: Track) -> Phase:
    """Return the phase in the URL, or the leaderboard's default phase."""
    phases = context["page"].phases_of(track)
    first = default_phase(phases, context["at"])
    slug = request.GET.get("phase") or (first.slug if first else "")
    found = next((phase for phase in phases if phase.slug == slug), None)
    if found is None:
        raise Http404
    return found
