"""Messages by email from organizers to teams: writing one, its preview, a test, and what was sent."""

from http import HTTPStatus
from typing import Any

from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.base.errors import ActionError
from portal.actions.desk.messages import discard_message, prepare_message, send_message, send_test_message
from portal.models import Team, TeamMessage
from portal.parameters import whole_number
from portal.queries.desk.messages import message_view, prepared_message, readable_messages, sent_messages
from portal.queries.desk.team_filter import selected_teams
from portal.web.access import SignedInRequest, organizer_context
from portal.web.action_forms import carry_out
from portal.web.desk_forms import MessageForm, TeamFilterForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def messages_page(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show what was sent and a form for a new message to the teams in the address's query. POST shows its preview."""
    context = organizer_context(request, slug, "mails")
    shared_task, at = context["page"].shared_task, context["at"]
    team = _one_team(request, context)
    filters = TeamFilterForm(request.GET, shared_task)
    draft = prepared_message(shared_task, request.user)
    form = MessageForm(request.POST) if request.method == "POST" else MessageForm(initial=_as_initial(draft))
    if request.method == "POST":
        to = {"team": team} if team else {"wanted": filters.filter}
        if form.carry_out(lambda given: prepare_message(request.user, shared_task, at, **to, **given)):
            return redirect("organize_message", slug, form.result.pk)
    entries, lines = sent_messages(shared_task, request.GET.get("page", "1"))
    context |= {
        "form": form,
        "draft": draft,
        "team": team,
        "query": filters.query,
        "count": 1 if team else selected_teams(shared_task, filters.filter, at).count(),
        "entries": entries,
        "lines": lines,
    }
    return render(request, "organize/messages.html", context, status=form.status)


@require_safe
@login_required
def message(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Show a message as one of its recipients reads it, and all recipients."""
    context = organizer_context(request, slug, "mails")
    return _message_page(request, context, _find(request, context, pk))


@login_required
@require_POST
def test(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Email the message to the organizer."""
    context = organizer_context(request, slug, "mails")
    found = _find(request, context, pk)
    done = _("A test will be sent to %(address)s.") % {"address": request.user.email}
    recipient = whole_number(request.POST.get("recipient", ""))
    if error := carry_out(request, send_test_message, found, context["at"], done, recipient=recipient):
        return _message_page(request, context, found, error)
    return redirect("organize_message", slug, pk)


@login_required
@require_POST
def send(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Send the message. A second click sends nothing."""
    context = organizer_context(request, slug, "mails")
    found = _find(request, context, pk)
    count = found.recipients.count()
    done = ngettext("The message is being sent to %d person.", "The message is being sent to %d people.", count)
    if error := carry_out(request, send_message, found, context["at"], done % count):
        return _message_page(request, context, found, error)
    return redirect("organize_message", slug, pk)


@login_required
@require_POST
def discard(request: SignedInRequest, slug: str, pk: int) -> HttpResponse:
    """Delete a message that has not been sent."""
    context = organizer_context(request, slug, "mails")
    found = _find(request, context, pk)
    if error := carry_out(request, discard_message, found, context["at"], _("The message was discarded.")):
        return _message_page(request, context, found, error)
    return redirect("organize_messages", slug)


def _find(request: SignedInRequest, context: dict[str, Any], pk: int) -> TeamMessage:
    """Return a message that was sent, or that this organizer has prepared."""
    return get_object_or_404(readable_messages(context["page"].shared_task, request.user), pk=pk)


def _one_team(request: HttpRequest, context: dict[str, Any]) -> Team | None:
    """Return the team to which alone the message goes, if the address has its key."""
    if "to" not in request.GET:
        return None
    teams = context["page"].shared_task.teams.select_related("shared_task")
    return get_object_or_404(teams, pk=whole_number(request.GET["to"]))


def _as_initial(draft: TeamMessage | None) -> dict[str, Any]:
    return {"audience": draft.audience, "subject": draft.subject, "text": draft.text} if draft else {}


def _message_page(
    request: HttpRequest, context: dict[str, Any], found: TeamMessage, error: ActionError | None = None
) -> HttpResponse:
    recipient = whole_number(request.GET.get("recipient", ""))
    view = message_view(found, request.GET.get("page", "1"), recipient, context["at"])
    context |= {
        "view": view,
        "entries": view.recipients,
        "query": f"recipient={view.shown.pk}",
        "refusal": error.message if error else "",
    }
    return render(request, "organize/message.html", context, status=error.http_status if error else HTTPStatus.OK)
