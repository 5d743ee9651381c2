"""The team's password: given once a session, or with each encrypted file; it is never kept, and guesses are counted."""

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

from portal.actions.data import give_password, record_download
from portal.actions.refusal import ActionRefused, LimitReached, NotAllowed
from portal.models import SharedTask
from portal.models.task import StoredDataset
from portal.permissions import Obstacle
from portal.web.access import SignedInRequest, client_address, tab_context
from portal.web.dataset_lines import STAMPS, own_standing, step
from portal.web.files import encrypted_response

GUESSES = 20  # wrong passwords in one session, then it gets no further; the team goes on undisturbed
_MISSES = "data_password_misses"  # key of the session


@sensitive_post_parameters("password")
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: SignedInRequest, slug: str) -> HttpResponse:
    """Asks for the team's password once a session."""
    context = tab_context(request, slug, "data")
    page, at = context["page"], context["at"]
    if not page.shared_task.has_password_data:
        raise Http404
    if request.method == "POST" and not _is_shut(request):
        try:
            _take(request, page.shared_task, at)
        except ActionRefused as refused:
            return _refused(request, "data/password.html", context, refused)
        messages.success(request, _("The password is right; it is not asked again until you sign out."))
        return redirect("task_data", slug)
    obstacles = own_standing(request, page).obstacles("password", None, at)
    context["steps"] = [step(page, obstacle) for obstacle in obstacles if obstacle != Obstacle.PASSWORD]
    context |= {"is_known": not obstacles, "is_shut": _is_shut(request)}
    status = HTTPStatus.TOO_MANY_REQUESTS if context["is_shut"] else HTTPStatus.OK
    return render(request, "data/password.html", context, status=status)


@sensitive_variables("password")
def encrypted(request: HttpRequest, context: dict[str, Any], stored: StoredDataset) -> HttpResponseBase:
    """Asks for the password, and answers with the file in a zip that the same password opens."""
    page, line, at = context["page"], context["line"], context["at"]
    if request.method != "POST" or _is_shut(request):
        context["is_shut"] = _is_shut(request)
        status = HTTPStatus.TOO_MANY_REQUESTS if context["is_shut"] else HTTPStatus.OK
        return render(request, "data/encrypted.html", context, status=status)
    try:
        password = _take(request, page.shared_task, at)
    except ActionRefused as refused:
        return _refused(request, "data/encrypted.html", context, refused)
    own = own_standing(request, page)
    record_download(own, page.shared_task, line.slug, stored, 0, client_address(request), at)
    return encrypted_response(stored, line.file_name, password)


@sensitive_variables("password")
def _take(request: HttpRequest, shared_task: SharedTask, at: datetime) -> str:
    """The password if it is right, remembered by its stamp; a wrong one is counted against this session."""
    password = request.POST.get("password", "").strip()
    try:
        stamp = give_password(request.user, shared_task, password, at)  # type: ignore[arg-type] # refuses strangers
    except NotAllowed as refused:
        if refused.code != "wrong_password":
            raise
        request.session[_MISSES] = request.session.get(_MISSES, 0) + 1
        if _is_shut(request):
            raise LimitReached(refused.code, refused.message) from None
        raise
    request.session[STAMPS] = {**request.session.get(STAMPS, {}), str(shared_task.pk): stamp}
    return password


def _is_shut(request: HttpRequest) -> bool:
    return request.session.get(_MISSES, 0) >= GUESSES


def _refused(request: HttpRequest, template: str, context: dict[str, Any], refused: ActionRefused) -> HttpResponse:
    context |= {"refusal": refused.message, "is_shut": _is_shut(request)}
    return render(request, template, context, status=refused.http_status)
