"""All uploads of a task for its organizers: the table, one upload's report and file, and a selection as a zip."""

from uuid import UUID

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from portal.models import RejectedUpload, Submission
from portal.models.task import StoredDataset
from portal.queries.desk.uploads import uploads_page
from portal.task_exports import uploads_zip
from portal.web.access import organizer_context
from portal.web.desk_forms import UploadFilterForm
from portal.web.files import file_response, no_such_bytes, wanted_range


@require_safe
@login_required
def uploads(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a page of the uploads, newest first, rejected ones included."""
    context = organizer_context(request, slug, "runs")
    form = UploadFilterForm(request.GET, context["page"].shared_task)
    cursor = request.GET.get("cursor", "")
    found = uploads_page(context["page"].shared_task, form.filter, cursor)
    return render(request, "organize/uploads.html", context | {"form": form, "found": found, "is_newest": not cursor})


@require_safe
@login_required
def rejected(request: HttpRequest, slug: str, pk: UUID) -> HttpResponse:
    """Show the problems of an upload that was rejected on receipt."""
    context = organizer_context(request, slug, "runs")
    uploads = RejectedUpload.objects.select_related("phase", "team", "sent_by")
    upload = get_object_or_404(uploads, pk=pk, shared_task=context["page"].shared_task)
    return render(request, "organize/rejected_upload.html", context | {"upload": upload})


@require_safe
@login_required
def upload_file(request: HttpRequest, slug: str, pk: UUID) -> HttpResponseBase:
    """Return the file as it was uploaded."""
    context = organizer_context(request, slug, "runs")
    upload = get_object_or_404(Submission, pk=pk, shared_task=context["page"].shared_task)
    return stored_upload_response(request, upload)


def stored_upload_response(request: HttpRequest, upload: Submission) -> HttpResponseBase:
    """Return the upload's file or the requested part of it, for organizers."""
    stored = StoredDataset(upload.sha256, upload.size)
    part = wanted_range(request, stored)
    return no_such_bytes(stored) if part is None else file_response(request, stored, part, upload.file_name)


@require_safe
@login_required
def uploads_file(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Return the files of the selected uploads as a zip with a manifest."""
    context = organizer_context(request, slug, "runs")
    shared_task = context["page"].shared_task
    form = UploadFilterForm(request.GET, shared_task)
    pieces = uploads_zip(shared_task, form.filter, context["at"])
    headers = {"Content-Disposition": f'attachment; filename="{slug}_uploads.zip"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(pieces, content_type="application/zip", headers=headers)
