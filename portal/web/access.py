"""What a view begins with: the shared task of the address, and pages that are for some people only."""

from collections.abc import Callable
from datetime import datetime
from functools import wraps
from http import HTTPStatus
from typing import Any

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django_htmx.middleware import HtmxDetails

from portal.models import SharedTask, Team, User
from portal.models.clock import database_now
from portal.permissions import has_second_factor, lacks_second_factor, may_organize
from portal.queries.tasks import TaskPage, task_page


class SignedInRequest(HttpRequest):
    """What a view behind `login_required` gets, for its annotations."""

    user: User
    htmx: HtmxDetails  # set by the middleware
    second_factor_waived: bool  # the demo asks for none, and the page says so


def find_page(request: HttpRequest, slug: str, at: datetime) -> TaskPage:
    """The head of a shared task's page for that reader; 404 where there is no such task."""
    return task_page(get_object_or_404(SharedTask.objects.prefetch_related("tracks"), slug=slug), request.user, at)


def tab_context(request: HttpRequest, slug: str, tab: str, at: datetime | None = None) -> dict[str, Any]:
    """What the template of every tab of a shared task needs; `at` unless it is to be asked for."""
    at = at or database_now()
    return {"page": find_page(request, slug, at), "tab": tab, "at": at}


def require_organizer(request: HttpRequest, page: TaskPage) -> None:
    """404 for everybody but the task's organizers and administrators: to others there is no such page."""
    if not may_organize(request.user, page.shared_task):
        raise Http404


def second_factor_required(view: Callable[..., HttpResponse]) -> Callable[..., HttpResponse]:
    """For organizers' pages and posts that touch gold or releases; stands right above the view.

    Without a second factor the answer is 403 and the way to one. To those who do not organize the task of the address
    there is no such page.
    """

    @wraps(view)
    def guarded(request: SignedInRequest, slug: str, *args: Any, **kwargs: Any) -> HttpResponse:
        require_organizer(request, find_page(request, slug, database_now()))
        if lacks_second_factor(request.user):
            return render(request, "organize/second_factor.html", status=HTTPStatus.FORBIDDEN)
        request.second_factor_waived = not has_second_factor(request.user)
        return view(request, slug, *args, **kwargs)

    return guarded


def organizer_context(request: HttpRequest, slug: str, part: str) -> dict[str, Any]:
    """What the template of each of the organizers' pages needs; 404 for everybody else."""
    context = tab_context(request, slug, "organize")
    require_organizer(request, context["page"])
    return context | {"part": part}


def client_address(request: HttpRequest) -> str | None:
    """Where the request comes from, as allauth's settings for proxies say; None where that is not an address."""
    try:
        return get_adapter().get_client_ip(request)
    except PermissionDenied:
        return None


def own_team(page: TaskPage) -> Team | None:
    """The reader's team if it takes part."""
    team = page.team
    return team if team is not None and team.takes_part else None
