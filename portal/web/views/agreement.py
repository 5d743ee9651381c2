"""Pages to read and sign the data agreement, and the signed copy."""

from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from portal.actions.agreement import sign_agreement
from portal.markdown import render as render_markdown
from portal.models import Signature
from portal.queries.agreement import current_agreement
from portal.web.access import SignedInRequest, client_address, next_address, tab_context
from portal.web.action_forms import carry_out


@require_http_methods(["GET", "HEAD", "POST"])
def agreement(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the current agreement. Everyone can read it, and people with an account can sign it."""
    context = _context(request, slug)
    if request.method == "POST":
        return _sign(request, context)
    return render(request, "agreement/agreement.html", context)


@login_required
def _sign(request: HttpRequest, context: dict[str, Any]) -> HttpResponse:
    shared_task = context["page"].shared_task
    name, sha256 = request.POST.get("name", ""), request.POST.get("sha256", "")
    given = {"typed_name": name, "sha256": sha256, "address": client_address(request)}
    done = _("You have signed the agreement.")
    if error := carry_out(request, sign_agreement, shared_task, context["at"], done, **given):
        context |= {"refusal": error.message, "name": name}
        return render(request, "agreement/agreement.html", context, status=error.http_status)
    return HttpResponseRedirect(context["next"] or reverse("agreement", args=[shared_task.slug]))


@require_safe
@login_required
def signed_copy(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show a person's own signed agreement for printing. Organizers can see all signatures in their task."""
    context = tab_context(request, slug, "data")
    visible = Signature.objects.visible_to(request.user).select_related("user")
    signature = get_object_or_404(visible, pk=pk, shared_task=context["page"].shared_task)
    context |= {"signature": signature, "text": render_markdown(signature.text)}
    return render(request, "agreement/signed.html", context)


def _context(request: HttpRequest, slug: str) -> dict[str, Any]:
    context = tab_context(request, slug, "data")
    agreement = current_agreement(context["page"].shared_task, request.user)
    if agreement is None:
        raise Http404
    return context | {
        "agreement": agreement,
        "text": render_markdown(agreement.text),
        "next": next_address(request),
    }
