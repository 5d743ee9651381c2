"""A shared task's data: the list of files, and the files themselves."""

from http import HTTPStatus

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import etag, require_http_methods, require_safe

from portal.actions.downloads import record_download
from portal.models import SharedTask
from portal.queries.records import team_downloads
from portal.queries.task_folder import folder_zip
from portal.web.access import client_address, find_task, tab_context
from portal.web.dataset_lines import dataset_line, own_access
from portal.web.files import file_response, no_such_bytes, wanted_range
from portal.web.markdown import Heading
from portal.web.views.data_password import encrypted
from portal.web.views.tasks import text_context


@require_safe
def data(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the organizers' text, and every file with its size, checksum, license and access."""
    context = text_context(request, slug, "data", _("Data"))
    page, at = context["page"], context["at"]
    own = own_access(request, page)
    datasets = page.shared_task.definition.datasets
    context["datasets"] = [dataset_line(page, dataset, own, at) for dataset in datasets]
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
    own = own_access(request, page)
    context["line"] = line = dataset_line(page, wanted, own, at)
    if line.steps:
        return render(request, "data/no_access.html", context, status=HTTPStatus.FORBIDDEN)
    if line.is_encrypted:
        return encrypted(request, context, wanted, stored)
    if request.method == "POST":
        return HttpResponseNotAllowed(["GET", "HEAD"])
    part = wanted_range(request, stored)
    if part is None:
        return no_such_bytes(stored)
    if request.method != "HEAD":
        given = {"own": own, "dataset": wanted, "stored": stored, "address": client_address(request)}
        record_download(request.user, page.shared_task, at, **given, first_byte=part.first)
    return file_response(request, stored, part, line.file_name)


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
