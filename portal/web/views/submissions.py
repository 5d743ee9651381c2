"""Uploading, and watching what becomes of an upload."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.utils.functional import SimpleLazyObject
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.errors import ActionError, count_refusal
from portal.actions.rejections import recognize
from portal.actions.submit import submit as take
from portal.actions.validate_only import validate_only
from portal.models import Phase, Submission, Validation
from portal.permissions import has_signed
from portal.queries.quota import remaining
from portal.queries.runs import SubmissionView, submission_view
from portal.queries.uploads import right_names
from portal.storage import StoredUpload, UploadTooLarge, store_upload
from portal.web.access import SignedInRequest, own_team, tab_context
from portal.web.bodies import BODY_BYTES, allow_large_file
from portal.web.forms import UploadForm
from scoring.limits import UPLOAD_BYTES

Receiver = Callable[[SignedInRequest, dict[str, Any], Phase, StoredUpload], HttpResponse]
"""What is done with a whole body: the page's context, the phase and the body to the answer."""


@never_cache  # Back brings a new key
@csrf_exempt  # looking for the token would read the body: `_receive` does it, once the size is known to be bearable
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: SignedInRequest, slug: str) -> HttpResponse:
    """The page from which runs are sent, and the address to which they are sent."""
    if request.method == "POST":
        return _guarded(request, slug, _take)
    context = _context(request, slug)
    return render(request, "submit/upload.html", context)


@csrf_exempt  # as above
@login_required
@require_POST
def validate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Keep a file until a worker has checked it, and lead to where its report appears."""
    return _guarded(request, slug, _validate)


def _guarded(request: SignedInRequest, slug: str, then: Receiver) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > BODY_BYTES:
        return _too_large(request)
    allow_large_file(request)
    return _receive(request, slug, then)


@csrf_protect
def _receive(request: SignedInRequest, slug: str, then: Receiver) -> HttpResponse:
    sent = request.FILES  # reads the body; which phases are open is asked when it is in
    context = _context(request, slug)
    context |= _lateness(context, request.POST.get("phase", ""))
    page, team = context["page"], context["team"]
    form = UploadForm(request.POST, sent, phases=page.open_phases)
    if team is None or context["must_sign"] or "late_for" in context or not page.open_phases:
        return _whole_page(render(request, "submit/upload.html", context, status=HTTPStatus.FORBIDDEN))
    if not form.is_valid():
        context["form"] = form
        return _whole_page(render(request, "submit/upload.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY))
    phase = next(phase for phase in page.open_phases if phase.slug == form.cleaned_data["phase"])
    context |= _limits(request, context, phase)
    file = form.cleaned_data["file"]
    try:
        with store_upload(file.chunks(), file.name, UPLOAD_BYTES) as stored:
            context |= {"key": form.cleaned_data["key"], "slot": form.cleaned_data["slot"]}
            return then(request, context, phase, stored)
    except UploadTooLarge:
        return _too_large(request)


def _lateness(context: dict[str, Any], slug: str) -> dict[str, Any]:
    """The phase for which a body came too late, and since when: it was open when the upload began."""
    page, team = context["page"], context["team"]
    phase = next((phase for phase in page.phases if phase.slug == slug and phase not in page.open_phases), None)
    closed = phase.closes_for(team.pk) if phase is not None and team is not None else None
    return {"late_for": phase, "late_since": closed} if closed is not None and closed <= context["at"] else {}


def _validate(request: SignedInRequest, context: dict[str, Any], phase: Phase, stored: StoredUpload) -> HttpResponse:
    shared_task = context["page"].shared_task
    try:
        validation = validate_only(request.user, shared_task, phase, stored, slot=context["slot"])
    except ActionError as refused:
        return render(request, "submit/upload.html", context | {"refused": refused}, status=refused.http_status)
    if "HX-Request" in request.headers:
        return render(request, "submit/_validation.html", context | {"validation": validation}, status=202)
    response = redirect("validation", shared_task.slug, validation.pk)
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _take(request: SignedInRequest, context: dict[str, Any], phase: Phase, stored: StoredUpload) -> HttpResponse:
    shared_task = context["page"].shared_task
    try:
        upload = recognize(request.user, context["team"], phase, stored, context["at"])
    except ActionError as refused:
        return _not_accepted(request, context | {"file_name": stored.name}, refused)
    context |= {
        "file_name": stored.name,
        "runs": upload.runs,
        "problems": [problem.as_dict() for problem in upload.report],
        "wrong_names": {problem.file for problem in upload.report.errors},
    }
    if not upload.report.ok:
        context["validation"] = _content(request, context, phase, stored) if upload.runs else None
        return render(request, "submit/refused.html", context, status=HTTPStatus.UNPROCESSABLE_ENTITY)
    try:
        at = context["at"]  # asked when the whole body was in
        submission = take(request.user, shared_task, phase, stored, upload, context["key"], at, context["slot"])
    except ActionError as refused:
        return _not_accepted(request, context, refused)
    address = reverse("submission", args=[shared_task.slug, submission.pk])
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": address})
    response = redirect(address)
    response.status_code = HTTPStatus.SEE_OTHER
    return response


def _not_accepted(request: HttpRequest, context: dict[str, Any], refused: ActionError) -> HttpResponse:
    count_refusal([refused.code])
    context |= {"message": refused.message, "is_used_up": refused.code == "no_runs_left"}
    return render(request, "submit/refused.html", context, status=refused.http_status)


def _content(
    request: SignedInRequest, context: dict[str, Any], phase: Phase, stored: StoredUpload
) -> Validation | None:
    """Have the content checked of an upload whose names are invalid; None where that cannot be done now."""
    try:
        return validate_only(request.user, context["page"].shared_task, phase, stored, context["at"])
    except ActionError:
        return None


@require_safe
@login_required
def submission(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """The receipt, the state of every run, and every problem."""
    return render(request, "submit/submission.html", _view_context(request, slug, pk))


@require_safe
@login_required
def status(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """What the page asks for until all is done; 204 while nothing has changed since what it has `seen`."""
    context = _view_context(request, slug, pk)
    if request.GET.get("seen") == context["signature"]:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, "submit/_status.html", context | {"is_fragment": True})


@require_safe
@login_required
def report(request: HttpRequest, slug: str, pk: str) -> JsonResponse:
    """The problems as `agon check --json` prints them, for every run."""
    view: SubmissionView = _view_context(request, slug, pk)["view"]
    problems = [*view.problems, *(problem for line in view.runs for problem in line.problems)]
    name = f"report_{view.submission.pk}.json"
    return JsonResponse(
        {"ok": view.state != Submission.State.REJECTED, "state": view.state, "problems": problems},
        json_dumps_params={"indent": 1, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _context(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Names and limits are found out when a page prints them: an upload that is taken shows none.

    Of several open phases the one whose scores wait for their release is chosen: the one that counts.
    """
    context = tab_context(request, slug, "submit")
    page = context["page"]
    phase = next((phase for phase in page.open_phases if phase.scores == Phase.Scores.ON_RELEASE), page.current_phase)
    names: Any = SimpleLazyObject(lambda: right_names(page.shared_task, page.team, phase))
    command = SimpleLazyObject(lambda: names.check_command)
    context |= {"team": own_team(page), "limit": UPLOAD_BYTES, "names": names, "check_command": command}
    context["has_slots"] = any(phase.contrastive is not None for phase in page.open_phases)
    context["must_sign"] = not has_signed(request.user, page.shared_task)
    return context | {"key": get_random_string(22)} | _limits(request, context, phase)


def _limits(request: HttpRequest, context: dict[str, Any], phase: Phase | None) -> dict[str, Any]:
    team, at = context["team"], context["at"]
    limits: Any = SimpleLazyObject(lambda: remaining(team, request.user, phase, at)) if team and phase else []
    return {"chosen_phase": phase, "limits": limits}


def _view_context(request: HttpRequest, slug: str, pk: str) -> dict[str, Any]:
    visible = Submission.objects.visible_to(request.user).select_related("phase", "team", "sent_by", "shared_task")
    found = get_object_or_404(visible, pk=pk, shared_task__slug=slug)
    context = tab_context(request, slug, "submit")
    view = submission_view(found, request.user, context["at"])
    names = right_names(found.shared_task, found.team, found.phase)
    delayed = ["delayed"] if view.is_delayed else []
    signature = "-".join([view.state, *(line.state for line in view.runs), *delayed])
    return context | {
        "view": view,
        "runs_with_problems": [line for line in view.runs if line.problems],
        "names": names,
        "check_command": names.check_command,
        "signature": signature,
    }


def _too_large(request: HttpRequest) -> HttpResponse:
    count_refusal(["too_large"])
    context = {"limit": UPLOAD_BYTES}
    return _whole_page(render(request, "413.html", context, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE))


def _whole_page(response: HttpResponse) -> HttpResponse:
    """Shown in place of the page even where HTMX asked for the findings alone."""
    response["HX-Retarget"] = response["HX-Reselect"] = "#main"
    return response
