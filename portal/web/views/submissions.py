"""Pages to follow an upload's progress."""

from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from portal.models import Submission
from portal.queries.runs import SubmissionView, submission_view
from portal.queries.tasks import TaskPage
from portal.queries.upload_page import UploadPage
from portal.queries.uploads import valid_names
from portal.queries.visible import visible_submissions
from portal.web.access import tab_context
from portal.web.views.uploads import form_context


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
        **_form_for_corrections(context["page"], found, context["at"]),
        "names": names,
        "commands": [(found.phase, "\n".join(names.commands))],
        "signature": signature,
    }


def _form_for_corrections(page: TaskPage, submission: Submission, at: datetime) -> dict[str, Any]:
    """Return the context of the form for uploads if the upload was rejected and its team can upload another now."""
    is_rejected = submission.state == Submission.State.REJECTED
    if not is_rejected or page.participating_team != submission.team or submission.phase not in page.open_phases:
        return {}
    upload = UploadPage(page, at, submission.phase)
    return {} if upload.must_sign else form_context(upload)
