"""Opening the zip of a pushed task in memory and checking it in a confined child. Only workers have the key."""

import tempfile
from base64 import b64decode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from django.db.models import QuerySet

from portal.evaluation.child import Child
from portal.evaluation.confined.task_folder import PIECE, TaskFolder
from portal.evaluation.limits import HINT_SECONDS, PUSH_CHILD_SECONDS, SWEEP_BATCH
from portal.evaluation.record import Problems
from portal.models import GoldStandard, SharedTask, TaskPush
from portal.models.push import KEPT, WAITS
from portal.objects.interface import gold_objects
from portal.sealing import seal
from portal.storage import open_gold, store_sealed_gold
from scoring import Definition, Problem, load_definition
from scoring.definition.archive import DEFINITION


@dataclass(frozen=True, slots=True)
class PushedGold:
    """A gold standard from a pushed folder, sealed separately.

    `is_folders`: it equals that of the last import or push. `is_known`: it equals the version in use.
    """

    track: str
    split: str
    sealed_sha256: str
    counts: tuple[int, int] | None
    is_folders: bool
    is_known: bool


@dataclass(frozen=True, slots=True)
class PushedFolder:
    """The child's result. Without errors it includes the definition, whose folder on disk has the public files."""

    problems: Problems
    definition: Definition | None = None
    size: int = 0  # bytes of the unpacked files
    gold: list[PushedGold] = field(default_factory=list)
    agreement: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)


@contextmanager
def unpacked(push: TaskPush) -> Iterator[PushedFolder]:
    """Yield the checked folder, which is deleted when the context ends.

    Raises:
        ChildError: the content kills the child, or the check takes too long.
        OSError: storage or the machine fails. It is `CannotOpen` if the key is missing.
    """
    archive = open_gold(push.sealed_sha256)
    with tempfile.TemporaryDirectory(prefix="agon-push-") as name:
        folder = Path(name).resolve()
        with Child(TaskFolder(archive, folder), [folder], PUSH_CHILD_SECONDS) as child:
            yield _judged(child, folder, push)


def due(at: datetime) -> list[UUID]:
    """Return waiting pushes without a hint in the queue, oldest first, and mark them as hinted."""
    return TaskPush.objects.unfinished().due(at).order_by("received_at").hint(at, HINT_SECONDS, SWEEP_BATCH)


def expire(at: datetime) -> None:
    """Give up pushes that have waited too long for a worker."""
    late = TaskPush.objects.unfinished().filter(received_at__lte=at - WAITS)
    for push in late:
        late.filter(pk=push.pk).release(state=TaskPush.State.FAILED, checked_at=at)


def forget_leftovers(at: datetime) -> int:
    """Delete zips of finished pushes and gold of pushes that can no longer be applied. Return the number of files.

    An old push is first marked as failed. This waits for the row's lock, which `apply_push` holds, so nothing is
    deleted that can still be applied.
    """
    dropped = 0
    for push in TaskPush.objects.exclude(sealed_sha256="").exclude(pk__in=TaskPush.objects.unfinished().values("pk")):
        dropped += forget_archive(push)
    ready = TaskPush.objects.filter(state=TaskPush.State.READY)
    ready.filter(received_at__lte=at - KEPT).update(state=TaskPush.State.FAILED)
    return dropped + sum(map(forget_prepared, TaskPush.objects.exclude(prepared={})))


def forget_prepared(push: TaskPush) -> int:
    """Delete the gold of a push that was rejected or has failed, and return the number of files."""
    over = TaskPush.objects.filter(pk=push.pk, state__in=(TaskPush.State.REJECTED, TaskPush.State.FAILED))
    dropped = sum(forget_gold(prepared.get("gold", ())) for prepared in over.values_list("prepared", flat=True))
    over.update(prepared={})
    return dropped


def forget_gold(gold: Iterable[dict[str, Any]]) -> int:
    """Delete those sealed files of a push, given as `PushedGold` values, that no gold standard uses.

    Return their number.
    """
    names = {one["sealed_sha256"] for one in gold} - {""}
    used = GoldStandard.objects.filter(sealed_sha256__in=names).values_list("sealed_sha256", flat=True)
    unused = names - set(used)
    for name in unused:
        gold_objects().delete(name)
    return len(unused)


def fail_restored() -> None:
    """After a restore, fail the pushes that were not applied yet: backups do not contain their files."""
    over = TaskPush.objects.exclude(state__in=(TaskPush.State.APPLIED, TaskPush.State.REJECTED))
    over.release(state=TaskPush.State.FAILED)
    TaskPush.objects.update(sealed_sha256="", prepared={})


def forget_archive(push: TaskPush) -> bool:
    """Delete the sealed zip, which is not needed after the check."""
    gold_objects().delete(push.sealed_sha256)
    return bool(TaskPush.objects.filter(pk=push.pk).update(sealed_sha256=""))


def _judged(child: Child, folder: Path, push: TaskPush) -> PushedFolder:
    found = child.ask("unpack")
    problems, sizes = found["problems"], found["sizes"]
    if not _ok(problems):
        return PushedFolder(problems)
    _write(child, folder, DEFINITION, sizes[DEFINITION])
    loaded = child.ask("load")
    problems += loaded["problems"]
    if not _ok(problems):
        return PushedFolder(problems)
    if (wrong := _wrong_slug(push, loaded["slug"], folder)) is not None:
        return PushedFolder([*problems, wrong])
    for name in sizes.keys() - set(loaded["apart"]) - {DEFINITION}:
        _write(child, folder, name, sizes[name])
    versions = GoldStandard.objects.none()  # a new task has none
    if push.shared_task is not None:
        versions = GoldStandard.objects.filter(track__shared_task=push.shared_task)
    judged = child.ask("check", sorted(set(versions.values_list("track__slug", "split"))))
    problems += judged["problems"]
    if not _ok(problems):
        return PushedFolder(problems)
    gold: list[PushedGold] = []
    try:
        gold.extend(_sealed(child, one, versions, problems) for one in judged["gold"])
    except BaseException:
        forget_gold(map(asdict, gold))
        raise
    agreement = {(one["track"], one["split"]): one["rows"] for one in judged["agreement"]}
    return PushedFolder(problems, load_definition(folder), sum(sizes.values()), gold, agreement)


def _wrong_slug(push: TaskPush, slug: str, folder: Path) -> dict[str, Any] | None:
    """Return a problem if the slug is not the task's. A folder may be compared only with the gold of its own task."""
    yaml = (folder / DEFINITION).read_text(encoding="utf-8-sig").splitlines()
    line = next((number for number, text in enumerate(yaml, 1) if text.startswith("slug:")), None)
    if push.shared_task is None and not push.is_first:
        return problem("folder-slug", "The task was deleted. Push the folder as a new task.", DEFINITION, line)
    if push.shared_task is not None and push.shared_task.slug != slug:
        message = (
            f"The slug in task.yaml is {slug}, but the task has the slug {push.shared_task.slug}. A slug can’t be "
            f"changed."
        )
        return problem("folder-slug", message, DEFINITION, line)
    if push.shared_task is None and SharedTask.objects.filter(slug=slug).exists():
        message = (
            f"The slug {slug} is already used by another task. Choose a different slug. If it is your task, push the "
            f"folder to that task."
        )
        return problem("folder-slug", message, DEFINITION, line)
    return None


def _ok(problems: Problems) -> bool:
    return not any(problem["severity"] == "error" for problem in problems)


def _content(child: Child, name: str, size: int) -> Iterator[bytes]:
    for start in range(0, max(size, 1), PIECE):
        yield b64decode(child.ask("piece", name, start))


def _write(child: Child, folder: Path, name: str, size: int) -> None:
    """Write a file. The child has checked its path, so a path outside the folder is an error of ours."""
    path = folder / name
    if not path.resolve().is_relative_to(folder):
        raise AssertionError("a path outside the folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("xb") as file:
        for piece in _content(child, name, size):
            file.write(piece)


def _sealed(child: Child, judged: dict[str, Any], versions: QuerySet[GoldStandard], problems: Problems) -> PushedGold:
    """Compare and seal a gold standard. Report a problem if it was also changed on the website."""
    content = b"".join(_content(child, judged["name"], judged["size"]))
    of_split = versions.filter(track__slug=judged["track"], split=judged["split"]).order_by("-version")
    newest, imported = of_split.first(), of_split.filter(is_imported=True).first()
    is_folders, is_known = _holds(imported, content), _holds(newest, content)
    has_parted = newest is not None and (imported is None or imported.sealed_sha256 != newest.sealed_sha256)
    if has_parted and not (is_folders or is_known):
        problems.append(_changed_twice(judged["name"], newest.version if newest else 0))
    counts = tuple(judged["counts"]) if judged["counts"] else None
    is_new = not (is_folders or is_known)
    stored = store_sealed_gold(seal([content])) if is_new else ""
    return PushedGold(judged["track"], judged["split"], stored, counts, is_folders, is_known)


def _holds(gold: GoldStandard | None, content: bytes) -> bool:
    return gold is not None and open_gold(gold.sealed_sha256) == content


def _changed_twice(name: str, version: int) -> dict[str, Any]:
    message = (
        f"{name} has changed, but version {version} of this gold has since been uploaded on the “Gold” page. Upload "
        f"your file on the “Gold” page, or remove it from the folder to keep that version."
    )
    return problem("gold-changed-twice", message, name)


def problem(code: str, message: str, file: str | None = None, line: int | None = None) -> dict[str, Any]:
    """Return an error about a pushed folder in the common form of problems."""
    return Problem("error", code, message, file=file, line=line).as_dict()
