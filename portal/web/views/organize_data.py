"""New versions of datasets, and their downloads."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_POST, require_safe

from portal.actions.datasets import DATASET_BYTES, replace_dataset
from portal.actions.uploads.intake import TOO_LARGE
from portal.queries.records import downloads_page
from portal.web.access import SignedInRequest, organizer_context
from portal.web.bodies import allow_large_file
from portal.web.organize_forms import dataset_form


@require_safe
@login_required
def datasets(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the current files, with a form for each."""
    return _page(request, organizer_context(request, slug, "data"))


@csrf_exempt  # checking CSRF reads the body, so `_replace` does it after checking the sender
@login_required
@require_POST
def replace(request: SignedInRequest, slug: str, dataset: str) -> HttpResponse:
    """Replace a dataset's file."""
    organizer_context(request, slug, "data")
    allow_large_file(request)
    return _replace(request, slug, dataset)


@csrf_protect
def _replace(request: SignedInRequest, slug: str, dataset: str) -> HttpResponse:
    context = organizer_context(request, slug, "data")
    shared_task = context["page"].shared_task
    wanted = shared_task.dataset(dataset)
    if wanted is None:
        raise Http404
    form = dataset_form(shared_task, wanted, request.POST, request.FILES)

    def replace_it(given: dict[str, Any]) -> None:
        content, is_sure = given["file"].chunks(), given["is_sure"]
        replace_dataset(request.user, shared_task, context["at"], dataset=wanted, content=content, is_sure=is_sure)

    if not form.carry_out(replace_it):
        error = form.action_error
        if error is not None and error.code == TOO_LARGE.code:
            return render(request, "413.html", error.params, status=error.http_status)
        return _page(request, context, {dataset: form}, form.status)
    messages.success(request, _("The new version of %(dataset)s is now available.") % {"dataset": wanted.title})
    return redirect("organize_data", slug)


@require_safe
@login_required
def downloads(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show who downloaded what, and when."""
    context = organizer_context(request, slug, "downloads")
    context["entries"] = downloads_page(context["page"].shared_task, request.GET.get("page", "1"))
    return render(request, "organize/downloads.html", context)


def _page(
    request: HttpRequest, context: dict[str, Any], forms: dict[str, Any] | None = None, status: int = HTTPStatus.OK
) -> HttpResponse:
    shared_task = context["page"].shared_task
    context["lines"] = [
        {
            "dataset": dataset,
            "stored": shared_task.stored_dataset(dataset.slug),
            "form": (forms or {}).get(dataset.slug) or dataset_form(shared_task, dataset),
        }
        for dataset in shared_task.definition.datasets
    ]
    return render(request, "organize/data.html", context | {"limit": DATASET_BYTES}, status=status)
