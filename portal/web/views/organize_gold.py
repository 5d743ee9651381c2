"""Gold standards to upload; nobody reads them here, a worker does."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods

from portal.actions.errors import ActionError
from portal.actions.gold import GOLD_BYTES, return_to_gold, upload_gold
from portal.models import GoldStandard
from portal.queries.effects import of_another_gold
from portal.queries.gold import gold_lines
from portal.web.access import SignedInRequest, organizer_context
from portal.web.organize_forms import GoldForm
from portal.web.sealing_handler import SealingHandler


@csrf_exempt  # looking for the token reads the body: `_answer` does it, when an organizer's body is to be sealed
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def gold(request: SignedInRequest, slug: str) -> HttpResponse:
    """Which gold each track has, what became of the last upload, and the form for another."""
    organizer_context(request, slug, "gold")
    handler = SealingHandler(request, GOLD_BYTES)
    request.upload_handlers = [handler]
    return _answer(request, slug, handler)


@csrf_protect
def _answer(request: SignedInRequest, slug: str, handler: SealingHandler) -> HttpResponse:
    context = organizer_context(request, slug, "gold")
    context["lines"] = lines = gold_lines(context["page"].shared_task, context["at"])
    sent = (request.POST, request.FILES) if request.method == "POST" else ()
    context["form"] = form = GoldForm(*sent, lines=lines)
    if handler.is_too_large:
        return render(request, "413.html", {"limit": GOLD_BYTES}, status=HTTPStatus.REQUEST_ENTITY_TOO_LARGE)

    def upload(given: dict[str, Any]) -> None:
        line, sealed, is_sure = given["target"], given["file"].chunks(), given["is_sure"]
        upload_gold(request.user, line.track, context["at"], split=line.split, sealed=sealed, is_sure=is_sure)

    if form.carry_out(upload):
        messages.success(
            request, _("The gold is received and sealed. A worker looks at it; this page says what it finds.")
        )
        return redirect("organize_gold", slug)
    if form.refused:
        context["effects"] = of_another_gold(form.cleaned_data["target"], context["at"])
    return render(request, "organize/gold.html", context | {"limit": GOLD_BYTES}, status=form.status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def return_to(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """What an earlier gold standard would bring; only a post that names the one in use puts it there again."""
    context = organizer_context(request, slug, "gold")
    former = get_object_or_404(GoldStandard, pk=pk, track__shared_task=context["page"].shared_task)
    lines = gold_lines(context["page"].shared_task, context["at"])
    line = next(line for line in lines if (line.track, line.split) == (former.track, former.split))
    assert line.newest is not None
    names = {"track": line.track.title, "version": former.version}
    if request.POST.get("newest") != str(line.newest.version):
        context |= {
            "title": _("Score %(track)s by version %(version)d of its gold again") % names,
            "effects": of_another_gold(line, context["at"]),
            "fields": {"newest": line.newest.version},
            "back": reverse("organize_gold", args=[slug]),
        }
        status = HTTPStatus.UNPROCESSABLE_ENTITY if request.method == "POST" else HTTPStatus.OK
        return render(request, "organize/confirm.html", context, status=status)
    try:
        renewed = return_to_gold(request.user, former, context["at"], is_sure=True)
    except ActionError as refused:
        messages.error(request, refused.message)
        return redirect("organize_gold", slug)
    messages.success(
        request,
        _("Version %(version)d is what version %(before)d was; runs are scored by it.")
        % {"version": renewed.version, "before": former.version},
    )
    return redirect("organize_gold", slug)
