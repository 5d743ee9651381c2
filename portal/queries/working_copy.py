"""The working copy of a task: its imported folder, with the files that organizers have edited on the website."""

import hashlib
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from stream_zip import ZIP_32, stream_zip

from portal.models import FolderEdit, Phase, SharedTask, TaskPush
from portal.models.task import definition_name
from portal.objects.interface import data_objects
from portal.queries.differences import difference
from portal.sealing import SealedFile
from portal.storage import pieces_of
from scoring.limits import UPLOAD_BYTES
from scoring.task_folder.archive import DEFINITION

EDITABLE_BYTES = 128 * 1024  # size of a text that people can edit in the browser
VERSIONS = 20  # maximum number of versions that a page lists
_BOM = b"\xef\xbb\xbf"
_EPOCH = datetime(1980, 1, 1, tzinfo=UTC)  # so that the same files always give the same zip
_FILE = 0o100644  # a regular file that everyone can read


@dataclass(frozen=True, slots=True)
class FolderFile:
    """A file of the working copy, as listed on the page.

    `state` is empty for a file that is not edited. A file has a conflict if the imported folder's file has changed
    since it was edited.
    """

    path: str
    size: int
    state: str = ""  # "new", "changed" or "removed"
    has_conflict: bool = False


class WorkingCopy:
    """The files of a task's working copy, by path."""

    def __init__(self, shared_task: SharedTask) -> None:
        self._folder = shared_task.definition.folder
        edits = FolderEdit.objects.filter(shared_task=shared_task)
        self._edits = {edit.path: edit for edit in edits.defer("content")}

    def files(self) -> list[FolderFile]:
        """Return the files, task.yaml and the pages first. Removed files are among them."""
        listed = [FolderFile(path, file.stat().st_size) for path, file in files_in(self._folder).items()]
        found = {file.path: file for file in listed}
        for path, edit in self._edits.items():
            found[path] = FolderFile(path, edit.size, self._state(edit, path in found), self.has_conflict(path))
        return sorted(found.values(), key=self._order)

    @staticmethod
    def _order(file: FolderFile) -> tuple[bool, bool, str]:
        """Return a key that sorts task.yaml first, then texts that people read."""
        return file.path != DEFINITION, not file.path.endswith(".md"), file.path

    def edit(self, path: str) -> FolderEdit | None:
        return self._edits.get(path)

    def content(self, path: str) -> bytes | None:
        """Return a file's content, or None if there is no such file, or it is removed."""
        edit = self._edits.get(path)
        if edit is None:
            return self.imported(path)
        return None if edit.content is None else bytes(edit.content)

    def imported(self, path: str) -> bytes | None:
        """Return the content of the imported folder's file, or None if there is no such file."""
        file = self._folder / path
        try:
            is_there = file.is_file() and file.resolve().is_relative_to(self._folder.resolve())
        except OSError:  # the path is longer than any file's
            return None
        return file.read_bytes() if is_there else None

    def conflicts(self) -> list[str]:
        """Return the paths of edited files that have also changed in the imported folder."""
        return [path for path in self._edits if self.has_conflict(path)]

    def has_conflict(self, path: str) -> bool:
        edit = self._edits.get(path)
        return edit is not None and digest(self.imported(path)) not in (edit.instead_of, edit.sha256)

    def difference(self, path: str) -> str:
        """Return the edits of a text as a unified diff. Empty if one of the contents is not a text."""
        before, after = (text_of(content or b"") for content in (self.imported(path), self.content(path)))
        return "" if before is None or after is None else difference(path, before, after)

    def sealed(self) -> SealedFile:
        """Return the working copy as a sealed zip, as an organizer would push it. The caller closes it."""
        files: dict[str, Iterable[bytes]] = {path: pieces_of(file) for path, file in files_in(self._folder).items()}
        for path in self._edits:
            content = self.content(path)
            if content is None:
                files.pop(path, None)
            else:
                files[path] = [content]
        return sealed_files(files)

    @staticmethod
    def _state(edit: FolderEdit, is_imported: bool) -> str:
        if not edit.sha256:
            return "removed"
        return "changed" if is_imported else "new"


def versions(shared_task: SharedTask) -> list[TaskPush]:
    """Return the applied pushes of a task, newest first."""
    applied = TaskPush.objects.filter(shared_task=shared_task, state=TaskPush.State.APPLIED)
    return list(applied.select_related("sent_by").order_by("-applied_at")[:VERSIONS])


def last_problems(shared_task: SharedTask, path: str) -> list[dict[str, Any]]:
    """Return the problems with a file in the task's last push, as `Problem.as_dict` values."""
    last = TaskPush.objects.filter(shared_task=shared_task).only("problems").first()
    problems = last.problems if last else []
    return [problem for problem in problems if problem["file"] == path]


def moved_phases(shared_task: SharedTask) -> list[Phase]:
    """Return the phases whose times have been changed on the website since task.yaml was written. Rounds move alone."""
    declared = {phase.slug: phase for phase in shared_task.definition.phases}
    found = []
    for phase in shared_task.phases.all():
        wanted = declared.get(phase.slug)
        if wanted is not None and not phase.round_days and (phase.opens, phase.closes) != (wanted.opens, wanted.closes):
            found.append(phase)
    return found


def is_earlier_version(push: TaskPush) -> bool:
    """Return whether a push was applied, and the task now has another folder."""
    if push.shared_task is None or push.state != TaskPush.State.APPLIED:
        return False
    return push.definition_name not in ("", definition_name(push.shared_task.definition_sha256))


def sealed_version(push: TaskPush) -> SealedFile | None:
    """Return the folder of an applied push as a sealed zip, or None if it is no longer stored."""
    try:
        folder = data_objects().folder(push.definition_name) if push.definition_name else None
    except OSError:  # a bucket does not have it
        return None
    if folder is None or not folder.is_dir():
        return None
    return sealed_files({path: pieces_of(file) for path, file in files_in(folder).items()})


def digest(content: bytes | None) -> str:
    """Return the SHA-256 of a file's content. Empty if there is no file."""
    return "" if content is None else hashlib.sha256(content).hexdigest()


def text_of(content: bytes) -> str | None:
    """Return a file's content as a text for a browser, or None if it is too long or would come back changed."""
    if len(content) > EDITABLE_BYTES:
        return None
    try:
        text = content.removeprefix(_BOM).decode().replace("\r\n", "\n")
    except UnicodeDecodeError:
        return None
    is_plain = "\r" not in text and "\0" not in text
    return text if is_plain and bytes_of(text, content) == content else None


def bytes_of(text: str, before: bytes) -> bytes:
    """Return a text from a browser as a file's content, with the line ends and the byte-order mark of `before`."""
    lines = text.replace("\r\n", "\n")
    if b"\r\n" in before:
        lines = lines.replace("\n", "\r\n")
    return (_BOM if before.startswith(_BOM) else b"") + lines.encode()


def files_in(folder: Path) -> dict[str, Path]:
    """Return the files in a folder by their path in it."""
    return {path.relative_to(folder).as_posix(): path for path in sorted(folder.rglob("*")) if path.is_file()}


def sealed_files(files: Mapping[str, Iterable[bytes]]) -> SealedFile:
    """Return the files as a sealed zip. The caller closes it."""
    sealed = SealedFile(UPLOAD_BYTES)
    for piece in stream_zip(packed_files(files), get_compressobj=_fast):
        sealed.add(piece)
    sealed.end()
    return sealed


def packed_files(files: Mapping[str, Iterable[bytes]]) -> Iterator[tuple[Any, ...]]:
    """Yield the entries of a zip, which is always the same for the same files."""
    for path in sorted(files):
        yield path, _EPOCH, _FILE, ZIP_32, files[path]


def _fast() -> Any:
    """Return a compressor that favors speed. The zip is deleted after the check."""
    return zlib.compressobj(level=1, wbits=-zlib.MAX_WBITS)
