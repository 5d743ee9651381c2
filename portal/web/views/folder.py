"""Edit the files of a task's folder, push the edits, and return to earlier versions."""

from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.csrf import csrf_exempt, csrf_protect
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.task_folder.folder_edits import (
    CHANGED_MEANWHILE,
    discard_edit,
    edit_file,
    push_edits,
    push_version,
    remove_file,
)
from portal.markdown import render as render_markdown
from portal.models import SharedTask
from portal.parameters import whole_number
from portal.queries.visible import visible_pushes
from portal.queries.working_copy import WorkingCopy, digest, last_problems, moved_phases, text_of, versions
from portal.web.access import SignedInRequest, organizer_context
from portal.web.action_forms import carry_out
from portal.web.bodies import allow_large_file
from portal.web.folder_forms import AddFileForm, TextForm

_PROSE = ".md"  # ending of the pages' files


@require_safe
@login_required
def folder(request: SignedInRequest, slug: str) -> HttpResponse:
    """List the files of the working copy, the edits that are not applied, and earlier versions."""
    return _folder_page(request, organizer_context(request, slug, "folder"), AddFileForm())


@csrf_exempt  # the CSRF check reads the body, so `_added` does it once the sender is checked
@login_required
@require_POST
def add_file(request: SignedInRequest, slug: str) -> HttpResponse:
    """Add or replace a file. Without a file, an empty text is opened in the browser."""
    context = organizer_context(request, slug, "folder")
    allow_large_file(request)
    return _added(request, context)


@csrf_protect
def _added(request: SignedInRequest, context: dict[str, Any]) -> HttpResponse:
    form = AddFileForm(request.POST, request.FILES)
    shared_task = context["page"].shared_task
    copy = WorkingCopy(shared_task)

    def add(given: dict[str, Any]) -> None:
        path, file = given["path"], given["file"]
        before = copy.content(path)
        content = file.read() if file else before or b""
        if content != before:
            edit_file(request.user, shared_task, context["at"], path=path, content=content, base=digest(before))

    if form.carry_out(add):
        return redirect(_address(shared_task, form.cleaned_data["path"]))
    return _folder_page(request, context, form)


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def file(request: SignedInRequest, slug: str) -> HttpResponse:
    """Show a file of the working copy, and save its text. `push` also pushes the edits; `preview` saves nothing."""
    context = organizer_context(request, slug, "folder")
    shared_task, path = context["page"].shared_task, request.GET.get("path", "task.yaml")
    copy = WorkingCopy(shared_task)
    content = copy.content(path)
    if content is None and copy.edit(path) is None:
        raise Http404
    form = _text_form(request, content, is_prose=path.endswith(_PROSE))
    wants = {"push", "preview"} & {*request.POST}
    if "preview" not in wants and form and form.carry_out(lambda given: _save(request, context, path, form, given)):
        if "push" in wants:
            return _pushed(request, shared_task, context)
        messages.success(request, _("%(path)s was saved. Teams see the change once you apply it.") % {"path": path})
        return redirect(_address(shared_task, path))
    return _file_page(request, context, path, form)


@login_required
@require_POST
def remove(request: SignedInRequest, slug: str) -> HttpResponse:
    """Remove a file from the working copy."""
    context = organizer_context(request, slug, "folder")
    given = {"path": request.POST.get("path", ""), "base": request.POST.get("base", "")}
    done = _("%(path)s was removed from the working copy.") % given
    return _carried_out(request, context, remove_file, done, **given)


@login_required
@require_POST
def discard(request: SignedInRequest, slug: str) -> HttpResponse:
    """Undo the edits of a file."""
    context = organizer_context(request, slug, "folder")
    path = request.POST.get("path", "")
    done = _("The edits of %(path)s were discarded.") % {"path": path}
    return _carried_out(request, context, discard_edit, done, path=path)


@login_required
@require_POST
def push(request: SignedInRequest, slug: str) -> HttpResponse:
    """Push the working copy. The push's page shows its problems and effects."""
    context = organizer_context(request, slug, "folder")
    return _pushed(request, context["page"].shared_task, context)


@login_required
@require_POST
def return_to(request: SignedInRequest, pk: UUID) -> HttpResponse:
    """Push the folder of an earlier version again."""
    found = get_object_or_404(visible_pushes(request.user).filter(shared_task__isnull=False), pk=pk)
    assert found.shared_task is not None
    context = organizer_context(request, found.shared_task.slug, "folder")
    try:
        return redirect("push", push_version(request.user, found, context["at"]).pk)
    except ActionError as error:
        messages.error(request, error.message)
        return redirect("push", pk)


def _text_form(request: SignedInRequest, content: bytes | None, *, is_prose: bool) -> TextForm | None:
    """Return the form, or None if the file is removed or can't be edited in a browser."""
    text = None if content is None else text_of(content)
    if content is None or text is None:
        return None
    given = request.POST if request.method == "POST" else None
    return TextForm(given, before=content, is_prose=is_prose, initial={"text": text, "base": digest(content)})


def _save(request: SignedInRequest, context: dict[str, Any], path: str, form: TextForm, given: dict[str, Any]) -> None:
    shared_task = context["page"].shared_task
    edit_file(request.user, shared_task, context["at"], path=path, content=form.content, base=given["base"])


def _pushed(request: SignedInRequest, shared_task: SharedTask, context: dict[str, Any]) -> HttpResponse:
    try:
        return redirect("push", push_edits(request.user, shared_task, context["at"]).pk)
    except ActionError as error:
        messages.error(request, error.message)
        return redirect("organize_folder", shared_task.slug)


def _carried_out(
    request: SignedInRequest, context: dict[str, Any], action: Action[SharedTask, ..., Any], done: str, **given: str
) -> HttpResponse:
    shared_task = context["page"].shared_task
    if error := carry_out(request, action, shared_task, context["at"], done, **given):
        messages.error(request, error.message)
    return redirect("organize_folder", shared_task.slug)


def _folder_page(request: SignedInRequest, context: dict[str, Any], form: AddFileForm) -> HttpResponse:
    shared_task = context["page"].shared_task
    files = WorkingCopy(shared_task).files()
    context |= {
        "edited": [file for file in files if file.state],
        "files": files,
        "form": form,
        "versions": versions(shared_task),
        "moved": moved_phases(shared_task),
    }
    return render(request, "organize/folder.html", context, status=form.status)


def _file_page(request: SignedInRequest, context: dict[str, Any], path: str, form: TextForm | None) -> HttpResponse:
    shared_task = context["page"].shared_task
    copy = WorkingCopy(shared_task)
    content, status = copy.content(path), form.status if form else HTTPStatus.OK
    if form is not None and form.action_error is not None and form.action_error.code == CHANGED_MEANWHILE.code:
        form.see(digest(content))
        context["theirs"] = text_of(content or b"")
    text = form["text"].value() if form else None
    context |= {
        "path": path,
        "file": next(file for file in copy.files() if file.path == path),
        "edit": copy.edit(path),
        "base": digest(content),
        "form": form,
        "preview": render_markdown(text) if text and path.endswith(_PROSE) else "",
        "difference": copy.difference(path) if copy.edit(path) else "",
        "problems": last_problems(shared_task, path),
        "line": whole_number(request.GET.get("line", "")),
    }
    return render(request, "organize/file.html", context, status=status)


def _address(shared_task: SharedTask, path: str) -> str:
    return f"{reverse('organize_file', args=[shared_task.slug])}?{urlencode({'path': path})}"
