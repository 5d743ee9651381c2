"""Own scorers: the pages on which administrators read and approve them, and the organizers' page about theirs."""

from allauth.account.decorators import reauthentication_required
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from portal.actions.base.roles import ADMINISTRATORS
from portal.actions.own_scorers import approve_scorer
from portal.models import OwnScorer
from portal.models.clock import database_now
from portal.queries.own_scorers import scorer_view, scorers, task_scorer
from portal.web.access import SignedInRequest, organizer_context, require_role
from portal.web.organize_forms import ScorerForm


@login_required
@require_safe
def own_scorers(request: SignedInRequest) -> HttpResponse:
    """List the own scorers of all tasks for administrators, first those that wait for approval."""
    require_role(ADMINISTRATORS, request.user, None)
    return render(request, "scorers/list.html", {"scorers": scorers()})


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def own_scorer(request: SignedInRequest, pk: int) -> HttpResponse:
    """Show an administrator a scorer's files, what they do and what has changed, and the form that approves it."""
    require_role(ADMINISTRATORS, request.user, None)
    return _own_scorer(request, pk)


@reauthentication_required(allow_get=True)  # with the second factor
def _own_scorer(request: SignedInRequest, pk: int) -> HttpResponse:
    scorer = get_object_or_404(OwnScorer.objects.select_related("shared_task", "approved_by"), pk=pk)
    form = ScorerForm(request.POST if request.method == "POST" else None, initial={"sha256": scorer.sha256})
    if form.carry_out(lambda given: approve_scorer(request.user, scorer, database_now(), **given)):
        messages.success(request, _("The scorer was approved."))
        return redirect("own_scorer", pk)
    return render(request, "scorers/scorer.html", {"view": scorer_view(scorer), "form": form}, status=form.status)


@login_required
@require_safe
def organize_scorer(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show organizers whether their scorer is approved, and what it printed for the latest runs."""
    context = organizer_context(request, slug, "scorer")
    context["scorer"] = task_scorer(context["page"].shared_task)
    return render(request, "organize/scorer.html", context)
