"""A shared task's data: the list of files, and the files themselves."""

from contextlib import suppress
from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import etag, require_http_methods, require_safe

from portal.actions.base.errors import NotAllowed
from portal.markdown import Heading
from portal.models import SharedTask
from portal.queries.datasets import dataset_line
from portal.queries.records import team_downloads
from portal.queries.task_folder import folder_zip
from portal.web.access import find_task, tab_context
from portal.web.datasets import access_steps, dataset_response, known_stamp, own_access
from portal.web.views.data_password import encrypted
from portal.web.views.tasks import text_context


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the organizers' text, and every file with its size, checksum, license and access."""
    context = text_context(request, slug, "data", _("Data"))
    page, at = context["page"], context["at"]
    own = own_access(request, page)
    datasets = page.shared_task.definition.datasets
    context["datasets"] = [
        (dataset_line(page, definition, at), access_steps(page, definition, own, at)) for definition in datasets
    ]
    context["contents"] += [Heading("files", _("Files"))]
    context["downloads"] = team_downloads(own.team) if own.team else []
    return render(request, "tasks/data.html", context)


@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def dataset(request: HttpRequest, slug: str, dataset: str) -> HttpResponseBase:
    """Return the file if the user may download it. Otherwise, show what the user must do first."""
    context = tab_context(request, slug, "data")
    page, at = context["page"], context["at"]
    wanted, stored = page.shared_task.dataset(dataset), page.shared_task.stored_dataset(dataset)
    if wanted is None or stored is None:
        raise Http404
    context["line"] = line = dataset_line(page, wanted, at)
    if not line.is_encrypted and request.method != "POST":
        with suppress(NotAllowed):  # the page below lists the steps
            return dataset_response(request, page, wanted, stored, at, stamp=known_stamp(request, page))
    context["steps"] = access_steps(page, wanted, own_access(request, page), at)
    if context["steps"]:
        return render(request, "data/no_access.html", context, status=HTTPStatus.FORBIDDEN)
    if line.is_encrypted:
        return encrypted(request, context, wanted, stored)
    if request.method != "POST":  # the last step has just been completed
        return redirect(request.path)
    return HttpResponseNotAllowed(["GET", "HEAD"])


def _folder_version(request: HttpRequest, slug: str) -> str | None:
    sha256 = (
        SharedTask.objects.visible_to(request.user)
        .filter(slug=slug)
        .values_list("definition_sha256", flat=True)
        .first()
    )
    return f'"{sha256}"' if sha256 else None


@require_safe
@etag(_folder_version)
def task_folder(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the task folder as a zip, which anyone can use to check runs on their own computer."""
    body = folder_zip(find_task(request, slug))
    headers = {"Content-Disposition": f'attachment; filename="{slug}.zip"', "Cache-Control": "no-cache"}
    return HttpResponse(body, content_type="application/zip", headers=headers)
