"""The upload page, which submits or validates files."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.crypto import get_random_string
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions.base.errors import ActionError
from portal.actions.base.roles import TAKING_PART
from portal.actions.uploads.intake import PHASE_CLOSED, TOO_LARGE, UNSIGNED, too_large
from portal.actions.uploads.new_runs import NO_RUNS_LEFT
from portal.actions.uploads.submit import UPLOAD_REJECTED
from portal.actions.uploads.submit import submit as submit_upload
from portal.actions.uploads.validate_only import validate_only
from portal.models import Phase, Viewer
from portal.models.clock import database_now
from portal.queries.upload_page import Rejection, UploadPage, may_upload, missed_phase, upload_page
from portal.queries.visible import visible_validations
from portal.web.access import SignedInRequest, tab_context
from portal.web.bodies import BODY_BYTES, allow_large_file
from portal.web.forms import UploadForm, ValidationForm
from scoring.limits import UPLOAD_BYTES

_USED_UP = {code.code for code in NO_RUNS_LEFT.values()}
_SHOWN_BY_THE_PAGE = {code.code for code in (*TAKING_PART.errors, UNSIGNED)}  # the upload page explains what to do


@dataclass(frozen=True, slots=True)
class _Purpose:
    """What a file is uploaded for.

    `carry_out` passes the page's context, the phase and the form's values to the action, and returns the response.
    `rejected` is the template for errors.
    """

    form: type[UploadForm]
    carry_out: Callable[[SignedInRequest, dict[str, Any], Phase, dict[str, Any]], HttpResponse]
    rejected: str


@never_cache  # a copy from the browser's history would send the same key again
@csrf_exempt  # checking CSRF reads the body, so `_received` does it after size and sender are checked
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def submit(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the upload page, and receive uploads."""
    if request.method == "POST":
        return _guarded(request, slug, _Purpose(UploadForm, _submit, "submit/rejected.html"))
    context = tab_context(request, slug, "submit")
    return _show(request, context, upload_page(context["page"], context["at"]))


@csrf_exempt  # as above
@login_required
@require_POST
def validate(request: SignedInRequest, slug: str) -> HttpResponse:
    """Store a file until a worker has validated it, and redirect to its report."""
    return _guarded(request, slug, _Purpose(ValidationForm, _validate, "submit/upload.html"))


def _guarded(request: SignedInRequest, slug: str, purpose: _Purpose) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > BODY_BYTES:
        return _too_large(request, too_large(UPLOAD_BYTES))
    context = tab_context(request, slug, "submit")
    page, at = context["page"], context["at"]
    if not may_upload(page):
        upload = replace(upload_page(page, at), missed=missed_phase(page, page.phases, at))
        return _whole_page(_show(request, context, upload, HTTPStatus.FORBIDDEN))
    allow_large_file(request)
    return _received(request, context, purpose)


@csrf_protect
def _received(request: SignedInRequest, context: dict[str, Any], purpose: _Purpose) -> HttpResponse:
    sent = request.FILES  # reads the body, so the time must be read after this
    page, context["at"] = context["page"], database_now()
    form = purpose.form(request.POST, sent, phases=page.phases, shared_task=page.shared_task)
    if not form.is_valid():
        upload = upload_page(page, context["at"])
        return _whole_page(_show(request, context, upload, HTTPStatus.UNPROCESSABLE_ENTITY, form))
    phase = page.phase(form.cleaned_data["phase"])
    try:
        return purpose.carry_out(request, context, phase, form.cleaned_data)
    except ActionError as error:
        if error.code == TOO_LARGE.code:
            return _too_large(request, error)
        context = tab_context(request, page.shared_task.slug, "submit")  # reading the body may have taken a long time
        return _rejected(request, context, phase, error, form, purpose.rejected)


def _submit(request: SignedInRequest, context: dict[str, Any], phase: Phase, values: dict[str, Any]) -> HttpResponse:
    given = {name: values[name] for name in ("slot", "key", "fields")}
    file = values["file"]
    submission = submit_upload(request.user, phase, context["at"], content=file.chunks(), file_name=file.name, **given)
    address = reverse("submission", args=[phase.shared_task.slug, submission.pk])
    if "HX-Request" in request.headers:
        return HttpResponse(headers={"HX-Redirect": address})
    return _see_other(redirect(address))


def _validate(request: SignedInRequest, context: dict[str, Any], phase: Phase, values: dict[str, Any]) -> HttpResponse:
    file, slot, at = values["file"], values["slot"], context["at"]
    validation = validate_only(request.user, phase, at, content=file.chunks(), file_name=file.name, slot=slot)
    if "HX-Request" in request.headers:
        values = context | {"validation": validation}
        return render(request, "submit/_validation.html", values, status=HTTPStatus.ACCEPTED)
    return _see_other(redirect("validation", phase.shared_task.slug, validation.pk))


def _rejected(
    request: HttpRequest, context: dict[str, Any], phase: Phase, error: ActionError, form: UploadForm, template: str
) -> HttpResponse:
    page, at = context["page"], context["at"]
    missed = missed_phase(page, [phase], at) if error.code == PHASE_CLOSED.code else None
    if missed or error.code in _SHOWN_BY_THE_PAGE:
        upload = replace(upload_page(page, at), missed=missed)
        return _whole_page(_show(request, context, upload, HTTPStatus.FORBIDDEN, form))
    rejection = _rejection(error, form.cleaned_data["file"].name, request.user)
    return _show(request, context, UploadPage(page, at, phase, rejection=rejection), error.http_status, form, template)


def _rejection(error: ActionError, file_name: str, user: Viewer) -> Rejection:
    """Return why the file was rejected. If its names are invalid, this lists all problems."""
    if error.code != UPLOAD_REJECTED.code:
        return Rejection(file_name, error.message, error.code in _USED_UP)
    pk = error.params["validation"]
    validation = visible_validations(user).get(pk=pk) if pk else None
    runs, problems = error.params["runs"], error.params["problems"]
    return Rejection(file_name, runs=runs, problems=problems, validation=validation)


def _show(
    request: HttpRequest,
    context: dict[str, Any],
    upload: UploadPage,
    status: int = HTTPStatus.OK,
    form: UploadForm | None = None,
    template: str = "submit/upload.html",
) -> HttpResponse:
    return render(request, template, context | form_context(upload, form), status=status)


def form_context(upload: UploadPage, form: UploadForm | None = None) -> dict[str, Any]:
    """Return what the form for uploads needs: by default, an empty one."""
    if form is None:
        form = UploadForm(phases=upload.page.phases, shared_task=upload.page.shared_task)
    key, slot = get_random_string(22), ""
    if form.is_valid():
        key, slot = form.cleaned_data["key"], form.cleaned_data["slot"]
    return {"upload": upload, "form": form, "key": key, "slot": slot, "limit": UPLOAD_BYTES}


def _too_large(request: HttpRequest, error: ActionError) -> HttpResponse:
    return _whole_page(render(request, "413.html", {**error.params, "is_of_runs": True}, status=error.http_status))


def _whole_page(response: HttpResponse) -> HttpResponse:
    """Make HTMX show this response as a whole page, even if it requested only a part."""
    response["HX-Retarget"] = response["HX-Reselect"] = "#main"
    return response


def _see_other(response: HttpResponse) -> HttpResponse:
    response.status_code = HTTPStatus.SEE_OTHER
    return response
