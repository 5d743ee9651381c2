"""Starting a new task from a template, or from an earlier task."""

import re
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from pydantic import Field

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.roles import CREATORS
from portal.actions.task_folder.apply_definition import SLUG_TAKEN
from portal.actions.task_folder.pushed_folder import TOO_MANY_DRAFTS, require_few_drafts
from portal.actions.task_folder.pushes import LIMITS, receive_push
from portal.models import OwnScorer, SharedTask, TaskPush, User
from portal.queries.working_copy import files_in, sealed_files
from portal.storage import pieces_of, stored_file
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.task_folder.archive import DEFINITION
from scoring.task_folder.renewed import renewed

TEMPLATES: Mapping[str, Promise] = {
    "hateval2019": _("Classification: a label for each text (tables, macro F1, several labels per item)"),
    "multilingual": _("Classification in several languages: labels that can apply together (a column for each)"),
    "softlabels": _("Learning with disagreements: a distribution of labels for each text"),
    "regression": _("Regression: a number for each text (Pearson’s correlation)"),
    "entities": _("Named entities: a tag for each token (CoNLL files, entity F1)"),
    "retrieval": _("Retrieval: a ranked list of documents for each query (MRR, nDCG)"),
    "generation": _("Text generation: a text for each item (BLEU, chrF++, ROUGE-L)"),
}
_SLUG = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")

NO_SOURCE = Conflict.declare("no_source", _("Choose a template, or a task that you organize."))
BAD_SLUG = Invalid.declare(
    "bad_slug", _("Use lowercase letters, digits and hyphens in the address, for example my-task-2027.")
)
BAD_DAY = Invalid.declare("bad_day", _("The dates of the task can’t be moved that far: %(problem)s."))
FILE_MISSING = Conflict.declare("file_missing", _("A file of the task can’t be read now. Try again later."))


@action(
    who=CREATORS,
    errors=[NO_SOURCE, BAD_SLUG, SLUG_TAKEN, BAD_DAY, FILE_MISSING, TOO_MANY_DRAFTS, *LIMITS],
    atomic=False,
)
def start_task(
    call: ActionCall,
    user: User,
    *,
    source: Annotated[str, Field(max_length=100)],
    slug: Annotated[str, Field(min_length=1, max_length=50)],
    title: Annotated[str, Field(min_length=1, max_length=120)],
    first_day: date | None = None,
) -> TaskPush:
    """Push the folder of a new task, made from a template or from a task that the person organizes.

    `source` is `template:NAME` or `task:SLUG`. If there is a first day, all dates move with it. A template has
    synthetic items and gold. A copy has the datasets and the own scorer of the task, but neither gold nor teams, runs
    and announcements.
    """
    require_few_drafts(user)
    if not _SLUG.fullmatch(slug):
        raise BAD_SLUG()
    if SharedTask.objects.filter(slug=slug).exists():
        raise SLUG_TAKEN()
    kind, _colon, name = source.partition(":")
    if kind == "template" and name in TEMPLATES:
        with TemporaryDirectory(prefix="agon-template-") as folder:
            return _push(call, _built(name, Path(folder) / "task"), slug, title, first_day)
    task = SharedTask.objects.organized_by(user).filter(slug=name).first() if kind == "task" else None
    if task is None:
        raise NO_SOURCE()
    return _push(call, _copied(task), slug, title, first_day)


def _push(
    call: ActionCall, files: dict[str, Iterable[bytes]], slug: str, title: str, first_day: date | None
) -> TaskPush:
    try:
        before = b"".join(files[DEFINITION]).decode("utf-8-sig")
        files[DEFINITION] = [renewed(before, slug=slug, title=title, first_day=first_day).encode()]
        sealed = sealed_files(files)
    except ValueError as error:
        raise BAD_DAY(problem=str(error)) from None
    except OSError:
        raise FILE_MISSING() from None
    try:
        return receive_push(call, None, sealed)
    finally:
        sealed.close()


def _built(name: str, folder: Path) -> dict[str, Iterable[bytes]]:
    from tasks import build  # noqa: PLC0415 - the generators take time to load, and no other action needs them

    return {path: pieces_of(file) for path, file in files_in(build(name, folder)).items()}


def _copied(task: SharedTask) -> dict[str, Iterable[bytes]]:
    """Return the public files of a task. Datasets that are not stored in its folder are read while they are packed."""
    definition = task.definition
    files: dict[str, Iterable[bytes]] = {path: pieces_of(file) for path, file in files_in(definition.folder).items()}
    for dataset in definition.datasets:
        stored = task.stored_dataset(dataset.slug)
        name = dataset.file.relative_to(definition.folder).as_posix()
        if stored is not None and name not in files:
            files[name] = _stored(stored.sha256)
    scorer = OwnScorer.objects.of(task).first()
    if scorer is not None:  # which needs an approval for the new task, too
        files |= {f"{SCORER_FOLDER}/{name}": [content] for name, content in scorer.program.files.items()}
    return files


def _stored(sha256: str) -> Iterable[bytes]:
    with stored_file(sha256) as path:
        yield from pieces_of(path)
