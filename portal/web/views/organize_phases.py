"""Phase dates and extra time."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.db.models import prefetch_related_objects
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from portal.actions.base.errors import ActionError
from portal.actions.desk.pause import pause_uploads, resume_uploads
from portal.actions.phases import (
    can_be_revoked,
    can_have_extra_time,
    grant_extra_time,
    is_released,
    move_phase,
    revoke_extra_time,
)
from portal.web.access import SignedInRequest, organizer_context, organizer_phase
from portal.web.action_forms import carry_out
from portal.web.desk_forms import PauseForm
from portal.web.organize_forms import extra_time_form, window_form


@require_safe
@login_required
def phases(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the dates, their changes, and the forms to change them."""
    return _page(request, organizer_context(request, slug, "phases"))


@login_required
@require_POST
def move(request: SignedInRequest, slug: str, phase: str) -> HttpResponse:
    """Change a phase's dates."""
    context, found = organizer_phase(request, slug, phase, "phases")
    form = window_form(found, request.user, request.POST)
    if not form.carry_out(lambda given: move_phase(request.user, found, context["at"], **given)):
        return _page(request, context, {("move", found.slug): form}, form.status)
    messages.success(request, _("The dates of %(phase)s were changed.") % {"phase": found.title})
    return redirect("organize_phases", slug)


@login_required
@require_POST
def extra_time(request: SignedInRequest, slug: str, phase: str) -> HttpResponse:
    """Grant extra time to one team or to all teams."""
    context, found = organizer_phase(request, slug, phase, "phases")
    form = extra_time_form(found, request.user, request.POST)
    if not form.carry_out(lambda given: grant_extra_time(request.user, found, context["at"], **given)):
        return _page(request, context, {("extra_time", found.slug): form}, form.status)
    messages.success(request, _("Extra time was granted. It is shown with the task’s dates."))
    return redirect("organize_phases", slug)


@login_required
@require_POST
def revoke(request: SignedInRequest, slug: str, phase: str, pk: int) -> HttpResponse:
    """Revoke extra time."""
    context, found = organizer_phase(request, slug, phase, "phases")
    try:
        ends = revoke_extra_time(request.user, found, context["at"], extra_time_id=pk)
    except ActionError as error:
        return _page(request, context | {"refusal": error.message}, status=error.http_status)
    done = _("The extra time was revoked.") if ends is None else _("The extra time ends one hour from now.")
    messages.success(request, done)
    return redirect("organize_phases", slug)


@login_required
@require_POST
def pause(request: SignedInRequest, slug: str) -> HttpResponse:
    """Pause uploads, or replace the message while they are paused."""
    context = organizer_context(request, slug, "phases")
    form = PauseForm(request.POST, auto_id="pause-%s")
    shared_task = context["page"].shared_task
    if not form.carry_out(lambda given: pause_uploads(request.user, shared_task, context["at"], **given)):
        return _page(request, context | {"pause_form": form}, status=form.status)
    messages.success(request, _("Uploads are paused. Teams read your message on the upload page."))
    return redirect("organize_phases", slug)


@login_required
@require_POST
def resume(request: SignedInRequest, slug: str) -> HttpResponse:
    """Accept uploads again."""
    context = organizer_context(request, slug, "phases")
    done = _("Uploads are accepted again.")
    if error := carry_out(request, resume_uploads, context["page"].shared_task, context["at"], done):
        return _page(request, context | {"refusal": error.message}, status=error.http_status)
    return redirect("organize_phases", slug)


def old_extra_time(_request: HttpRequest, slug: str, phase: str, pk: str | None = None) -> HttpResponse:
    """Redirect from the URLs that the forms for extra time used before."""
    name, arguments = ("revoke_extra_time", [pk]) if pk else ("grant_extra_time", [])
    return redirect(name, slug, phase, *arguments, permanent=True, preserve_request=True)


def _page(
    request: SignedInRequest,
    context: dict[str, Any],
    forms: dict[tuple[str, str], Any] | None = None,
    status: int = HTTPStatus.OK,
) -> HttpResponse:
    """Render the page. Forms with errors are shown as they were filled in."""
    forms = forms or {}
    context.setdefault("pause_form", PauseForm(auto_id="pause-%s"))
    prefetch_related_objects(context["page"].phases, "changes")
    context["lines"] = [
        {
            "phase": phase,
            "move": forms.get(("move", phase.slug)) or window_form(phase, request.user),
            "extra_time": forms.get(("extra_time", phase.slug)) or extra_time_form(phase, request.user),
            "may_move": not is_released(phase, context["at"]),
            "may_grant": can_have_extra_time(phase, context["at"]),
            "revocable": [extra for extra in phase.extra_times.all() if can_be_revoked(phase, extra, context["at"])],
            "is_open": phase.is_open(context["at"]),
        }
        for phase in context["page"].phases
    ]
    return render(request, "organize/phases.html", context, status=status)
