"""A person's runs in all tasks, and what a team can do with its runs: choose, withdraw, describe or annotate them."""

from urllib.parse import urlencode

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.runs import choose_official_run, describe_run, note_run, withdraw_run
from portal.models import Run
from portal.models.clock import database_now
from portal.permissions import may_change_run
from portal.queries import my_runs as queries
from portal.web.access import SignedInRequest, tab_context
from portal.web.action_forms import ActionForm, carry_out
from portal.web.forms import DescriptionForm, NoteForm, WithdrawalForm
from portal.web.templatetags.icons import STATES
from portal.web.views.runs import find_run, run_page


@require_safe
@login_required
def my_runs(request: SignedInRequest) -> HttpResponse:
    """Show the person's runs in all tasks, or their rejected uploads."""
    given = {name: request.GET.get(name, "") for name in ("track", "phase", "state")}
    tab = "rejected" if request.GET.get("tab") == "rejected" else "runs"
    page, at = request.GET.get("page", "1"), database_now()
    found = queries.my_runs(request.user, at, queries.RunFilter(**given), page)
    context = {
        "found": found,
        "wanted": given,
        "tab_of_runs": tab,
        "states": [(name, STATES[name][2]) for name in queries.STATES],
    }
    context["query"] = urlencode({name: value for name, value in {**given, "tab": tab}.items() if value})
    if tab == "rejected":
        context["uploads"] = queries.rejected_uploads(queries.own_teams(request.user), page)
    return render(request, "runs/mine.html", context)


@require_POST
@login_required
def choose(request: SignedInRequest, pk: str) -> HttpResponse:
    """Make the run the official one."""
    run = find_run(request, pk)
    done = _("%(run)s is now the official run.") % {"run": run.name}
    if error := carry_out(request, choose_official_run, run, database_now(), done):
        return run_page(request, run, error)
    return redirect("team_runs", run.track.shared_task.slug)


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def withdraw(request: SignedInRequest, pk: str) -> HttpResponse:
    """Show the effects of withdrawing the run, and the form that does it."""
    run = _own_run(request, pk)
    form = WithdrawalForm(request.POST if request.method == "POST" else None)
    if form.carry_out(lambda given: withdraw_run(request.user, run, database_now(), **given)):
        messages.success(request, _("%(run)s was withdrawn.") % {"run": run.name})
        return redirect("run", run.pk)
    return _form_page(request, run, form, "runs/withdraw.html")


@require_http_methods(["GET", "HEAD", "POST"])
@login_required
def describe(request: SignedInRequest, pk: str) -> HttpResponse:
    """Edit the method, description, link and type of the system that produced a run, and the task's run fields."""
    run = _own_run(request, pk)
    initial = {name: getattr(run, name) for name in DescriptionForm.base_fields}
    initial |= {f"field-{key}": text for key, text in run.fields.items()}
    given = request.POST if request.method == "POST" else None
    form = DescriptionForm(given, initial=initial, shared_task=run.track.shared_task)
    if form.carry_out(lambda given: describe_run(request.user, run, database_now(), **given)):
        messages.success(request, _("The description of %(run)s was saved.") % {"run": run.name})
        return redirect("run", run.pk)
    return _form_page(request, run, form, "runs/describe.html")


@require_POST
@login_required
def note(request: SignedInRequest, pk: str) -> HttpResponse:
    """Save the team's note on the run."""
    run, form = _own_run(request, pk), NoteForm(request.POST)
    if form.carry_out(lambda given: note_run(request.user, run, database_now(), **given)):
        messages.success(request, _("The note on %(run)s was saved.") % {"run": run.name})
        return redirect("run", run.pk)
    return _form_page(request, run, form, "runs/note.html")


def _form_page(request: SignedInRequest, run: Run, form: ActionForm, template: str) -> HttpResponse:
    if form.action_error:
        return run_page(request, run, form.action_error)
    context = tab_context(request, run.track.shared_task.slug, "runs") | {"run": run, "form": form}
    return render(request, template, context, status=form.status)


def _own_run(request: SignedInRequest, pk: str) -> Run:
    run = find_run(request, pk)
    if not may_change_run(request.user, run):
        raise PermissionDenied
    return run
