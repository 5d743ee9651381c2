"""Gold standards to upload; nobody reads them here, a worker does."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from portal.actions.gold import GOLD_BYTES, upload_gold
from portal.actions.refusal import ActionRefused
from portal.queries.gold import gold_lines
from portal.web.access import SignedInRequest, organizer_context, second_factor_required
from portal.web.organize_forms import GoldForm
from portal.web.sealing_handler import SealingHandler


@csrf_exempt  # looking for the token reads the body: `_answer` does it, once the body is on its way to be sealed
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Which gold each track has, what became of the last upload, and the form for another."""
    handler = SealingHandler(request, GOLD_BYTES)
    request.upload_handlers = [handler]
    return _answer(request, slug, handler)


@csrf_protect
@second_factor_required
def _answer(request: SignedInRequest, slug: str, handler: SealingHandler) -> HttpResponse:
    context = organizer_context(request, slug, "gold")
    context["lines"] = lines = gold_lines(context["page"].shared_task)
    if request.method != "POST":
        return _page(request, context, GoldForm(lines=lines))
    form = GoldForm(request.POST, request.FILES, lines=lines)
    if handler.is_too_large:
        return render(request, "413.html", {"limit": GOLD_BYTES}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if not form.is_valid():
        return _page(request, context, form, HTTPStatus.UNPROCESSABLE_ENTITY)
    line = form.cleaned_data["target"]
    try:
        upload_gold(request.user, line.track, line.split, form.cleaned_data["file"].chunks(), context["at"])
    except ActionRefused as refused:
        form.add_error(None, refused.message)
        return _page(request, context, form, refused.http_status)
    messages.success(request, _("The gold is received and sealed. A worker looks at it; this page says what it finds."))
    return redirect("organize_gold", slug)


def _page(request: HttpRequest, context: dict[str, Any], form: GoldForm, status: int = HTTPStatus.OK) -> HttpResponse:
    return render(request, "organize/gold.html", context | {"form": form, "limit": GOLD_BYTES}, status=status)
