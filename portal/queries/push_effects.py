"""The effects of applying a pushed folder: runs to rescore, moved deadlines and affected people.

They are found in a transaction that applies the folder and is then rolled back.
"""

from dataclasses import dataclass
from datetime import UTC, datetime

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from portal.models import Download, GoldStandard, PhaseChange, Run, SharedTask, Signature
from portal.storage import file_sha256
from portal.times_and_numbers import written
from scoring import Definition

_REJECTED = Run.State.REJECTED


@dataclass(frozen=True, slots=True)
class StateBefore:
    """The state before the change, to compare with."""

    definition: Definition | None
    waiting: int  # number of teams' runs that are waiting for a score
    moves: int  # key of the newest PhaseChange
    gold: int  # key of the newest gold version
    datasets: dict[str, str]  # a dataset's slug → its SHA-256


@dataclass(frozen=True, slots=True)
class Rehearsal:
    """The changes and their effects. If `touches_runs` is true, a confirmation is required."""

    changes: list[str]
    effects: list[str]
    touches_runs: bool


def state_before(shared_task: SharedTask | None) -> StateBefore:
    if shared_task is None:
        return StateBefore(None, 0, 0, 0, {})
    return StateBefore(
        definition=shared_task.definition,
        waiting=_waiting(shared_task),
        moves=_newest(PhaseChange.objects.filter(phase__shared_task=shared_task)),
        gold=_newest(GoldStandard.objects.filter(track__shared_task=shared_task)),
        datasets={slug: stored["sha256"] for slug, stored in shared_task.dataset_files.items()},
    )


def effects_of(before: StateBefore, shared_task: SharedTask, changes: list[str], at: datetime) -> Rehearsal:
    """Return the effects of a folder that has just been applied.

    `changes` are the changes made by applying it. The change to the definition's digest is left out of the result.
    """
    effects = [*_of_runs(before, shared_task), *_of_gold(before, shared_task, at), *_of_windows(before, shared_task)]
    effects += [*_of_agreement(before, shared_task), *_of_datasets(before, shared_task)]
    runs = Run.objects.filter(track__shared_task=shared_task, kind=Run.Kind.TEAM).exclude(state=_REJECTED).count()
    if runs and before.definition is not None and _rules(before.definition) != _rules(shared_task.definition):
        words = ngettext(
            "The definition changes, but %(n)d run was uploaded under the previous version.",
            "The definition changes, but %(n)d runs were uploaded under the previous version.",
            runs,
        )
        effects.append(words % {"n": runs})
    shown = [change for change in changes if ": definition_sha256 " not in change]
    return Rehearsal(shown, effects, bool(effects))


def _of_runs(before: StateBefore, shared_task: SharedTask) -> list[str]:
    again = _waiting(shared_task) - before.waiting
    words = ngettext("%(n)d run will be rescored.", "%(n)d runs will be rescored.", again)
    return [words % {"n": again}] if again > 0 else []


def _of_gold(before: StateBefore, shared_task: SharedTask, at: datetime) -> list[str]:
    added = GoldStandard.objects.filter(track__shared_task=shared_task, pk__gt=before.gold, version__gt=1)
    if shared_task.state != SharedTask.State.OPEN:
        return []
    splits = added.values_list("split", flat=True)
    scored = shared_task.phases.filter(split__in=splits).prefetch_related("extra_times")
    phases = {phase.title for phase in scored if phase.scores_are_public(at) and not phase.keeps_scores(at)}
    words = _("The public leaderboard of %(phases)s changes immediately.")
    return [words % {"phases": ", ".join(sorted(phases))}] if phases else []


def _of_windows(before: StateBefore, shared_task: SharedTask) -> list[str]:
    if shared_task.state == SharedTask.State.DRAFT:
        return []
    moved = PhaseChange.objects.filter(phase__shared_task=shared_task, pk__gt=before.moves).select_related("phase")
    return [
        _("%(phase)s changes from %(before)s to %(after)s.")
        % {
            "phase": change.phase.title,
            "before": _window(change.opens_before, change.closes_before),
            "after": _window(change.opens_after, change.closes_after),
        }
        for change in moved.order_by("pk")
    ]


def _window(opens: datetime, closes: datetime | None) -> str:
    end = _("no deadline") if closes is None else f"{written(closes, UTC, closes)} UTC"
    return f"{written(opens, UTC, opens)} UTC – {end}"


def _of_agreement(before: StateBefore, shared_task: SharedTask) -> list[str]:
    was = before.definition.agreement if before.definition else None
    now = shared_task.definition.agreement
    if now is None or (was is not None and was.version == now.version):
        return []
    people = Signature.objects.filter(shared_task=shared_task).values("user").distinct().count()
    words = ngettext(
        "The agreement has a new version: %(n)d person must sign it again.",
        "The agreement has a new version: %(n)d people must sign it again.",
        people,
    )
    return [words % {"n": people}] if people else []


def _of_datasets(before: StateBefore, shared_task: SharedTask) -> list[str]:
    found = []
    for slug, stored in shared_task.dataset_files.items():
        if before.datasets.get(slug) in (None, stored["sha256"]):
            continue
        downloads = Download.objects.filter(shared_task=shared_task, dataset=slug).count()
        words = ngettext(
            "The file of dataset %(slug)s is replaced. The old file was downloaded %(n)d time.",
            "The file of dataset %(slug)s is replaced. The old file was downloaded %(n)d times.",
            downloads,
        )
        found += [words % {"slug": slug, "n": downloads}] if downloads else []
    return found


def _rules(definition: Definition) -> tuple[str, dict[str, str]]:
    """Return the SHA-256 of task.yaml and, by path, of every other file that matters for the runs.

    These are the files that affect how runs are checked and compared.
    """
    files = {
        path.relative_to(definition.folder).as_posix(): file_sha256(path)
        for path in definition.files_of_rules
        if path.is_file()
    }
    return definition.sha256, files


def _waiting(shared_task: SharedTask) -> int:
    runs = Run.objects.filter(track__shared_task=shared_task, kind=Run.Kind.TEAM)
    return runs.unfinished().count()


def _newest(rows: object) -> int:
    found: int | None = rows.order_by("-pk").values_list("pk", flat=True).first()  # type: ignore[attr-defined]
    return found or 0
