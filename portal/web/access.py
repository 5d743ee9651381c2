"""The start of a view: the shared task in the URL, and pages that are for some people only."""

from datetime import datetime
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404

from portal.models import Phase, SharedTask, Team, User
from portal.models.clock import database_clock
from portal.models.task import SharedTaskQuerySet
from portal.queries.tasks import TaskPage, task_page


class SecondFactorMissing(PermissionDenied):
    """An organizer without a second factor asks for an organizers' page. The answer links to its setup."""


class SignedInRequest(HttpRequest):
    """The type of requests behind `login_required`."""

    user: User
    second_factor_waived: bool  # the demo needs none, and pages say so


def tab_context(request: HttpRequest, slug: str, tab: str, at: datetime | None = None) -> dict[str, Any]:
    """What the template of every tab of a shared task needs; `at` unless it is to be asked for."""
    tasks = SharedTask.objects.prefetch_related("tracks").annotate(now=database_clock())
    shared_task = find_task(request, slug, tasks)
    at = at or shared_task.now  # type: ignore[attr-defined]
    return {"page": task_page(shared_task, request.user, at), "tab": tab, "at": at}


def find_task(request: HttpRequest, slug: str, tasks: SharedTaskQuerySet | None = None) -> SharedTask:
    """The shared task in the URL, one of `tasks`.

    Raises:
        Http404: there is none that the reader may know of.
        SecondFactorMissing: the reader organizes it, and it is hidden from everyone else.
    """
    tasks = SharedTask.objects.all() if tasks is None else tasks
    found = tasks.visible_to(request.user).filter(slug=slug).first()
    if found is None:
        if SharedTask.objects.assigned_to(request.user).filter(slug=slug).exists():
            raise SecondFactorMissing
        raise Http404
    return found


def require_organizer(request: HttpRequest, page: TaskPage) -> None:
    """Reject everyone who may not organize the task. The demo notes on the request that it waived the second factor.

    Raises:
        Http404: the user does not organize the task, so the page does not exist for them.
        SecondFactorMissing: the user does, but has no second factor.
    """
    if page.lacks_second_factor:
        raise SecondFactorMissing
    if not page.is_organizer:
        raise Http404
    assert isinstance(request.user, User)
    request.second_factor_waived = settings.DEMO and not request.user.has_second_factor  # type: ignore[attr-defined]


def organizer_context(request: HttpRequest, slug: str, part: str) -> dict[str, Any]:
    """The context of organizers' pages; rejects as `require_organizer` does."""
    context = tab_context(request, slug, "organize")
    require_organizer(request, context["page"])
    return context | {"part": part}


def organizer_phase(request: HttpRequest, slug: str, phase: str, part: str) -> tuple[dict[str, Any], Phase]:
    """The context of a page about a phase, and the phase."""
    context = organizer_context(request, slug, part)
    return context, get_object_or_404(Phase, slug=phase, shared_task=context["page"].shared_task)


def client_address(request: HttpRequest) -> str | None:
    """The client's address by allauth's settings for proxies; None if it is not an address."""
    try:
        return get_adapter().get_client_ip(request)
    except PermissionDenied:
        return None


def own_team(page: TaskPage) -> Team | None:
    """The reader's team, if it takes part."""
    team = page.team
    return team if team is not None and team.takes_part else None
