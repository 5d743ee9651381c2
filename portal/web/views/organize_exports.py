"""Organizers' exports of their task."""

from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from portal.task_exports import EXPORTS
from portal.web.access import SignedInRequest, organizer_context
from portal.web.export import task_export


@require_safe
@login_required
def exports(request: SignedInRequest, slug: str) -> HttpResponse:
    """List all exports with their descriptions."""
    context = organizer_context(request, slug, "exports")
    return render(request, "organize/exports.html", context | {"exports": EXPORTS.values()})


@require_safe
@login_required
def export(request: SignedInRequest, slug: str, name: str) -> HttpResponseBase:
    """Download one of the exports."""
    context = organizer_context(request, slug, "exports")
    return task_export(request, EXPORTS[name], context["page"].shared_task, context["at"])
