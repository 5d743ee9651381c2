"""Push a task folder as a zip for a new or existing task, read the worker's report, and apply the push."""

from collections.abc import Callable
from http import HTTPStatus
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST

from portal.actions.task_folder.pushes import PUSH_BYTES, apply_push, is_stale, push_new_task, push_task
from portal.actions.task_folder.start import start_task
from portal.models import SharedTask, TaskPush, User
from portal.models.clock import database_now
from portal.queries.visible import visible_pushes
from portal.queries.working_copy import WorkingCopy, is_earlier_version
from portal.web.access import SignedInRequest, organizer_context, require_role
from portal.web.folder_forms import StartForm
from portal.web.organize_forms import ApplyPushForm, PushForm
from portal.web.sealing_handler import SealingHandler

_LISTED = 200  # maximum number of own tasks that can be chosen


@csrf_exempt  # the CSRF check reads the body, so it runs in `_answer`, once the sender is checked and sealing is set up
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def new_task(request: SignedInRequest) -> HttpResponse:
    """Show the form for pushing a new task's folder, and receive the push."""
    require_role(push_new_task.who, request.user, request.user)

    def push(sealed: Any) -> TaskPush:
        return push_new_task(request.user, request.user, database_now(), sealed=sealed)

    return _form(request, {"start": _start_form(request.user)}, "organize/new_task.html", push)


@login_required
@require_POST
def start(request: SignedInRequest) -> HttpResponse:
    """Make a new task from a template or from an earlier task."""
    require_role(start_task.who, request.user, request.user)
    form = _start_form(request.user, request.POST)
    if form.carry_out(lambda given: start_task(request.user, request.user, database_now(), **given)):
        return redirect("push", form.result.pk)
    context = {"start": form, "form": PushForm(), "limit": PUSH_BYTES}
    return render(request, "organize/new_task.html", context, status=form.status)


def _start_form(user: User, *given: Any) -> StartForm:
    own = SharedTask.objects.organized_by(user).order_by("-year", "title").values_list("slug", "title")
    return StartForm(*given, own=list(own[:_LISTED]))


@csrf_exempt  # as above
@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def organize_push(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show recent pushes and the form for pushing the task's folder, and receive the push."""
    context = organizer_context(request, slug, "folder")
    shared_task = context["page"].shared_task
    context["pushes"] = visible_pushes(request.user).filter(shared_task=shared_task)[:20]

    def push(sealed: Any) -> TaskPush:
        return push_task(request.user, shared_task, context["at"], sealed=sealed)

    return _form(request, context, "organize/push_form.html", push)


def _form(
    request: SignedInRequest, context: dict[str, Any], template: str, push: Callable[[Any], TaskPush]
) -> HttpResponse:
    request.upload_handlers = [SealingHandler(request, PUSH_BYTES)]
    return _answer(request, context, template, push)


@csrf_protect
def _answer(
    request: SignedInRequest, context: dict[str, Any], template: str, push: Callable[[Any], TaskPush]
) -> HttpResponse:
    form = PushForm(*((request.POST, request.FILES) if request.method == "POST" else ()))
    if form.carry_out(lambda given: push(given["file"].file)):
        return redirect("push", form.result.pk)
    if form.status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE:
        return render(request, "413.html", {"limit": PUSH_BYTES}, status=form.status)
    return render(request, template, context | {"form": form, "limit": PUSH_BYTES}, status=form.status)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def push(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Show a push's problems, its changes and effects, and the form that applies it."""
    found = get_object_or_404(visible_pushes(request.user), pk=pk)
    form = ApplyPushForm(request.POST if request.method == "POST" else None)
    if not found.touches_runs and request.method != "POST":  # effects may have been added since the check
        del form.fields["is_sure"]
    if request.method == "POST" and found.shared_task is None:
        raise Http404
    if form.carry_out(lambda given: apply_push(request.user, found, database_now(), **given)):
        messages.success(request, _("The push was applied."))
        return redirect("push", pk)
    stale, state = is_stale(found), TaskPush.State
    is_over = found.state in (state.REJECTED, state.FAILED, state.EXPIRED) or (found.state == state.READY and stale)
    context = {"push": found, "effects": form.effects or found.effects, "is_stale": stale, "is_over": is_over}
    context |= {"form": form, "can_return": is_earlier_version(found), "editable": _editable(found)}
    return render(request, "organize/push.html", context, status=form.status)


def _editable(push: TaskPush) -> set[str]:
    """Return the paths of the task's files that can be edited in the browser."""
    if push.shared_task is None or not push.problems:
        return set()
    return {file.path for file in WorkingCopy(push.shared_task).files()}
