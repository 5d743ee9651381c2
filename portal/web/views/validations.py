"""Reports on validated files, for the people who uploaded them."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods, require_safe

from portal.actions.uploads.validate_only import report_of
from portal.queries.visible import visible_validations
from portal.web.access import tab_context


@require_safe
@never_cache
@login_required
def validation(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """Show the report or its progress. Without JavaScript, the page reloads automatically."""
    return render(request, "submit/validation.html", _context(request, slug, pk))


@require_safe
@never_cache
@login_required
def status(request: HttpRequest, slug: str, pk: str) -> HttpResponse:
    """Return the progress to a polling page, or 204 if nothing has changed since `seen`.

    With `contents` in the URL, report only problems in the files' content, because the page already lists those with
    their names.
    """
    context = _context(request, slug, pk) | {"contents_only": "contents" in request.GET}
    if request.GET.get("seen") == context["validation"].state:
        return HttpResponse(status=HTTPStatus.NO_CONTENT)
    return render(request, "submit/_validation.html", context)


@csrf_exempt  # this view changes nothing and reads no body
@require_http_methods(["GET", "HEAD", "POST"])
def old_address(_request: HttpRequest, slug: str) -> HttpResponse:
    """Redirect from the URL that forms used before this was called "Validate only"."""
    return redirect("validate_only", slug, permanent=True, preserve_request=True)


def _context(request: HttpRequest, slug: str, pk: str) -> dict[str, Any]:
    found = get_object_or_404(visible_validations(request.user), pk=pk, phase__shared_task__slug=slug)
    context = tab_context(request, slug, "submit")
    return context | {"validation": found, "report": report_of(found, context["at"])}
