"""The home page."""

from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from portal.models.clock import database_now
from portal.permissions import lacks_second_factor, may_create_tasks
from portal.queries.boards.choices import Choices
from portal.queries.boards.head import board_head
from portal.queries.boards.leaderboard import leaderboard
from portal.queries.duties import duties
from portal.queries.home import TaskFilter, home_lists, next_step
from portal.queries.my_tasks import my_tasks
from portal.queries.visible import public_releases
from portal.web.board_cache import kept_part

BEST = 5  # rows of the leaderboard on the home page


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
    context["my_tasks"] = my_tasks(request.user, at)
    context["latest_results"] = "" if request.user.is_authenticated or query else _latest_results(request)
    context["duties"] = duties(request.user, at, request.GET.get("organized", "1"))
    context["may_create_tasks"] = request.user.is_authenticated and may_create_tasks(request.user)
    context["demo_is_loading"] = settings.DEMO and settings.DEMO_IS_LOADING.exists()
    context["lacks_second_factor"] = context["duties"] is not None and lacks_second_factor(request.user)
    return render(request, "home/home.html", context)


def _latest_results(request: HttpRequest) -> str:
    """Render the best rows of the board that was released last. It is kept until the board changes."""
    newest = public_releases(database_now()).defer("content").first()
    if newest is None:
        return ""
    task, track = newest.track.shared_task, newest.track
    try:
        head = board_head(task.slug, track.slug, newest.phase.slug)
    except Http404:
        return ""  # the task's current rules have no such board anymore

    def make() -> SafeString:
        board = leaderboard(track, newest.phase, AnonymousUser(), head.at, Choices(baselines=False, size=BEST))
        return mark_safe(render_to_string("home/_released.html", {"board": board, "task": task}))  # noqa: S308 - ours

    return kept_part(request, head, "latest results", make)


@require_safe
def guide(request: HttpRequest) -> HttpResponse:
    return render(request, "guide/guide.html", {"portal_url": settings.PUBLIC_URL})
