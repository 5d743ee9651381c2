"""Pages to upload runs and follow an upload's progress."""

from collections.abc import Callable
from http import HTTPStatus
from operator import itemgetter
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

from portal.actions.base.errors import ActionError
from portal.actions.base.roles import TAKING_PART
from portal.actions.uploads.intake import PHASE_CLOSED, TOO_LARGE, UNSIGNED, too_large
from portal.actions.uploads.new_runs import NO_RUNS_LEFT
from portal.actions.uploads.submit import UPLOAD_REJECTED
from portal.actions.uploads.submit import submit as submit_upload
from portal.actions.uploads.validate_only import validate_only
from portal.models import Phase, Validation, Viewer
from portal.models.clock import database_now
from portal.permissions import has_signed
from portal.queries.quota import remaining
from portal.queries.runs import SubmissionView, submission_view
from portal.queries.tasks import TaskPage
from portal.queries.uploads import upload_to_replace, valid_names
from portal.queries.visible import visible_submissions, visible_validations
from portal.web.access import SignedInRequest, own_team, tab_context
from portal.web.bodies import BODY_BYTES, allow_large_file
from portal.web.forms import UploadForm, ValidationForm
from scoring.limits import UPLOAD_BYTES

Receiver = Callable[[SignedInRequest, dict[str, Any], Phase, dict[str, Any]], HttpResponse]
"""A function that handles an upload once its body has been read: page context, phase and action input → response."""

_USED_UP = {code.code for code in NO_RUNS_LEFT.values()}
_SHOWN_BY_THE_PAGE = {code.code for code in (*TAKING_PART.errors, UNSIGNED)}  # the upload page explains what to do


@never_cache  # a copy from the browser's history would send the same key again
@csrf_exempt  # checking CSRF reads the body, so `_receive` does it after size and sender are checked
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the upload page, and receive uploads."""
    if request.method == "POST":
        return _guarded(request, slug, UploadForm, _submit, "submit/rejected.html")
    return render(request, "submit/upload.html", _context(request, slug))


@csrf_exempt  # as above
@login_required
@require_POST
def validate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Store a file until a worker has validated it, and redirect to its report."""
    return _guarded(request, slug, ValidationForm, _validate, "submit/upload.html")


def _guarded(
    request: SignedInRequest, slug: str, form_type: type[UploadForm], then: Receiver, template: str
) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > BODY_BYTES:
        return _too_large(request, too_large(UPLOAD_BYTES))
    context = _context(request, slug)
    page, team = context["page"], context["team"]
    # An upload that is sent again gets the same response as before, even after the phase has closed.
    if team is None or not (page.open_phases or team.submissions.filter(sent_by=request.user).exists()):
        return _upload_page(request, context | _lateness(context, *page.phases), HTTPStatus.FORBIDDEN)
    allow_large_file(request)
    return _receive(request, context, form_type, then, template)


@csrf_protect
def _receive(
    request: SignedInRequest, context: dict[str, Any], form_type: type[UploadForm], then: Receiver, template: str
) -> HttpResponse:
    sent = request.FILES  # reads the body, so the time must be read after this
    page, context["at"] = context["page"], database_now()
    form = form_type(request.POST, sent, phases=page.phases, shared_task=page.shared_task)
    context["form"] = form
    if not form.is_valid():
        return _upload_page(request, context, HTTPStatus.UNPROCESSABLE_ENTITY)
    values = form.cleaned_data
    file, phase = values["file"], next(phase for phase in page.phases if phase.slug == values["phase"])
    context |= _limits(request, context, phase) | {"key": values["key"], "slot": values["slot"], "file_name": file.name}
    try:
        given = {"content": file.chunks(), "file_name": file.name, "slot": values["slot"]}
        return then(request, context, phase, given)
    except ActionError as error:
        context |= tab_context(request, page.shared_task.slug, "submit")  # reading the body may have taken a long time
        return _rejected(request, context, phase, error, template)


def _submit(request: SignedInRequest, context: dict[str, Any], phase: Phase, given: dict[str, Any]) -> HttpResponse:
    submission = submit_upload(
        request.user, phase, context["at"], key=context["key"], fields=context["form"].cleaned_data["fields"], **given
    )
    address = reverse("submission", args=[context["page"].shared_task.slug, submission.pk])
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": address})
    return _see_other(redirect(address))


def _validate(request: SignedInRequest, context: dict[str, Any], phase: Phase, given: dict[str, Any]) -> HttpResponse:
    validation = validate_only(request.user, phase, context["at"], **given)
    if "HX-Request" in request.headers:
        return render(request, "submit/_validation.html", context | {"validation": validation}, status=202)
    return _see_other(redirect("validation", context["page"].shared_task.slug, validation.pk))


def _rejected(
    request: HttpRequest, context: dict[str, Any], phase: Phase, error: ActionError, template: str
) -> HttpResponse:
    if error.code == TOO_LARGE.code:
        return _too_large(request, error)
    if error.code in _SHOWN_BY_THE_PAGE:
        return _upload_page(request, context, HTTPStatus.FORBIDDEN)
    if error.code == PHASE_CLOSED.code and (late := _lateness(context, phase)):
        return _upload_page(request, context | late, HTTPStatus.FORBIDDEN)
    return render(request, template, context | _explained(error, request.user), status=error.http_status)


def _explained(error: ActionError, user: Viewer) -> dict[str, Any]:
    """Return context that explains an error. For an upload with invalid names, it lists all problems."""
    if error.code != UPLOAD_REJECTED.code:
        return {"error": error, "message": error.message, "is_used_up": error.code in _USED_UP}
    problems, validation = error.params["problems"], error.params["validation"]
    return {
        "runs": error.params["runs"],
        "problems": problems,
        "wrong_names": {problem["file"] for problem in problems if problem["severity"] == "error"},
        "validation": visible_validations(user).get(pk=validation) if validation else None,
    }


def _lateness(context: dict[str, Any], *phases: Phase) -> dict[str, Any]:
    """Return context with the phase that the upload came too late for, and when it closed.

    If there are several, use the one that closed last.
    """
    if context["team"] is None:
        return {}
    closings = [(closes, phase) for phase in phases if (closes := phase.closes_for(context["team"].pk))]
    closed = [(closes, phase) for closes, phase in closings if closes <= context["at"]]
    since, last = max(closed, key=itemgetter(0), default=(None, None))
    return {"late_for": last, "late_since": since} if last else {}


@require_safe
@login_required
def submission(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """Show an upload's receipt, the state of every run, and every problem."""
    return render(request, "submit/submission.html", _view_context(request, slug, pk))


@require_safe
@login_required
def status(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """Return the progress to a polling page, or 204 if nothing has changed since `seen`."""
    context = _view_context(request, slug, pk)
    if request.GET.get("seen") == context["signature"]:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, "submit/_status.html", context | {"is_fragment": True})


@require_safe
@login_required
def report(request: HttpRequest, slug: str, pk: str) -> JsonResponse:
    """Return the problems in every run, in the format of `agon check --json`."""
    view: SubmissionView = _view_context(request, slug, pk)["view"]
    name = f"report_{view.submission.pk}.json"
    return JsonResponse(
        view.report,
        json_dumps_params={"indent": 1, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def _context(request: HttpRequest, slug: str) -> dict[str, Any]:
    """Return the page's context. Names, limits and signature are lazy, because an accepted upload needs none of them.

    If several phases are open, one whose scores are shown on release is preselected, because that is the one that
    counts.
    """
    context = tab_context(request, slug, "submit")
    page = context["page"]
    phase = next((phase for phase in page.open_phases if phase.scores == Phase.Scores.ON_RELEASE), page.current_phase)
    names: Any = SimpleLazyObject(lambda: valid_names(page.shared_task, page.team, phase))
    commands = SimpleLazyObject(lambda: _commands(page, phase))
    context |= {"team": own_team(page), "limit": UPLOAD_BYTES, "names": names, "commands": commands}
    context["form"] = UploadForm(phases=page.phases, shared_task=page.shared_task)
    context["has_slots"] = any(phase.contrastive is not None for phase in page.open_phases)
    context["must_sign"] = SimpleLazyObject(lambda: not has_signed(request.user, page.shared_task))
    context["own_validation"] = SimpleLazyObject(lambda: _unfinished_validation(request, page))
    return context | {"key": get_random_string(22)} | _limits(request, context, phase)


def _unfinished_validation(request: HttpRequest, page: TaskPage) -> Validation | None:
    """Return the person's validation in this task, which may be one that the portal started."""
    own = Validation.objects.visible_to(request.user)
    return own.unfinished().filter(phase__shared_task=page.shared_task).first()


def _commands(page: TaskPage, chosen: Phase | None) -> list[tuple[Phase | None, str]]:
    """Return the commands for each open phase, with the selected one first."""
    phases: list[Phase | None] = [*sorted(page.open_phases, key=lambda phase: phase != chosen)] or [chosen]
    return [(one, "\n".join(valid_names(page.shared_task, page.team, one).commands)) for one in phases]


def _limits(request: HttpRequest, context: dict[str, Any], phase: Phase | None) -> dict[str, Any]:
    team, at = context["team"], context["at"]
    phases = (context["page"].open_phases or [phase]) if team and phase else []
    single = [one for one in phases if one.max_submissions is not None]
    limits = SimpleLazyObject(lambda: [(one, remaining(team, request.user, one, at)) for one in phases])
    replacing = SimpleLazyObject(lambda: [(one, upload_to_replace(team, one)) for one in single])
    return {"chosen_phase": phase, "limits_by_phase": limits, "replacing": replacing}


def _view_context(request: HttpRequest, slug: str, pk: str) -> dict[str, Any]:
    found = get_object_or_404(visible_submissions(request.user), pk=pk, shared_task__slug=slug)
    context = tab_context(request, slug, "submit")
    view = submission_view(found, request.user, context["at"])
    names = valid_names(found.shared_task, found.team, found.phase)
    delayed = ["delayed"] if view.is_delayed else []
    place = [f"{view.place.before}.{view.place.seconds}"] if view.place else []
    signature = "-".join([view.state, *(line.state for line in view.runs), *delayed, *place])
    return context | {
        "view": view,
        "runs_with_problems": [line for line in view.runs if line.run.problems],
        "names": names,
        "commands": [(found.phase, "\n".join(names.commands))],
        "signature": signature,
    }


def _too_large(request: HttpRequest, error: ActionError) -> HttpResponse:
    return _whole_page(render(request, "413.html", {**error.params, "is_of_runs": True}, status=error.http_status))


def _upload_page(request: HttpRequest, context: dict[str, Any], status: HTTPStatus) -> HttpResponse:
    return _whole_page(render(request, "submit/upload.html", context, status=status))


def _whole_page(response: HttpResponse) -> HttpResponse:
    """Make HTMX show this response as a whole page, even if it requested only a part."""
    response["HX-Retarget"] = response["HX-Reselect"] = "#main"
    return response


def _see_other(response: HttpResponse) -> HttpResponse:
    response.status_code = HTTPStatus.SEE_OTHER
    return response
