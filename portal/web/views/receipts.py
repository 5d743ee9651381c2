"""Receipts, their public key, and the page that verifies them."""

from datetime import datetime

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from portal.queries import receipts
from portal.queries.visible import visible_submissions
from portal.web.forms import ReceiptForm


@require_safe
@login_required
def receipt(request: HttpRequest, slug: str, pk: str) -> JsonResponse:
    """Return an upload's signed receipt, for its team and the organizers."""
    found = get_object_or_404(visible_submissions(request.user), pk=pk, shared_task__slug=slug)
    return JsonResponse(
        receipts.receipt(found),
        json_dumps_params={"indent": 1, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="receipt_{found.pk}.json"'},
    )


@require_safe
def key(request: HttpRequest) -> HttpResponse:
    """Return the public key in PEM format."""
    return HttpResponse(receipts.public_key(), content_type="text/plain; charset=us-ascii")


@require_http_methods(["GET", "HEAD", "POST"])
def verify(request: HttpRequest) -> HttpResponse:
    """Show whether this portal signed a pasted or uploaded receipt. Anyone can use this page, and it stores nothing."""
    form = ReceiptForm(request.POST or None, request.FILES or None)
    status, verdict = 200, None
    if request.method == "POST":
        if form.is_valid():
            verdict = receipts.verify(form.cleaned_data["content"])
        status = 200 if verdict is not None and verdict.ok else 422
    received = datetime.fromisoformat(verdict.receipt["received_at"]) if verdict is not None and verdict.ok else None
    context = {"form": form, "verdict": verdict, "received": received}
    return render(request, "receipts/verify.html", context, status=status)
