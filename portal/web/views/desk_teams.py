"""The organizers' table of teams, a page for each team, notes, and decisions about all selected teams."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.base.registry import audit_words
from portal.actions.desk.decisions import approve_teams, decline_teams
from portal.actions.desk.extra_runs import grant_extra_runs
from portal.actions.desk.notes import add_note, delete_note
from portal.models import ExtraRuns, Team, TeamNote
from portal.parameters import whole_number
from portal.queries.desk.team_filter import selected_teams
from portal.queries.desk.team_view import team_desk
from portal.queries.desk.teams import teams_page
from portal.task_exports import teams_csv
from portal.web.access import SignedInRequest, organizer_context
from portal.web.action_forms import ActionForm, carry_out
from portal.web.desk_forms import DeclineTeamsForm, ExtraRunsForm, TeamFilterForm, TeamNoteForm

_EXTRA_RUNS = "extra-runs-%s"  # ids of fields that differ from those of the page's form for notes
WAITING = 20  # most requests shown in full; all of them are in the table


@require_safe
@login_required
def teams(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a page of the teams. Without a filter, the oldest requests come first, in full."""
    return teams_response(request, organizer_context(request, slug, "teams"))


def teams_response(request: HttpRequest, context: dict[str, Any], status: int = HTTPStatus.OK) -> HttpResponse:
    shared_task = context["page"].shared_task
    form = TeamFilterForm(request.GET, shared_task)
    entries, rows = teams_page(shared_task, form.filter, request.GET.get("page", "1"), context["at"])
    is_first = form.filter.is_empty and entries.number == 1
    waiting = [row for row in rows if row.team.state == Team.State.PENDING][:WAITING] if is_first else []
    papers = shared_task.teams.exclude(bibtex="", paper="").values_list("name", flat=True)
    context |= {
        "form": form,
        "entries": entries,
        "query": form.query,
        "rows": rows,
        "waiting": waiting,
        "waiting_count": shared_task.teams.filter(state=Team.State.PENDING).count(),
        "papers": list(papers),
    }
    return render(request, "organize/teams.html", context, status=status)


@require_safe
@login_required
def table(request: HttpRequest, slug: str) -> HttpResponse:
    """Return the selected teams as CSV, with a row for each member."""
    context = organizer_context(request, slug, "teams")
    shared_task = context["page"].shared_task
    wanted = TeamFilterForm(request.GET, shared_task).filter
    headers = {"Content-Disposition": f'attachment; filename="{slug}_teams.csv"', "Cache-Control": "no-store"}
    body = teams_csv(shared_task, wanted, context["at"])
    return HttpResponse(body, content_type="text/csv; charset=utf-8", headers=headers)


@require_safe
@login_required
def team(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show everything about a team."""
    context = organizer_context(request, slug, "teams")
    return _team_page(request, context, _find(context, pk), TeamNoteForm())


@login_required
@require_POST
def note(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Keep a note about a team."""
    context = organizer_context(request, slug, "teams")
    found, form = _find(context, pk), TeamNoteForm(request.POST)
    if not form.carry_out(lambda given: add_note(request.user, found, context["at"], **given)):
        return _team_page(request, context, found, form)
    messages.success(request, _("The note was saved. Only organizers see it."))
    return redirect("organize_one_team", slug, pk)


@login_required
@require_POST
def extra_runs(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Grant extra runs to a team."""
    context = organizer_context(request, slug, "teams")
    found = _find(context, pk)
    form = ExtraRunsForm(request.POST, shared_task=context["page"].shared_task, auto_id=_EXTRA_RUNS)

    def grant(given: dict[str, Any]) -> ExtraRuns:
        return grant_extra_runs(request.user, given.pop("phase"), context["at"], team=found, **given)

    if not form.carry_out(grant):
        return _team_page(request, context | {"extra_runs_form": form}, found, TeamNoteForm(), form.status)
    messages.success(request, _("The extra runs were granted. The team can use them immediately."))
    return redirect("organize_one_team", slug, pk)


@login_required
@require_POST
def remove_note(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a note about a team."""
    context = organizer_context(request, slug, "teams")
    found = get_object_or_404(TeamNote, pk=pk, team__shared_task=context["page"].shared_task)
    carry_out(request, delete_note, found, context["at"], _("The note was deleted."))
    return redirect("organize_one_team", slug, found.team_id)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def decide_all(request: SignedInRequest, slug: str, verb: str) -> HttpResponse:
    """Approve or decline all selected teams that are waiting, once the list has been confirmed."""
    context = organizer_context(request, slug, "teams")
    shared_task, at = context["page"].shared_task, context["at"]
    wanted = TeamFilterForm(request.GET, shared_task).filter
    form = (DeclineTeamsForm if verb == "decline" else ActionForm)(request.POST if request.method == "POST" else None)
    if request.method == "POST":
        action = decline_teams if verb == "decline" else approve_teams
        selection: dict[str, Any] = {"wanted": wanted, "seen": whole_number(request.POST.get("seen", "")) or 0}
        if form.carry_out(lambda given: action(request.user, shared_task, at, **selection, **given)):
            messages.success(request, _done(verb, len(form.result)))
            return redirect("organize_teams", slug)
    found = selected_teams(shared_task, wanted, at).filter(state=Team.State.PENDING)
    return _confirmation(request, context, verb, list(found.values_list("name", flat=True)), form)


def _confirmation(
    request: HttpRequest, context: dict[str, Any], verb: str, names: list[str], form: ActionForm
) -> HttpResponse:
    """Show which teams would be approved or declined. The form posts to the page's own URL, with its filters."""
    none = _("No team that is waiting for your decision matches the filters.")
    context |= {
        "title": _("Decline all selected teams") if verb == "decline" else _("Approve all selected teams"),
        "effects": _effects(verb, names) if names else [],
        "refusal": "" if names else form.action_error.message if form.action_error else none,
        "fields": {"seen": len(names)},
        "form": form,
        "back": reverse("organize_teams", args=[context["page"].shared_task.slug]),
    }
    return render(request, "organize/confirm.html", context, status=form.status)


def _effects(verb: str, names: list[str]) -> list[str]:
    count = len(names)
    approved = ngettext(
        "%(n)d team is approved. Its captain gets an email: %(names)s.",
        "%(n)d teams are approved. Their captains get an email: %(names)s.",
        count,
    )
    declined = ngettext(
        "%(n)d team is declined. Its captain gets an email with the reason: %(names)s.",
        "%(n)d teams are declined. Their captains get an email with the reason: %(names)s.",
        count,
    )
    return [(declined if verb == "decline" else approved) % {"n": count, "names": ", ".join(names)}]


def _done(verb: str, count: int) -> str:
    if verb == "decline":
        return ngettext("%d team was declined.", "%d teams were declined.", count) % count
    return ngettext("%d team was approved.", "%d teams were approved.", count) % count


def _find(context: dict[str, Any], pk: int) -> Team:
    return get_object_or_404(Team.objects.select_related("shared_task"), pk=pk, shared_task=context["page"].shared_task)


def _team_page(
    request: HttpRequest, context: dict[str, Any], found: Team, form: TeamNoteForm, status: int | None = None
) -> HttpResponse:
    context.setdefault("extra_runs_form", ExtraRunsForm(shared_task=context["page"].shared_task, auto_id=_EXTRA_RUNS))
    context |= {"desk": team_desk(found, audit_words()), "form": form}
    return render(request, "organize/team.html", context, status=status or form.status)
