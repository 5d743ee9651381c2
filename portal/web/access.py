"""Functions that views call first, to find the shared task in the URL and check access."""

from datetime import datetime
from typing import Any

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest
from django.shortcuts import get_object_or_404
from django.utils.http import url_has_allowed_host_and_scheme

from portal.actions.base.roles import NO_SECOND_FACTOR, ORGANIZERS, Role
from portal.models import Phase, SharedTask, User, Viewer
from portal.models.task import SharedTaskQuerySet
from portal.queries.tasks import task_page, visible_task


class SecondFactorMissing(PermissionDenied):
    """An organizer without a second factor requested an organizers' page. The error page links to setting one up."""


class SignedInRequest(HttpRequest):
    """The type of requests in views with `login_required`."""

    user: User
    second_factor_waived: bool  # whether the demo let an organizer in without a second factor; pages mention this


def tab_context(request: HttpRequest, slug: str, tab: str, at: datetime | None = None) -> dict[str, Any]:
    """Return the context that every page of a shared task needs. `at` defaults to the database's time."""
    found = visible_task(slug, request.user)
    if found is None:
        raise _not_visible(request.user, slug)
    shared_task, now = found
    at = at or now
    return {"page": task_page(shared_task, request.user, at), "tab": tab, "at": at}


def find_task(request: HttpRequest, slug: str, tasks: SharedTaskQuerySet | None = None) -> SharedTask:
    """Return the shared task in the URL, which must be one of `tasks`.

    Raises:
        Http404: there is no such task that the user may see.
        SecondFactorMissing: the user organizes the task but has no second factor.
    """
    tasks = SharedTask.objects.all() if tasks is None else tasks
    found = tasks.visible_to(request.user).filter(slug=slug).first()
    if found is None:
        raise _not_visible(request.user, slug)
    return found


def _not_visible(user: Viewer, slug: str) -> Exception:
    """Return the exception for a task that does not exist or that the user may not see."""
    return SecondFactorMissing() if SharedTask.objects.assigned_to(user).filter(slug=slug).exists() else Http404()


def next_address(request: HttpRequest) -> str:
    """Return the portal's own address to go to afterwards, `next`, or an empty text."""
    wanted = request.POST.get("next") or request.GET.get("next", "")
    return wanted if wanted.startswith("/") and url_has_allowed_host_and_scheme(wanted, None) else ""


def require_role(role: Role, user: Viewer, target: Any) -> None:
    """Check that the user has the role that a page's action declares.

    Raises:
        Http404: the user lacks the role, so the page does not exist for them.
        SecondFactorMissing: the user has the role but no second factor.
    """
    missing = role.missing(user, target)
    if missing is not None:
        raise SecondFactorMissing if missing is NO_SECOND_FACTOR else Http404


def organizer_context(request: HttpRequest, slug: str, part: str) -> dict[str, Any]:
    """Return the context of an organizers' page. If the demo waives a second factor, note this on the request.

    Raises:
        Http404: the user does not organize the task.
        SecondFactorMissing: the user organizes the task but has no second factor.
    """
    context = tab_context(request, slug, "organize")
    require_role(ORGANIZERS, request.user, context["page"].shared_task)
    assert isinstance(request.user, User)
    request.second_factor_waived = settings.DEMO and not request.user.has_second_factor  # type: ignore[attr-defined]
    return context | {"part": part}


def organizer_phase(request: HttpRequest, slug: str, phase: str, part: str) -> tuple[dict[str, Any], Phase]:
    """Return the context of a page about a phase, and the phase."""
    context = organizer_context(request, slug, part)
    return context, get_object_or_404(Phase, slug=phase, shared_task=context["page"].shared_task)


def client_address(request: HttpRequest) -> str | None:
    """Return the client's IP address according to allauth's proxy settings, or None if it is invalid."""
    try:
        return get_adapter().get_client_ip(request)
    except PermissionDenied:
        return None
