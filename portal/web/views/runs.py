"""Pages about a team's runs and about one run, and the run file."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from io import BytesIO
from typing import Any
from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import FileResponse, Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from portal.actions.base.errors import ActionError
from portal.figures.classes import positive_lines, run_figures
from portal.models import Run
from portal.models.clock import database_now
from portal.paper.references import team_citation
from portal.permissions import may_change_run, may_download_run
from portal.queries import runs as queries
from portal.queries.boards.run_scores import earlier_scores, place
from portal.queries.boards.slices import run_slices
from portal.queries.items import item_table, items_are_unread
from portal.queries.my_runs import rejected_uploads
from portal.queries.public_teams import public_run
from portal.queries.uploads import run_body
from portal.queries.visible import visible_runs
from portal.web.access import tab_context
from portal.web.board_address import item_choice
from portal.web.views import public_teams


@require_safe
@login_required
def team_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Show all runs of the user's team."""
    context = tab_context(request, slug, "runs")
    team = context["page"].team
    every = queries.team_runs(team, request.user, context["at"]) if team else []
    lines = [line for line in every if line.state != Run.State.REJECTED]
    official_runs = queries.official_runs_of(lines, request.user, context["at"])
    context |= {
        "lines": lines,
        "official_runs": official_runs,
        "official": {official_run.run for official_run in official_runs},
        "choosing": {official_run.phase for official_run in official_runs if official_run.may_choose},
        "tab_of_runs": "rejected" if request.GET.get("tab") == "rejected" else "runs",
        "query": "tab=rejected",
    }
    if team:
        context["uploads"] = rejected_uploads([team.pk], request.GET.get("page", "1"))
        context["rejected"] = context["uploads"].paginator.count
    return render(request, "runs/list.html", context)


@require_safe
def run(request: HttpRequest, pk: str) -> HttpResponse:
    """Show a run to its team and the organizers, or the public part of it to others. Baselines are public."""
    found = visible_runs(request.user).filter(pk=pk).first()
    if found is not None:
        return run_page(request, found)
    released = public_run(UUID(str(pk)), database_now())
    if released is None:
        raise Http404
    return public_teams.run_page(request, released)


def run_page(request: HttpRequest, found: Run, error: ActionError | None = None) -> HttpResponse:
    """Render a run's page, with an action's error if there is one."""
    context = tab_context(request, found.track.shared_task.slug, "runs" if found.team else "leaderboard")
    view = queries.run_view(found, request.user, context["at"])
    context |= {
        "run": view.line.run,
        "view": view,
        "place": place(found, request.user, context["at"]) if view.evaluation else None,
        "earlier": earlier_scores(found, view.evaluation, request.user, context["at"]),
        **_items(request, view, context["at"]),
        "citation": team_citation(found.team) if found.team and (found.team.bibtex or found.team.paper) else "",
        "columns": _columns(view),
        "slices": run_slices(view.evaluation) if view.evaluation else (),
        "figures": run_figures(view.evaluation.details) if view.evaluation else (),
        "may_download": may_download_run(request.user, found),
        "may_change": may_change_run(request.user, found),
        "error": error,
    }
    return render(request, "runs/run.html", context, status=error.http_status if error else HTTPStatus.OK)


def _columns(view: queries.RunView) -> Sequence[Mapping[str, Any]]:
    """Return a line for each scored column, if there are several and all of them have only the values 0 and 1."""
    classes = view.evaluation.details.get("classes", ()) if view.evaluation else ()
    are_flags = all({line["name"] for line in column["lines"]} <= {"0", "1"} for column in classes)
    return positive_lines(classes) if len(classes) > 1 and are_flags else ()


def _items(request: HttpRequest, view: queries.RunView, at: datetime) -> dict[str, Any]:
    """Return context with the table of the run's items, and whether it is missing because they could not be read."""
    run, evaluation = view.line.run, view.evaluation
    if evaluation is None:
        return {}
    return {
        "table": item_table(run.track, run.phase, {run.name: evaluation.pk}, item_choice(request.GET), at),
        "are_unread": items_are_unread(run.track, run.phase, evaluation.pk, at),
    }


@require_safe
@login_required
def run_file(request: HttpRequest, pk: str) -> FileResponse:
    """Return the run file as it was uploaded. If it is in an archive, extract it."""
    found = find_run(request, pk)
    if not may_download_run(request.user, found):
        raise Http404
    return FileResponse(BytesIO(run_body(found)), as_attachment=True, filename=found.file_name)


def find_run(request: HttpRequest, pk: str) -> Run:
    """Return the run in the URL, or raise Http404 if the user may not see it."""
    return get_object_or_404(visible_runs(request.user), pk=pk)
