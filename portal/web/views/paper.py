"""Files for an overview paper: request them, follow the progress, and download them."""

from http import HTTPStatus
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_safe

from portal.actions.paper_files import request_paper_files
from portal.models import PaperPack, Phase
from portal.models.clock import database_now
from portal.models.task import StoredDataset
from portal.queries.paper_packs import current_pack
from portal.storage import pack_name
from portal.web.access import find_task, tab_context
from portal.web.files import file_response, no_such_bytes, wanted_range


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def pack(request: HttpRequest, slug: str, phase: str) -> HttpResponse:
    """Show the state of the files for the current leaderboards. A POST requests them."""
    context = _context(request, slug, phase)
    if request.method == "POST":
        request_paper_files(request.user, context["phase"], context["at"])
        return redirect("paper_pack", slug, phase)
    return render(request, "insights/paper.html", context)


@never_cache
@require_safe
def status(request: HttpRequest, slug: str, phase: str) -> HttpResponse:
    """Return the progress to a polling page, or 204 if nothing has changed since `seen`."""
    context = _context(request, slug, phase)
    if request.GET.get("seen") == context["seen"]:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, "insights/_paper.html", context)


@require_safe
def file(request: HttpRequest, slug: str, phase: str) -> HttpResponseBase:
    """Download the files for the current leaderboards. If they are not built yet, redirect to the page."""
    ready = _ready(request, _any_phase(request, slug, phase))
    if ready is None:
        _phase(request, slug, phase)
        return redirect("paper_pack", slug, phase)
    stored = StoredDataset(ready.sha256, ready.size)
    part = wanted_range(request, stored)
    if part is None:
        return no_such_bytes(stored)
    return file_response(request, stored, part, f"{slug}_{phase}_paper.zip", pack_name(ready.sha256))


def _ready(request: HttpRequest, phase: Phase) -> PaperPack | None:
    """Return the finished pack for the current leaderboards, or None."""
    found = current_pack(phase, request.user, database_now())
    return found if found is not None and found.state == PaperPack.State.READY else None


def _context(request: HttpRequest, slug: str, phase: str) -> dict[str, Any]:
    context = tab_context(request, slug, "leaderboard")
    found = _phase(request, slug, phase)
    now = current_pack(found, request.user, context["at"])
    return context | {"phase": found, "pack": now, "seen": f"{now.state}-{now.done}" if now else ""}


def _phase(request: HttpRequest, slug: str, phase: str) -> Phase:
    """Return the phase, or raise Http404 if the user may not see its scores."""
    found = _any_phase(request, slug, phase)
    if not found.scores_are_visible_to(request.user, database_now()):
        raise Http404
    return found


def _any_phase(request: HttpRequest, slug: str, phase: str) -> Phase:
    phases = Phase.objects.select_related("shared_task")
    return get_object_or_404(phases, shared_task=find_task(request, slug), slug=phase)
