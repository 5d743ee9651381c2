"""Pages of teams, and of runs on released boards, for everyone."""

from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.models import Run
from portal.models.clock import database_now
from portal.paper.references import team_citation
from portal.queries.boards.run_scores import place
from portal.queries.public_teams import public_team
from portal.queries.runs import run_view
from portal.web.access import tab_context


@require_safe
def team(request: HttpRequest, pk: int) -> HttpResponse:
    """Show a team with its released runs. The page exists once a public board names the team."""
    found = public_team(pk, database_now(), request.GET.get("page", ""))
    if found is None:
        raise Http404
    citations = [(team, team_citation(team)) for team in found.with_papers]
    return render(request, "public_teams/team.html", {"found": found, "entries": found.page, "citations": citations})


def run_page(request: HttpRequest, run: Run) -> HttpResponse:
    """Show a run on a public board to people who are not on its team."""
    context = tab_context(request, run.track.shared_task.slug, "leaderboard")
    reader = AnonymousUser()
    view = run_view(run, reader, context["at"])
    context |= {"run": view.line.run, "view": view, "place": place(run, reader, context["at"])}
    context["hides_description"] = not run.description_is_public
    context["citation"] = team_citation(run.team) if run.team and (run.team.bibtex or run.team.paper) else ""
    return render(request, "public_teams/run.html", context)
