"""Pages to open, hide and delete a task, and to manage its organizers."""

from http import HTTPStatus
from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.organizers import add_organizer, remove_organizer
from portal.actions.task_folder.drafts import delete_draft, hide_task, open_task, require_state, show_task
from portal.models import SharedTask, User
from portal.web.access import SignedInRequest, organizer_context
from portal.web.organize_forms import OrganizerForm


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def state(request: SignedInRequest, slug: str, verb: str) -> HttpResponse:
    """Show the effects of `open`, `hide`, `show` or `delete`. A POST carries out the change."""
    context = organizer_context(request, slug, "overview")
    shared_task = context["page"].shared_task
    change, done, title, effects = _changes()[verb]
    context |= {"title": title, "effects": effects, "back": reverse("organize", args=[slug])}
    try:
        require_state(verb, shared_task)
        if request.method != "POST":
            return render(request, "organize/confirm.html", context)
        change(request.user, shared_task, context["at"])
    except ActionError as error:
        context |= {"refusal": error.message, "effects": []}
        return render(request, "organize/confirm.html", context, status=error.http_status)
    messages.success(request, done)
    return redirect("home") if verb == "delete" else redirect("organize", slug)


def _changes() -> dict[str, tuple[Action[SharedTask, [], Any], str, str, list[str]]]:
    """Map each verb to its action, the message when it is done, and the title and effects to confirm."""
    return {
        "open": (
            open_task,
            _("The task is now public."),
            _("Open task"),
            [
                _("Everyone can see the task on the home page, in search, in feeds and in the API."),
                _("The task can no longer be deleted, only hidden."),
            ],
        ),
        "hide": (
            hide_task,
            _("The task is now hidden."),
            _("Hide task"),
            [
                _("Only the task’s organizers and administrators can see the task. Its teams can’t see it."),
                _("The portal sends no emails about the task. Nothing is deleted."),
            ],
        ),
        "show": (
            show_task,
            _("The task is public again."),
            _("Show task"),
            [_("Everyone can see the task again in its current state.")],
        ),
        "delete": (
            delete_draft,
            _("The draft was deleted."),
            _("Delete draft"),
            [_("The task and everything in it will be deleted, including gold, teams and runs. You can’t undo this.")],
        ),
    }


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def organizers(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show the organizers. A POST adds an organizer by email address, or removes one."""
    context = organizer_context(request, slug, "organizers")
    shared_task = context["page"].shared_task
    form = OrganizerForm(request.POST if request.method == "POST" else None)
    removes = "remove" in request.POST
    done = (
        _("%(name)s is no longer an organizer of this task.")
        if removes
        else _("%(name)s is now an organizer of this task.")
    )

    def change(given: dict[str, Any]) -> User:
        if removes:
            return remove_organizer(request.user, shared_task, context["at"], address=given["address"])
        return add_organizer(request.user, shared_task, context["at"], **given)

    if form.carry_out(change):
        messages.success(request, done % {"name": form.result})
        is_own = form.result == request.user and removes
        return redirect("home") if is_own else redirect("organize_organizers", slug)
    context |= {"form": form, "people": shared_task.organizers.order_by("name", "email")}
    status = form.status if request.method == "POST" else HTTPStatus.OK
    return render(request, "organize/organizers.html", context, status=status)
