"""The organizers' overview, decisions on teams, run states, emails and the audit log."""

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.http import urlencode
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_POST, require_safe

from portal.actions.approval import approve_team, decline_team
from portal.actions.base.action import Action
from portal.actions.base.registry import audit_words
from portal.actions.data_password import renew_password
from portal.actions.papers import close_papers, open_papers
from portal.actions.retry import resend_mails, retry_failed
from portal.models import OutgoingMail, Team
from portal.queries.audit_words import audit_line
from portal.queries.duties import to_do
from portal.queries.organize import failed_on_our_side, run_states
from portal.queries.records import audit_entries, audit_verbs, mails
from portal.web.access import SignedInRequest, organizer_context
from portal.web.action_forms import carry_out
from portal.web.views.desk_teams import teams_response


@require_safe
@login_required
def organize(request: HttpRequest, slug: str) -> HttpResponse:
    """Show what needs attention, with links."""
    context = organizer_context(request, slug, "overview")
    context["to_do"] = to_do(context["page"].shared_task, context["at"])
    return render(request, "organize/overview.html", context)


@require_safe
@login_required
def organize_runs(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the states of runs by phase and track."""
    context = organizer_context(request, slug, "runs")
    context["lines"] = run_states(context["page"].shared_task)
    context["failed"] = failed_on_our_side(context["page"].shared_task)
    return render(request, "organize/states.html", context)


@login_required
@require_POST
def retry(request: SignedInRequest, slug: str) -> HttpResponse:
    """Retry evaluations that failed because of the portal. List those that cannot be retried, with the reason."""
    context = organizer_context(request, slug, "runs")
    retried = retry_failed(request.user, context["page"].shared_task, context["at"])
    count = retried.runs + retried.gold
    done = ngettext("%d evaluation is being retried.", "%d evaluations are being retried.", count)
    if count:
        messages.success(request, done % count)
    for name, error in retried.left:
        messages.warning(request, _("Could not be retried: %(what)s") % {"what": f"{name}: {error.message}"})
    return redirect("organize_runs", slug)


@login_required
@require_POST
def decide(request: SignedInRequest, slug: str, pk: int, verb: str) -> HttpResponse:
    """Approve or decline a team, or send it a new password, depending on `verb`."""
    context = organizer_context(request, slug, "teams")
    team = get_object_or_404(Team, pk=pk, shared_task=context["page"].shared_task)
    new_password = _("The old password of %(team)s no longer works. The captain will get a new password by email.")
    decisions: dict[str, tuple[Action[Team, ..., Any], str]] = {
        "approve": (approve_team, _("%(team)s was approved. The captain will get an email.")),
        "decline": (decline_team, _("%(team)s was declined. The captain will get an email with the reason.")),
        "password": (renew_password, new_password),
    }
    action, done = decisions[verb]
    given = {"reason": request.POST.get("reason", "")} if verb == "decline" else {}
    if error := carry_out(request, action, team, context["at"], done % {"team": team.name}, **given):
        context |= {"refusal": error.message, "team_with_error": team, "is_declining": verb == "decline"}
        return teams_response(request, context, error.http_status)
    return redirect("organize_teams", slug)


@login_required
@require_POST
def papers(request: SignedInRequest, slug: str) -> HttpResponse:
    """Close or reopen the list of papers."""
    context = organizer_context(request, slug, "teams")
    change = close_papers if "close" in request.POST else open_papers
    change(request.user, context["page"].shared_task, context["at"])
    return redirect("organize_teams", slug)


@require_safe
@login_required
def organize_mails(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the task's emails and whether they were sent."""
    context = organizer_context(request, slug, "mails")
    wanted = {name: request.GET.get(name, "") for name in ("kind", "state")}
    context |= wanted | {"kinds": OutgoingMail.Kind.choices, "states": OutgoingMail.State.choices}
    context["query"] = urlencode({name: value for name, value in wanted.items() if value})
    context["entries"] = mails(context["page"].shared_task, request.GET.get("page", "1"), **wanted)
    context["failed"] = context["page"].shared_task.mails.filter(state=OutgoingMail.State.FAILED).count()
    return render(request, "organize/mails.html", context)


@login_required
@require_POST
def resend(request: SignedInRequest, slug: str) -> HttpResponse:
    """Resend the emails that could not be sent."""
    context = organizer_context(request, slug, "mails")
    count = resend_mails(request.user, context["page"].shared_task, context["at"])
    messages.success(
        request, ngettext("%d email is being sent again.", "%d emails are being sent again.", count) % count
    )
    return redirect("organize_mails", slug)


@require_safe
@login_required
def organize_audit(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the audit log."""
    context = organizer_context(request, slug, "audit")
    shared_task, verb = context["page"].shared_task, request.GET.get("verb", "")
    words = audit_words()
    context |= {"verb": verb, "verbs": audit_verbs(shared_task, words)}
    context["query"] = urlencode({"verb": verb} if verb else {})
    context["entries"] = entries = audit_entries(shared_task, request.GET.get("page", "1"), verb)
    context["lines"] = [audit_line(entry, words) for entry in entries]
    return render(request, "organize/audit.html", context)
