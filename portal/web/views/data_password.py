"""Team passwords, which people enter once per session, and again for each encrypted file.

The session does not store them, and incorrect guesses are counted.
"""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters, sensitive_variables
from django.views.decorators.http import require_http_methods

from portal.actions.base.errors import ActionError
from portal.actions.data_password import give_password
from portal.models import FailedAttempt, SharedTask
from portal.models.task import DatasetDefinition, StoredDataset
from portal.permissions import Obstacle
from portal.queries.tasks import TaskPage
from portal.web.access import SignedInRequest, tab_context
from portal.web.datasets import STAMPS, dataset_response, known_stamp, own_access, step


@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: SignedInRequest, slug: str) -> HttpResponse:
    """Ask for the team's password, once per session."""
    context = tab_context(request, slug, "data")
    page, at = context["page"], context["at"]
    if not page.shared_task.has_password_data:
        raise Http404
    if request.method == "POST":
        try:
            _verified(request, page.shared_task, at)
        except ActionError as error:
            return _with_error(request, "data/password.html", context, error)
        messages.success(request, _("Password accepted. You won’t be asked again until you sign out."))
        return redirect("task_data", slug)
    obstacles = own_access(request, page).obstacles("password", None, at)
    context["steps"] = [step(page, obstacle) for obstacle in obstacles if obstacle != Obstacle.PASSWORD]
    context |= {"is_known": not obstacles, "is_shut": bool(obstacles) and _is_shut(request, page, at)}
    status = HTTPStatus.TOO_MANY_REQUESTS if context["is_shut"] else HTTPStatus.OK
    return render(request, "data/password.html", context, status=status)


@sensitive_variables("password")
def encrypted(
    request: HttpRequest, context: dict[str, Any], dataset: DatasetDefinition, stored: StoredDataset
) -> HttpResponseBase:
    """Ask for the password, then return the file in a zip encrypted with it."""
    page, at = context["page"], context["at"]
    if request.method != "POST":
        context["is_shut"] = _is_shut(request, page, at)
        status = HTTPStatus.TOO_MANY_REQUESTS if context["is_shut"] else HTTPStatus.OK
        return render(request, "data/encrypted.html", context, status=status)
    try:
        password = _verified(request, page.shared_task, at)
        stamp = known_stamp(request, page)
        return dataset_response(request, page, dataset, stored, at, stamp=stamp, password=password)
    except ActionError as error:
        return _with_error(request, "data/encrypted.html", context, error)


@sensitive_variables("password")
def _verified(request: HttpRequest, shared_task: SharedTask, at: datetime) -> str:
    """Return the entered password if it is the team's, and keep its stamp in the session."""
    password = request.POST.get("password", "").strip()
    stamp = give_password(request.user, shared_task, at, guess=password)
    request.session[STAMPS] = {**request.session.get(STAMPS, {}), str(shared_task.pk): stamp}
    return password


def _is_shut(request: HttpRequest, page: TaskPage, at: datetime) -> bool:
    """Return whether the user has no guesses left."""
    user = request.user
    if not user.is_authenticated or page.team is None:
        return False
    return FailedAttempt.objects.guesses_are_used_up(user, page.team, at)


def _with_error(request: HttpRequest, template: str, context: dict[str, Any], error: ActionError) -> HttpResponse:
    context |= {"refusal": error.message, "is_shut": error.http_status == HTTPStatus.TOO_MANY_REQUESTS}
    return render(request, template, context, status=error.http_status)
