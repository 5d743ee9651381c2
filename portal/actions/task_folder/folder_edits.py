"""Editing the files of a task's folder on the website. Edits are kept until they are pushed and applied."""

from typing import Annotated

from django.db.models import Count, Sum
from django.utils.translation import gettext_lazy as _
from pydantic import Field, SkipValidation

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid, LimitReached
from portal.actions.base.roles import ORGANIZERS
from portal.actions.task_folder.pushes import LIMITS, receive_push
from portal.actions.uploads.intake import TOO_LARGE
from portal.models import FolderEdit, SharedTask, TaskPush
from portal.queries.working_copy import WorkingCopy, digest, sealed_version
from scoring.limits import DEFINITION_BYTES, MEBIBYTE
from scoring.task_folder.archive import CODE, DEFINITION, expected_of_path
from scoring.task_folder.secret_files import is_left_out, secret_files

FILE_BYTES = 4 * MEBIBYTE  # size of an edited file
COPY_BYTES = 32 * MEBIBYTE  # size of all edited files of a task
EDITS = 200  # maximum number of edited files of a task

BAD_PATH = Invalid.declare("bad_path", _("%(path)s can’t be a file’s path. Enter %(expected)s."))
CODE_FILE = Invalid.declare("code_file", _("%(path)s is a program. Task folders can’t contain programs."))
SECRET_FILE = Conflict.declare(
    "secret_file",
    _("%(path)s can’t be edited here: gold, votes, scorers and hidden files are never shown. Push it in a zip."),
)
SET_APART = Conflict.declare(
    "set_apart", _("%(path)s is the file of the dataset %(dataset)s. Replace it on the “Data” page.")
)
NO_FILE = Conflict.declare("no_file", _("The folder has no file %(path)s."))
NEEDED = Conflict.declare("needed", _("Every task needs a task.yaml, so it can’t be removed."))
CHANGED_MEANWHILE = Conflict.declare(
    "changed_meanwhile",
    _("Someone else has changed %(path)s since you opened it. To keep your version anyway, save it again."),
)
TOO_MANY_EDITS = LimitReached.declare(
    "edit_limit",
    _("A task can have at most %(n)d edited files with %(limit)d MiB together. Apply or discard some edits first."),
)
NO_EDITS = Conflict.declare("no_edits", _("No file has been edited."))
EDIT_CONFLICT = Conflict.declare(
    "edit_conflict",
    _("The task now has other versions of files that you edited: %(paths)s. Save or discard your edits of each."),
)
VERSION_GONE = Conflict.declare("version_gone", _("The files of this version are no longer stored."))

_PATH = Annotated[str, Field(min_length=1, max_length=255, title=_("Path"))]
_BASE = Annotated[str, Field(max_length=64)]


@action(
    who=ORGANIZERS,
    says=_("edited a file of the task folder"),
    errors=[BAD_PATH, CODE_FILE, SECRET_FILE, SET_APART, TOO_LARGE, CHANGED_MEANWHILE, TOO_MANY_EDITS],
    locks=True,
    repeatable=True,
)
def edit_file(
    call: ActionCall, shared_task: SharedTask, *, path: _PATH, content: SkipValidation[bytes], base: _BASE
) -> None:
    """Save a file of the working copy. Nothing else changes until the edits are pushed and applied.

    `base` is the SHA-256 of the content that the person saw, empty for a new file. A different content would otherwise
    be overwritten.
    """
    _require_path(shared_task, path)
    limit = DEFINITION_BYTES if path == DEFINITION else FILE_BYTES
    if len(content) > limit:
        raise TOO_LARGE(limit=limit)
    copy = WorkingCopy(shared_task)
    before = copy.content(path)
    if before == content:
        _rebase(copy, path)
        return
    _require_base(path, before, base)
    _save(call, shared_task, copy, path, content)


@action(
    who=ORGANIZERS,
    says=_("removed a file from the task folder"),
    errors=[NO_FILE, NEEDED, CHANGED_MEANWHILE, TOO_MANY_EDITS],
    locks=True,
)
def remove_file(call: ActionCall, shared_task: SharedTask, *, path: _PATH, base: _BASE) -> None:
    """Remove a file from the working copy. Nothing else changes until the edits are pushed and applied."""
    copy = WorkingCopy(shared_task)
    before = copy.content(path)
    if before is None:
        raise NO_FILE(path=path)
    if path == DEFINITION:
        raise NEEDED()
    _require_base(path, before, base)
    _save(call, shared_task, copy, path, None)


@action(who=ORGANIZERS, says=_("discarded an edit of the task folder"), locks=True, repeatable=True)
def discard_edit(call: ActionCall, shared_task: SharedTask, *, path: _PATH) -> None:
    """Undo all edits of a file that have not been applied."""
    found = FolderEdit.objects.filter(shared_task=shared_task, path=path).defer("content").first()
    if found is None:
        return
    found.delete()
    call.record(subject=found.audit_subject, sha256=found.sha256)


@action(who=ORGANIZERS, errors=[NO_EDITS, EDIT_CONFLICT, *LIMITS], atomic=False)
def push_edits(call: ActionCall, shared_task: SharedTask) -> TaskPush:
    """Push the working copy. A worker checks it and compares it with the task. Apply it in a second step."""
    copy = WorkingCopy(shared_task)
    if not FolderEdit.objects.filter(shared_task=shared_task).exists():
        raise NO_EDITS()
    if conflicts := copy.conflicts():
        raise EDIT_CONFLICT(paths=", ".join(conflicts))
    sealed = copy.sealed()
    try:
        return receive_push(call, shared_task, sealed)
    finally:
        sealed.close()


@action(who=ORGANIZERS, errors=[VERSION_GONE, *LIMITS], atomic=False)
def push_version(call: ActionCall, push: TaskPush) -> TaskPush:
    """Push the folder of an earlier version again. Datasets and gold keep their current files."""
    assert push.shared_task is not None  # guaranteed by the role
    sealed = sealed_version(push)
    if sealed is None:
        raise VERSION_GONE()
    try:
        return receive_push(call, push.shared_task, sealed)
    finally:
        sealed.close()


def _require_path(shared_task: SharedTask, path: str) -> None:
    for expected in expected_of_path(path):
        raise BAD_PATH(path=path, expected=expected)
    if CODE.fullmatch(path):
        raise CODE_FILE(path=path)
    definition = shared_task.definition
    file = definition.folder / path
    if is_left_out(path) or file in secret_files(definition):
        raise SECRET_FILE(path=path)
    for dataset in definition.datasets:
        if dataset.file == file and file not in definition.files_of_rules:
            raise SET_APART(path=path, dataset=dataset.slug)


def _require_base(path: str, before: bytes | None, base: str) -> None:
    if digest(before) != base:
        raise CHANGED_MEANWHILE(path=path)


def _rebase(copy: WorkingCopy, path: str) -> None:
    """Keep an edit that the person has just confirmed, although the imported file has changed since."""
    if copy.has_conflict(path):
        FolderEdit.objects.filter(pk=copy.edit(path).pk).update(instead_of=digest(copy.imported(path)))  # type: ignore[union-attr]


def _save(call: ActionCall, shared_task: SharedTask, copy: WorkingCopy, path: str, content: bytes | None) -> None:
    imported = copy.imported(path)
    before = copy.edit(path)
    if content == imported:  # also if a new file is removed again
        FolderEdit.objects.filter(shared_task=shared_task, path=path).delete()
    else:
        _require_room(shared_task, path, len(content or b""))
        fields = {
            "content": content,
            "size": len(content or b""),
            "sha256": digest(content),
            "instead_of": digest(imported),
            "edited_by": call.user,
            "edited_at": call.at,
        }
        FolderEdit.objects.update_or_create(shared_task=shared_task, path=path, defaults=fields)
    digests = {"before": before.sha256 if before else digest(imported), "sha256": digest(content)}
    call.record(subject=f"file {path}", **digests, size=len(content or b""))


def _require_room(shared_task: SharedTask, path: str, size: int) -> None:
    others = FolderEdit.objects.filter(shared_task=shared_task).exclude(path=path)
    found = others.aggregate(count=Count("pk"), size=Sum("size"))
    if found["count"] >= EDITS or (found["size"] or 0) + size > COPY_BYTES:
        raise TOO_MANY_EDITS(n=EDITS, limit=COPY_BYTES // MEBIBYTE)
