"""Gold uploads. Only workers can read them, not web servers."""

from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions.base.errors import Conflict
from portal.actions.gold import GOLD_BYTES, apply_gold, preview_former_gold, upload_gold
from portal.models import GoldStandard, GoldUpload
from portal.queries.effects import of_another_gold
from portal.queries.gold import GoldLine, gold_lines
from portal.queries.gold_preview import find_preview
from portal.web.access import SignedInRequest, organizer_context
from portal.web.organize_forms import GoldForm, NoteForm
from portal.web.sealing_handler import SealingHandler


@csrf_exempt  # `_answer` checks CSRF later, because that reads the body
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show each track's gold with its last upload, and a form to upload gold."""
    organizer_context(request, slug, "gold")
    request.upload_handlers = [SealingHandler(request, GOLD_BYTES)]
    return _answer(request, slug)


@csrf_protect
def _answer(request: SignedInRequest, slug: str) -> HttpResponse:
    context = organizer_context(request, slug, "gold")
    context["lines"] = lines = gold_lines(context["page"].shared_task)
    given = (request.POST, request.FILES) if request.method == "POST" else ()
    context["form"] = form = GoldForm(*given, lines=lines)

    def upload(given: dict[str, Any]) -> GoldUpload:
        line, sealed = given["target"], given["file"].file
        return upload_gold(request.user, line.track, context["at"], split=line.split, sealed=sealed)

    if form.carry_out(upload):
        if form.cleaned_data["target"].newest is not None:
            return redirect("gold_preview", slug, form.result.pk)
        messages.success(
            request, _("The gold file was received and encrypted. This page will show whether it is accepted.")
        )
        return redirect("organize_gold", slug)
    if form.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return render(request, "413.html", {"limit": GOLD_BYTES}, status=form.status)
    return render(request, "organize/gold.html", context | {"limit": GOLD_BYTES}, status=form.status)


def _line_of(gold: GoldStandard | GoldUpload, lines: list[GoldLine]) -> GoldLine:
    """Return the line for the gold's track and split, or raise Http404 if the track no longer has the split."""
    line = next(
        (candidate for candidate in lines if (candidate.track, candidate.split) == (gold.track, gold.split)), None
    )
    if line is None:
        raise Http404("split not in this track")
    return line


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def preview(request: SignedInRequest, slug: str, pk: UUID) -> HttpResponse:
    """Show the effects of a correction once a worker has computed them, and the form that applies it."""
    context = organizer_context(request, slug, "gold")
    context["preview"] = found = find_preview(context["page"].shared_task, pk, request.user, context["at"])
    lines = gold_lines(context["page"].shared_task)
    context["line"] = _line_of(found.upload, lines)
    context["form"] = form = NoteForm(request.POST if request.method == "POST" else None)

    if form.carry_out(lambda given: apply_gold(request.user, found.upload, context["at"], **given)):
        messages.success(
            request, _("The new gold is in use. Leaderboards will change when all runs have been rescored.")
        )
        return redirect("organize_gold", slug)
    context["effects"] = of_another_gold(found, context["at"])
    context["reloads"] = not found.upload.is_finished
    return render(request, "organize/gold_preview.html", context, status=form.status)


@login_required
@require_POST
def preview_former(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Request a preview of an earlier version. The preview's page has a form that applies it."""
    context = organizer_context(request, slug, "gold")
    former = get_object_or_404(GoldStandard, pk=pk, track__shared_task=context["page"].shared_task)
    _line_of(former, gold_lines(context["page"].shared_task))
    try:
        upload = preview_former_gold(request.user, former, context["at"])
    except Conflict as conflict:  # another organizer was faster
        messages.warning(request, conflict.message)
        return redirect("organize_gold", slug)
    return redirect("gold_preview", slug, upload.pk)
