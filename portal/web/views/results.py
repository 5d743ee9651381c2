"""The page of all leaderboards with public scores."""

from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.models.clock import database_now
from portal.queries.results import results as find_results


@require_safe
def results(request: HttpRequest) -> HttpResponse:
    """Show the leaderboards with public scores, with a search by task, track, metric, language and team."""
    wanted = {name: request.GET.get(name, "").strip() for name in ("search", "language")}
    found = find_results(database_now(), wanted["search"], wanted["language"], request.GET.get("page", "1"))
    query = urlencode({name: value for name, value in wanted.items() if value})
    context = {"found": found, "entries": found.page, "wanted": wanted, "query": query}
    return render(request, "results/results.html", context)
