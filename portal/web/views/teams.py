"""Team pages: create a team, show the user's team, join it, and carry out members' and captains' actions."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions import data_password, team_members, teams
from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.papers import set_paper
from portal.models import Team
from portal.parameters import whole_number
from portal.permissions import has_signed
from portal.queries.teams import team_view
from portal.web.access import SignedInRequest, next_address, tab_context
from portal.web.action_forms import carry_out
from portal.web.forms import AgainForm, PaperForm, TeamForm


@require_http_methods(["GET", "HEAD", "POST"])
def team(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the user's team, or the form to create one."""
    if request.method == "POST":
        return _create(request, slug)
    return _page(request, tab_context(request, slug, "team"))


@login_required
def _create(request: HttpRequest, slug: str) -> HttpResponse:
    assert request.user.is_authenticated
    context = tab_context(request, slug, "team")
    shared_task = context["page"].shared_task
    form = TeamForm(request.POST, shared_task=shared_task)
    if form.carry_out(lambda given: teams.register_team(request.user, shared_task, context["at"], **given)):
        return redirect(next_address(request) or reverse("team", args=[slug]))
    refusal = form.action_error.message if form.action_error else ""
    return _page(request, context | {"form": form, "refusal": refusal}, form.status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def join(request: SignedInRequest, slug: str, code: str) -> HttpResponse:
    """Show an invitation, or accept it on POST. Opening the link alone must not change anything."""
    context = tab_context(request, slug, "team")
    context["team"] = Team.objects.filter(invitation_code=code, shared_task=context["page"].shared_task).first()
    if context["team"] is None:
        return render(request, "teams/join.html", context, status=HTTPStatus.NOT_FOUND)
    if request.method != "POST":
        return render(request, "teams/join.html", context)
    try:
        teams.join_team(request.user, context["page"].shared_task, context["at"], code=code)
    except ActionError as error:
        return render(request, "teams/join.html", context | {"message": error.message}, status=error.http_status)
    return redirect("team", slug)


@login_required
@require_POST
def invite(request: SignedInRequest, slug: str) -> HttpResponse:
    address = request.POST.get("address", "").strip()
    done = _("We’re sending the invitation to %(address)s.") % {"address": address}
    return _do(request, _own_team(request, slug), team_members.invite_by_mail, done, address=address)


@login_required
@require_POST
def leave(request: SignedInRequest, slug: str) -> HttpResponse:
    return _do(request, _own_team(request, slug), team_members.leave_team, _("You left the team."))


@login_required
@require_POST
def hand_over(request: SignedInRequest, slug: str) -> HttpResponse:
    context = _own_team(request, slug)
    pk = whole_number(request.POST.get("member", ""))
    member = get_object_or_404(context["page"].team.memberships, pk=pk)
    return _do(request, context, team_members.hand_over, _("The team has a new captain."), member=member)


@login_required
@require_POST
def withdraw(request: SignedInRequest, slug: str) -> HttpResponse:
    return _do(request, _own_team(request, slug), teams.withdraw_team, _("The team was withdrawn."))


@login_required
@require_POST
def ask_again(request: SignedInRequest, slug: str) -> HttpResponse:
    """Save a declined team's new answers and request approval again. Problems are shown next to the fields."""
    context = _own_team(request, slug)
    form = AgainForm(request.POST, team=context["page"].team)
    if not form.is_valid():
        return _page(request, context | {"form": form}, form.status)
    return _do(request, context, teams.ask_again, _("Your request was sent to the organizers."), **form.cleaned_data)


@login_required
@require_POST
def paper(request: SignedInRequest, slug: str) -> HttpResponse:
    """Save the team's paper reference. Problems with the entry are shown next to the field."""
    context = _own_team(request, slug)
    form = PaperForm(request.POST)
    if not form.carry_out(lambda given: set_paper(request.user, context["page"].team, context["at"], **given)):
        return _page(request, context | {"paper_form": form}, form.status)
    messages.success(request, _("Your reference was saved."))
    return redirect("team", slug)


@login_required
@require_POST
def renew_password(request: SignedInRequest, slug: str) -> HttpResponse:
    done = _("The old password no longer works. We’re emailing a new password to the captain.")
    return _do(request, _own_team(request, slug), data_password.renew_password, done)


def _own_team(request: SignedInRequest, slug: str) -> dict[str, Any]:
    context = tab_context(request, slug, "team")
    if context["page"].team is None:
        raise Http404
    return context


def _do(
    request: SignedInRequest, context: dict[str, Any], action: Action[Any, Any, Any], done: str, **given: object
) -> HttpResponse:
    """Carry out a member's action on their own team. The team page then confirms it or shows the error."""
    if error := carry_out(request, action, context["page"].team, context["at"], done, **given):
        return _page(request, context | {"refusal": error.message}, error.http_status)
    return redirect("team", context["page"].shared_task.slug)


def _page(request: HttpRequest, context: dict[str, Any], status: int = 200) -> HttpResponse:
    """Render the team page. Forms missing from the context are added."""
    page = context["page"]
    if page.team is None:
        own = {"affiliation": getattr(request.user, "affiliation", "")}
        form = TeamForm(shared_task=page.shared_task, initial=own)
        context = {"form": form, "is_closed": page.shared_task.teams_are_closed(context["at"])} | context
        return render(request, "teams/create.html", context, status=status)
    is_signed = has_signed(request.user, page.shared_task)
    path = reverse("join_team", args=[page.shared_task.slug, page.team.invitation_code])
    context = {
        "form": AgainForm(team=page.team),
        "paper_form": PaperForm(initial={"bibtex": page.team.bibtex, "link": page.team.paper}),
        "view": team_view(page.team, page.membership.user, context["at"], has_signed=is_signed),
        "must_sign": not is_signed,
        "invitation": request.build_absolute_uri(path),
    } | context
    return render(request, "teams/team.html", context, status=status)
