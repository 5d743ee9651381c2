"""The home page."""

from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.models.clock import database_now
from portal.permissions import lacks_second_factor, may_create_tasks
from portal.queries.duties import duties
from portal.queries.home import TaskFilter, home_lists, next_step


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Show shared tasks by state, and the user's next step."""
    at = database_now()
    wanted = {name: request.GET.get(name, "").strip() for name in ("search", "language", "year")}
    lists = home_lists(request.user, at, TaskFilter(*wanted.values()), request.GET.get("page", "1"))
    groups = [
        {"state": "open", "title": _("Open"), "lines": lists.open, "when": _("Next deadline")},
        {"state": "coming", "title": _("Upcoming"), "lines": lists.upcoming, "when": _("Next date")},
        {"state": "closed", "title": _("Ended"), "lines": lists.ended, "when": _("Results")},
    ]  # fmt: skip
    query = urlencode({name: value for name, value in wanted.items() if value})
    context = {"groups": groups, "lists": lists, "entries": lists.page, "wanted": wanted, "query": query, "at": at}
    context["next"] = next_step(request.user, at)
    context["duties"] = duties(request.user, at, request.GET.get("organized", "1"))
    context["may_create_tasks"] = request.user.is_authenticated and may_create_tasks(request.user)
    context["demo_is_loading"] = settings.DEMO and settings.DEMO_IS_LOADING.exists()
    context["lacks_second_factor"] = context["duties"] is not None and lacks_second_factor(request.user)
    return render(request, "home/home.html", context)


@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    return render(request, "guide/guide.html", {"portal_url": settings.PUBLIC_URL})
