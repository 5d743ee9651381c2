"""New scores of released leaderboards: what they would change, and the form that applies them."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

from portal.actions.scores import apply_scores
from portal.queries.waiting_scores import waiting_scores
from portal.web.access import SignedInRequest, organizer_context
from portal.web.organize_forms import ScoresForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def scores(request: SignedInRequest, slug: str) -> HttpResponse:
    """Leaderboards with new scores; a post applies those of the chosen ones."""
    context = organizer_context(request, slug, "scores")
    shared_task, at = context["page"].shared_task, context["at"]
    context["lines"] = lines = waiting_scores(shared_task, request.user, at)
    context["form"] = form = ScoresForm(request.POST if request.method == "POST" else None, lines=lines)

    def apply(given: dict[str, Any]) -> None:
        apply_scores(request.user, shared_task, at, wanted=given["boards"], note=given["note"])

    if not form.carry_out(apply):
        return render(request, "organize/scores.html", context, status=form.status)
    count = len(form.cleaned_data["boards"])
    done = ngettext("%(n)d leaderboard shows its new scores.", "%(n)d leaderboards show their new scores.", count)
    messages.success(request, done % {"n": count})
    return redirect("organize_scores", slug)
