"""Decrypting the zip of a pushed task in memory and checking it in a confined child. Only workers have the key."""

import shutil
import tempfile
from base64 import b64decode
from collections.abc import Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet

from portal.evaluation.child import Child
from portal.evaluation.confined.task_folder import PIECE, TaskFolder
from portal.evaluation.errors import HostError, description
from portal.evaluation.gold import Versions, opened
from portal.evaluation.limits import HINT_SECONDS, PUSH_CHILD_SECONDS, PUSH_SECONDS, RETRY_SECONDS, SWEEP_BATCH
from portal.evaluation.notices import alert
from portal.evaluation.own_scorers.versions import PreparedScorer
from portal.evaluation.record import Problems
from portal.models import GoldStandard, Run, SharedTask, Submission, TaskPush
from portal.models.push import KEPT, WAITS
from portal.models.task import definition_name
from portal.objects.interface import gold_objects
from portal.storage import forget_unused, name_held, open_gold, store_gold, stored_file, stored_name
from scoring import Definition, Problem, load_definition
from scoring.task_folder.archive import DEFINITION
from scoring.task_folder.secret_files import Fingerprint, Secret, copies_of_secrets

_DIGESTS = ("sha256", "instead_of")  # keys of a `StoredDataset` that are digests

log = structlog.get_logger("portal.evaluation")


@dataclass(frozen=True, slots=True)
class PushedGold:
    """A gold standard from a pushed folder, sealed separately.

    `is_folders` means that it is the same as in the last import or push, `is_known` that it is the same as the version
    in use.
    """

    track: str
    split: str
    sealed_sha256: str
    counts: tuple[int, int] | None
    is_folders: bool
    is_known: bool


@dataclass(frozen=True, slots=True)
class PushedFolder:
    """The child's result. If it has no errors, it includes the definition, whose folder has the public files."""

    problems: Problems
    definition: Definition | None = None
    size: int = 0  # size of the unpacked files in bytes
    gold: list[PushedGold] = field(default_factory=list)
    agreement: dict[tuple[str, str], list[dict[str, Any]]] = field(default_factory=dict)
    scorer: PreparedScorer | None = None


@contextmanager
def unpacked(push: TaskPush) -> Iterator[PushedFolder]:
    """Yield the checked folder, which is deleted when the context ends.

    Raises:
        ChildError: the content crashes the child, or the check takes too long.
        OSError: storage or the machine fails. It is `CannotOpen` if the key is missing.
    """
    archive = open_gold(push.sealed_sha256)
    with tempfile.TemporaryDirectory(prefix="agon-push-") as name:
        folder = Path(name).resolve()
        with Child(TaskFolder(archive, folder), [folder], PUSH_CHILD_SECONDS) as child:
            yield _judged(child, folder, push)


def claim(push_id: UUID, at: datetime) -> UUID | None:
    """Claim a waiting push and return the token. Return None if it is not waiting, or if any push is being checked.

    If a worker dies, no push is claimed until the lease of its push ends.
    """
    with name_held("claim of a push", alone=True):  # otherwise, two workers could claim different pushes
        if TaskPush.objects.being_checked(at).exists():
            return None
        waiting = TaskPush.objects.unfinished().filter(pk=push_id)
        return waiting.claim(at, PUSH_SECONDS, state=TaskPush.State.CHECKING)


def due(at: datetime) -> list[UUID]:
    """Return waiting pushes that have no message in the queue, oldest first, and mark them as queued."""
    return TaskPush.objects.unfinished().due(at).order_by("received_at").hint(at, HINT_SECONDS, SWEEP_BATCH)


def expire(at: datetime) -> None:
    """Give up on pushes that have waited too long for a worker, and email administrators."""
    late = TaskPush.objects.unfinished().filter(received_at__lte=at - WAITS)
    for push in late.select_related("shared_task"):
        with transaction.atomic():
            if late.filter(pk=push.pk).release(state=TaskPush.State.FAILED, checked_at=at):
                log.error("push failed", push=str(push.pk))
                line = f"{push} was not checked within an hour, so its organizer must push the folder again."
                alert(push.shared_task, f"failed {push}", [line], at)


def fail(push: TaskPush, token: UUID, error: Exception, at: datetime) -> bool:
    """Give up on the push after an error in the portal's own code, and email administrators.

    Return False if the claim was lost.
    """
    with transaction.atomic():
        if not TaskPush.objects.held(push, token).release(state=TaskPush.State.FAILED, checked_at=at):
            return False
        what = description(error)
        log.error("push failed", push=str(push.pk), error=what)
        alert(push.shared_task, f"failed {push}", [f"A push can't be checked: {what} ({push})"], at)
    return True


def postpone(push: TaskPush, token: UUID, error: Exception, at: datetime) -> bool:
    """Postpone the push after an outage, twice as long each time. Return False if the claim was lost.

    Administrators get at most one email per hour for each kind of error.
    """
    later = at + max(timedelta(seconds=RETRY_SECONDS), at - push.received_at)
    with transaction.atomic():
        if not TaskPush.objects.held(push, token).release(later, state=TaskPush.State.RECEIVED):
            return False
        what = str(error) if isinstance(error, HostError) else description(error)
        log.warning("push waits", push=str(push.pk), error=what)
        line = f"A push can't be checked right now and will be retried for an hour: {what} ({push})"
        alert(push.shared_task, f"push {type(error).__name__} {at:%Y-%m-%d %H}", [line], at)
    return True


def forget_leftovers(at: datetime) -> int:
    """Delete zips of finished pushes, and gold and public files of pushes that can no longer be applied.

    Return the number of files. Old pushes expire first. This waits for the lock that `apply_push` holds on the row, so
    nothing that is being applied is deleted.
    """
    dropped = 0
    for push in TaskPush.objects.exclude(sealed_sha256="").exclude(pk__in=TaskPush.objects.unfinished().values("pk")):
        dropped += forget_archive(push)
    ready = TaskPush.objects.filter(state=TaskPush.State.READY)
    ready.filter(received_at__lte=at - KEPT).update(state=TaskPush.State.EXPIRED)
    dropped += sum(map(forget_prepared, TaskPush.objects.exclude(prepared={})))
    return dropped + _forget_public_files(at)


def _forget_public_files(at: datetime) -> int:
    """Delete public files that no row refers to anymore. Files stored recently are kept until a later call."""
    over = TaskPush.objects.without_task().exclude(files=[])
    names = {name for files in over.values_list("files", flat=True) for name in files}
    unused = names - _names_in_use(names)
    left = {name for name in unused if not _is_forgotten(name, at)}
    for push in over.only("files"):
        TaskPush.objects.filter(pk=push.pk).update(files=[name for name in push.files if name in left])
    return len(unused - left)


def _is_forgotten(name: str, at: datetime) -> bool:
    try:
        return forget_unused(name, at)
    except OSError as error:
        log.warning("file not deleted", name=name, error=description(error))
        return False


def _names_in_use(names: Collection[str]) -> set[str]:
    """Return stored names that tasks, uploads, runs or other pushes need: at least all of those in `names`."""
    tasks = SharedTask.objects.all()
    pushes = TaskPush.objects.exclude(pk__in=TaskPush.objects.without_task().values("pk"))
    used = {name for files in pushes.values_list("files", flat=True) for name in files}
    used |= {definition_name(task.definition_sha256) for task in tasks}
    used |= {stored_name(stored[key]) for task in tasks for stored in task.dataset_files.values() for key in _DIGESTS}
    digests = {name.rpartition("/")[2] for name in names}
    used |= {*map(definition_name, _values(Submission, "definition_sha256", digests))}
    return used | {*map(stored_name, _values(Submission, "sha256", digests) | _values(Run, "file_sha256", digests))}


def _values(model: type[Submission | Run], column: str, values: Collection[str]) -> set[str]:
    return set(model.objects.filter(**{f"{column}__in": values}).values_list(column, flat=True))


def forget_prepared(push: TaskPush) -> int:
    """Delete the gold of a push that can no longer be applied, and return the number of files."""
    over = TaskPush.objects.without_task().filter(pk=push.pk)
    dropped = sum(forget_gold(prepared.get("gold", ())) for prepared in over.values_list("prepared", flat=True))
    over.update(prepared={})
    return dropped


def forget_gold(gold: Iterable[dict[str, Any]]) -> int:
    """Delete a push's sealed files, given as `PushedGold` values, unless a gold standard uses them.

    Return the number of deleted files.
    """
    names = {standard["sealed_sha256"] for standard in gold} - {""}
    used = GoldStandard.objects.filter(sealed_sha256__in=names).values_list("sealed_sha256", flat=True)
    unused = names - set(used)
    for name in unused:
        gold_objects().delete(name)
    return len(unused)


def fail_restored() -> None:
    """After a restore, mark unapplied pushes as failed, because backups do not contain their files."""
    over = TaskPush.objects.exclude(state__in=(TaskPush.State.APPLIED, TaskPush.State.REJECTED))
    over.release(state=TaskPush.State.FAILED)
    TaskPush.objects.update(sealed_sha256="", prepared={}, files=[])


def forget_archive(push: TaskPush) -> bool:
    """Delete the sealed zip, which is no longer needed after the check."""
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
    _add_held_datasets(push, folder, loaded["datasets"], {*sizes, *loaded["apart"]})
    versions = GoldStandard.objects.none()  # a new task has no versions
    if push.shared_task is not None:
        versions = GoldStandard.objects.filter(track__shared_task=push.shared_task)
    holds_scorer = push.shared_task is not None and bool(push.shared_task.own_scorer_sha256)
    judged = child.ask("check", sorted(set(versions.values_list("track__slug", "split"))), holds_scorer)
    problems += judged["problems"]
    if not _ok(problems):
        return PushedFolder(problems)
    problems += _copies_of_held_gold(folder, versions)
    if not _ok(problems):
        return PushedFolder(problems)
    gold: list[PushedGold] = []
    try:
        gold.extend(_sealed(child, standard, versions, problems) for standard in judged["gold"])
    except BaseException:
        # No row knows these files yet, so nothing else would delete them.
        forget_gold(map(asdict, gold))
        raise
    agreement = {(judgment["track"], judgment["split"]): judgment["rows"] for judgment in judged["agreement"]}
    scorer = None if judged["scorer"] is None else PreparedScorer.of(judged["scorer"])
    return PushedFolder(problems, load_definition(folder), sum(sizes.values()), gold, agreement, scorer)


def _add_held_datasets(push: TaskPush, folder: Path, datasets: Mapping[str, str], given: Container[str]) -> None:
    """Write the datasets that are not in the zip but that the task has, as its folder had them."""
    if push.shared_task is None:
        return
    for slug, name in datasets.items():
        held = push.shared_task.stored_dataset(slug)
        if held is None or name in given:
            continue
        with stored_file(held.instead_of or held.sha256) as stored:
            shutil.copyfile(stored, _place(folder, name))


def _wrong_slug(push: TaskPush, slug: str, folder: Path) -> dict[str, Any] | None:
    """Return a problem if the slug is not the task's. A folder must be compared only with the gold of its own task."""
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
            f"The slug {slug} is already used by another task. Choose a different slug. If that task is yours, "
            f"push the folder to it instead."
        )
        return problem("folder-slug", message, DEFINITION, line)
    return None


def _copies_of_held_gold(folder: Path, versions: QuerySet[GoldStandard]) -> Problems:
    """Return an error for each public file that is a copy of gold that the portal has, even if the zip has no gold."""
    secrets: dict[Fingerprint, Secret] = {}
    for gold in versions.select_related("track"):
        use = f"gold of the track {gold.track.slug}, split {gold.split} (version {gold.version})"
        secrets[Fingerprint.of(opened(gold) or b"")] = Secret(use, gold.split)
    return [problem.as_dict() for problem in copies_of_secrets(load_definition(folder), secrets)]


def _ok(problems: Problems) -> bool:
    return not any(problem["severity"] == "error" for problem in problems)


def _content(child: Child, name: str, size: int) -> Iterator[bytes]:
    for start in range(0, max(size, 1), PIECE):
        yield b64decode(child.ask("piece", name, start))


def _place(folder: Path, name: str) -> Path:
    """Return the path for a file. The child has checked it, so a path outside the folder would be an internal error."""
    path = folder / name
    if not path.resolve().is_relative_to(folder):
        raise AssertionError("a path outside the folder")
    path.parent.mkdir(parents=True, exist_ok=True)
    return path


def _write(child: Child, folder: Path, name: str, size: int) -> None:
    with _place(folder, name).open("xb") as file:
        for piece in _content(child, name, size):
            file.write(piece)


def _sealed(child: Child, judged: dict[str, Any], versions: QuerySet[GoldStandard], problems: Problems) -> PushedGold:
    """Compare and seal a gold standard. If it was also changed on the website, report a problem."""
    content = b"".join(_content(child, judged["name"], judged["size"]))
    of_split = versions.filter(track__slug=judged["track"], split=judged["split"]).order_by("-version")
    kept = Versions(of_split.first(), of_split.filter(is_imported=True).first())
    is_folders, is_known = opened(kept.imported) == content, opened(kept.newest) == content
    is_new = not (is_folders or is_known)
    if is_new and kept.newest is not None and kept.have_parted:
        problems.append(_changed_twice(judged["name"], kept.newest.version))
    counts = tuple(judged["counts"]) if judged["counts"] else None
    stored = store_gold(content) if is_new else ""
    return PushedGold(judged["track"], judged["split"], stored, counts, is_folders, is_known)


def _changed_twice(name: str, version: int) -> dict[str, Any]:
    message = (
        f"{name} has changed, but version {version} of this gold has since been uploaded on the “Gold” page. Upload "
        f"your file on the “Gold” page, or remove it from the folder to keep that version."
    )
    return problem("gold-changed-twice", message, name)


def problem(code: str, message: str, file: str | None = None, line: int | None = None) -> dict[str, Any]:
    """Return an error about a pushed folder as a `Problem.as_dict` value."""
    return Problem("error", code, message, file=file, line=line).as_dict()
