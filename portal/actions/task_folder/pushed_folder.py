"""Check a pushed folder on a worker: store its files, then create a draft or compare the folder with the task.

For the comparison, the folder is applied in a transaction that is rolled back, so the result shows exactly what would
change.
"""

import hashlib
import json
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog
from django.db import InterfaceError, OperationalError, transaction
from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import ActionError, LimitReached, NotAllowed
from portal.actions.base.roles import CREATORS
from portal.actions.gold import new_version, score_after_commit
from portal.actions.task_folder.apply_definition import (
    SLUG_TAKEN,
    AppliedDefinition,
    Prepared,
    apply_definition,
    prepare,
)
from portal.actions.task_folder.folder import PublicFiles
from portal.actions.task_folder.import_phases import WINDOW
from portal.evaluation.errors import ChildError
from portal.evaluation.gold import adopt
from portal.evaluation.own_scorers.versions import PreparedScorer
from portal.evaluation.pushes import (
    PushedFolder,
    PushedGold,
    claim,
    fail,
    forget_archive,
    forget_gold,
    forget_prepared,
    postpone,
    problem,
    unpacked,
)
from portal.models import GoldStandard, SharedTask, TaskPush, User
from portal.models.clock import running_from
from portal.models.task import definition_name
from portal.objects.interface import data_objects
from portal.queries.differences import difference
from portal.queries.push_effects import Rehearsal, effects_of, state_before
from portal.sealing import key_id, public_key
from portal.storage import file_sha256
from scoring import Definition, load_definition
from scoring.task_folder.archive import DEFINITION

DRAFTS = 5  # maximum number of drafts per person
_OUTAGES = (OSError, OperationalError, InterfaceError)

TOO_MANY_DRAFTS = LimitReached.declare("draft_limit", _("You have %(n)d drafts. Open or delete one first."))

log = structlog.get_logger("portal.actions")


@dataclass(frozen=True, slots=True)
class Pushed:
    """A checked folder whose files are stored."""

    given: Prepared
    gold: list[PushedGold]

    def as_dict(self) -> dict[str, Any]:
        given = self.given
        return {
            "sha256": given.sha256,
            "datasets": given.datasets,
            "baselines": [[*place, sha256] for place, sha256 in given.baselines.items()],
            "agreement": [[*place, rows] for place, rows in given.agreement.items()],
            "gold": [asdict(gold) for gold in self.gold],
            "scorer": None if given.scorer is None else asdict(given.scorer),
        }

    @classmethod
    def of(cls, kept: dict[str, Any]) -> "Pushed":
        """Restore the folder from its `as_dict` form."""
        folder = data_objects().folder(definition_name(kept["sha256"]))
        given = Prepared(
            definition=load_definition(folder, is_imported=True),
            sha256=kept["sha256"],
            datasets=kept["datasets"],
            baselines={(split, track, name): sha256 for split, track, name, sha256 in kept["baselines"]},
            agreement={(track, split): rows for track, split, rows in kept["agreement"]},
            scorer=PreparedScorer.of(kept["scorer"]) if kept.get("scorer") else None,
        )
        return cls(given, [PushedGold(**gold) for gold in kept["gold"]])

    def apply(self, at: datetime, by: User, *, as_draft: bool = False) -> AppliedDefinition:
        """Update rows and gold in the caller's transaction."""
        change_gold = partial(_change_gold, self.gold, at, by)
        return apply_definition(self.given, change_gold, at, by=by, as_draft=as_draft)


def base_of(shared_task: SharedTask) -> str:
    """Return a digest of everything that a push is compared with.

    This includes the current gold key, with which gold is sealed.
    """
    gold = GoldStandard.objects.filter(track__shared_task=shared_task)
    moments = ("slug", "opens", "closes", "released")
    facts = [
        shared_task.state,
        shared_task.definition_sha256,
        shared_task.own_scorer_sha256,
        shared_task.dataset_files,
        [list(map(str, row)) for row in gold.order_by("pk").values_list("pk", "is_imported")],
        [list(map(str, row)) for row in shared_task.phases.order_by("slug").values_list(*moments)],
        key_id(public_key()).hex(),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()


def check_push(push_id: UUID, at: datetime) -> None:
    """Claim and check the push, and record the result. A worker that has lost its claim writes nothing.

    After an outage, the push is tried again later. After any other error, it fails, so its sender can push again: the
    same folder would only cause the same error.
    """
    now = running_from(at)
    token = claim(push_id, at)
    if token is None:
        return
    push = TaskPush.objects.select_related("shared_task", "sent_by").get(pk=push_id)
    result: dict[str, Any] = {}
    try:
        result = _checked(push, now)
        is_recorded = _record(push, token, result, now())
    except Exception as error:
        end = postpone if isinstance(error, _OUTAGES) else fail
        if end(push, token, error, now()):
            forget_gold(_gold_of(result))
        return
    if not is_recorded:
        forget_gold(_gold_of(result))
        return
    forget_archive(push)
    forget_prepared(push)


def _checked(push: TaskPush, now: Callable[[], datetime]) -> dict[str, Any]:
    """Check the push and return its new fields. Sealed gold is deleted unless these fields refer to it."""
    try:
        with unpacked(push) as folder:
            try:
                return _result(push, folder, now())
            except BaseException:
                forget_gold(map(asdict, folder.gold))
                raise
    except ChildError as error:
        log.warning("push rejected", push=str(push.pk), error=str(error))
        message = "Checking this folder takes too much time or memory. Make the files smaller, or remove some of them."
        return _rejected([problem("folder-too-expensive", message)])


def _gold_of(result: dict[str, Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = result.get("prepared", {}).get("gold", [])
    return found


def _result(push: TaskPush, folder: PushedFolder, at: datetime) -> dict[str, Any]:
    """Return the new fields of the push."""
    if folder.definition is None or any(one["severity"] == "error" for one in folder.problems):
        return _dropped(folder, [])
    kept = {"size": push.size + folder.size}  # public files stay on disk, so they count toward the daily limit
    files = PublicFiles.of(folder.definition)
    # The names are saved before the files are stored, so that no file is left behind.
    TaskPush.objects.filter(pk=push.pk).update(files=files.names())
    files.store(at)
    pushed = Pushed(prepare(folder.definition, files, folder.agreement, folder.scorer), folder.gold)
    try:
        rehearsal, base = _rehearsed(push, pushed, at)
    except ActionError as error:
        return kept | _dropped(folder, [problem(error.code, error.message, "task.yaml")])
    return kept | {
        "state": TaskPush.State.READY,
        "problems": folder.problems,
        "prepared": pushed.as_dict(),
        "base": base,
        "changes": [*rehearsal.changes, *_changed_files(push, pushed)],
        "effects": rehearsal.effects,
        "touches_runs": rehearsal.touches_runs,
        "difference": _difference(push, pushed),
    }


def _rehearsed(push: TaskPush, pushed: Pushed, at: datetime) -> tuple[Rehearsal, str]:
    """Return the effects of applying the push now, and the digest of what it was compared with.

    The transaction is rolled back.

    Raises:
        ActionError: the push cannot be applied.
    """
    with transaction.atomic():
        base = base_of(push.shared_task) if push.shared_task else ""
        before = state_before(push.shared_task)
        applied = pushed.apply(at, push.sent_by, as_draft=push.is_first)
        rehearsal = effects_of(before, applied.shared_task, applied.changes, at)
        transaction.set_rollback(True)
    return rehearsal, base


@transaction.atomic
def _record(push: TaskPush, token: UUID, result: dict[str, Any], at: datetime) -> bool:
    """Save the result, and create a draft from a valid first push.

    If the draft cannot be created, the push is rejected, and its gold is deleted after the transaction.
    """
    if not TaskPush.objects.held(push, token).release(**result, checked_at=at):
        return False
    if push.is_first and result["state"] == TaskPush.State.READY:
        push.sent_by.refresh_from_db()  # the account may have changed during the check
        try:
            create_draft(push.sent_by, push, at)
        except ActionError as error:
            file = None if isinstance(error, NotAllowed | LimitReached) else "task.yaml"
            TaskPush.objects.filter(pk=push.pk).update(**_rejected([problem(error.code, error.message, file)]))
    return True


@action(who=CREATORS, says=_("created a draft"), errors=[TOO_MANY_DRAFTS, SLUG_TAKEN, WINDOW], locks=True)
def create_draft(call: ActionCall, push: TaskPush) -> SharedTask:
    """Create a draft from a checked folder, and make the person its organizer. A worker calls this for the sender."""
    require_few_drafts(call.user)
    shared_task = Pushed.of(push.prepared).apply(call.at, call.user, as_draft=True).shared_task
    shared_task.organizers.add(call.user)
    push.state, push.applied_at, push.shared_task, push.prepared = TaskPush.State.APPLIED, call.at, shared_task, {}
    push.save(update_fields=["state", "applied_at", "shared_task", "prepared"])
    call.target = shared_task
    call.record(push=str(push.pk), definition=shared_task.definition_sha256)
    return shared_task


def require_few_drafts(user: User) -> None:
    """Check that the person may create another draft. Drafts that they only organize do not count.

    The count needs no lock, because only one push per person at a time is unfinished.

    Raises:
        LimitReached: TOO_MANY_DRAFTS.
    """
    created = TaskPush.objects.filter(is_first=True, sent_by=user, shared_task__state=SharedTask.State.DRAFT)
    if created.count() >= DRAFTS:
        raise TOO_MANY_DRAFTS(n=DRAFTS)


def _change_gold(gold: list[PushedGold], at: datetime, by: User, shared_task: SharedTask) -> list[str]:
    changes = []
    tracks = {track.slug: track for track in shared_task.tracks.all()}
    for one in gold:
        if one.is_folders:
            continue
        track = tracks[one.track]
        newest = GoldStandard.objects.newest(track, one.split)
        if one.is_known and newest is not None:
            GoldStandard.objects.filter(pk=newest.pk).update(is_imported=True)
            continue
        counts = None if one.counts is None else (one.counts[0], one.counts[1])
        added = adopt(track, one.split, one.sealed_sha256, at, by, counts, is_imported=True)
        changes.append(new_version(added))
        score_after_commit(track, one.split)
    return changes


def _rejected(problems: list[dict[str, Any]]) -> dict[str, Any]:
    return {"state": TaskPush.State.REJECTED, "problems": problems}


def _dropped(folder: PushedFolder, more: list[dict[str, Any]]) -> dict[str, Any]:
    """Delete the folder's gold, to which no row refers, and return the fields of a rejected push."""
    forget_gold(map(asdict, folder.gold))
    return _rejected([*folder.problems, *more])


def _changed_files(push: TaskPush, pushed: Pushed) -> Iterator[str]:
    """Yield a sentence for each changed public file: first the files of the definition, then the datasets."""
    if push.shared_task is None:
        return
    before, after = _files(push.shared_task.definition), _files(pushed.given.definition)
    for name in sorted(before.keys() | after.keys()):
        if name not in after:
            yield _("%(file)s: removed") % {"file": name}
        elif name not in before:
            yield _("%(file)s: new") % {"file": name}
        elif before[name] != after[name]:
            yield _("%(file)s: changed") % {"file": name}
    kept = {one.slug for one in pushed.given.definition.datasets}
    for one in push.shared_task.definition.datasets:
        if one.slug not in kept:
            yield _("dataset %(slug)s: removed") % {"slug": one.slug}
    for slug, stored in pushed.given.datasets.items():
        known = push.shared_task.dataset_files.get(slug)
        if known is None or stored["sha256"] not in (known["sha256"], known["instead_of"]):
            yield _("dataset %(slug)s: different file") % {"slug": slug}


def _files(definition: Definition) -> dict[str, str]:
    """Map the name of each file to its SHA-256. Datasets that tracks do not use are left out."""
    folder = definition.folder
    apart = {dataset.file for dataset in definition.datasets} - definition.files_of_rules
    return {
        path.relative_to(folder).as_posix(): file_sha256(path)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path not in apart
    }


def _difference(push: TaskPush, pushed: Pushed) -> str:
    """Return the changes to task.yaml as a unified diff."""
    if push.shared_task is None:
        return ""
    before, after = _text(push.shared_task.definition.folder), _text(pushed.given.definition.folder)
    return difference(DEFINITION, before, after)


def _text(folder: Path) -> str:
    return (folder / DEFINITION).read_text(encoding="utf-8-sig")
