"""Update a shared task from a definition: rules, tracks, phases, data, gold and baselines, in one transaction.

Imports of a folder on the server and organizers' pushes both prepare the files first, then use this module.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from django.db import models
from django.db.models import Count, Exists, OuterRef, Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from portal.actions.agreement import require_new_version
from portal.actions.base.errors import Conflict
from portal.actions.task_folder.drafts import delete_runs, forget_gold_of
from portal.actions.task_folder.folder import PublicFiles
from portal.actions.task_folder.import_baselines import BaselineKey, import_baselines
from portal.actions.task_folder.import_phases import phase_fields, record_windows
from portal.evaluation.own_scorers.versions import PreparedScorer, change_scorer, held_scorer
from portal.evaluation.rerank import rerank
from portal.models import Board, Evaluation, Run, SharedTask, User
from scoring import Definition
from scoring import __version__ as scorer_version
from scoring.definition import Track as TrackDefinition
from scoring.metrics import describe
from scoring.own_scorers.program import ScorerError

PART_MISSING = Conflict.declare(
    "part_missing",
    _(
        "These parts of the task are missing from the folder: %(parts)s. Add them to task.yaml again. You can remove "
        "tracks and phases only from a draft, because people have already seen those of a public task."
    ),
)
PART_HAS_RUNS = Conflict.declare(
    "part_missing",
    _("These parts of the task have runs but are missing from the folder: %(parts)s. Add them to task.yaml again."),
)
TRACK_HAS_RUNS = Conflict.declare(
    "part_missing",
    _(
        "These tracks have scored runs in phases that would no longer accept runs for them: %(parts)s. Add the tracks "
        "to these phases again, or give them items in the phases’ splits."
    ),
)

SCORER_CALL = Conflict.declare(
    "scorer_call", _("The call in task.yaml does not fit the scorer that the task has. %(problem)s")
)
SLUG_TAKEN = Conflict.declare("slug_taken", _("Another task already uses this slug. Choose a different slug."))


@dataclass(frozen=True, slots=True)
class Prepared:
    """A definition, with its public files, which must be stored before it is applied.

    `agreement` maps track and split to the annotator agreement. It is empty if there are no votes.
    """

    definition: Definition
    sha256: str  # SHA-256 of the public folder
    datasets: dict[str, dict[str, Any]]  # each value is the dict form of a `StoredDataset`
    baselines: Mapping[BaselineKey, str]
    agreement: Mapping[tuple[str, str], list[dict[str, Any]]]
    scorer: PreparedScorer | None = None  # the own scorer in the folder, if any


@dataclass(frozen=True, slots=True)
class AppliedDefinition:
    """The updated shared task, and one sentence for each change."""

    shared_task: SharedTask
    changes: list[str] = field(default_factory=list)


def prepare(
    definition: Definition,
    files: PublicFiles,
    agreement: dict[tuple[str, str], list[dict[str, Any]]],
    scorer: PreparedScorer | None,
) -> Prepared:
    datasets = {slug: asdict(stored) for slug, stored in files.datasets.items()}
    return Prepared(definition, files.sha256, datasets, files.baselines, agreement, scorer)


def apply_definition(
    given: Prepared,
    change_gold: Callable[[SharedTask], list[str]],
    at: datetime,
    *,
    by: User | None = None,
    as_draft: bool = False,
) -> AppliedDefinition:
    """Update the rows in the caller's transaction. The task's row is locked.

    Args:
        change_gold: called to update the gold once the tracks exist.
        as_draft: the task is new and becomes a draft.

    Raises:
        ActionError: the change is not allowed because of dates, the agreement or missing parts.
    """
    definition = given.definition
    before = None if as_draft else SharedTask.objects.filter(slug=definition.slug).first()
    phases = {phase.slug: phase for phase in before.definition.phases} if before else {}
    rankings = {track.slug: _ranking(track) for track in before.definition.tracks} if before else {}
    shared_task, changes = _shared_task(given, as_draft, at)
    _point_to(shared_task, dict(given.datasets))
    require_new_version(shared_task, definition)
    changes += _removed(shared_task, definition)
    changes += _parts(
        shared_task.tracks, ({"slug": one.slug, "title": one.title} for one in definition.tracks), "track"
    )
    wanted = [phase_fields(phase, phases.get(phase.slug)) for phase in definition.phases]
    record_windows(shared_task, wanted, at, by)
    changes += _parts(shared_task.phases, wanted, "phase")
    changes += _changed_tracks(shared_task, definition, before.definition if before else definition)
    changes += change_gold(shared_task)
    changes += _agreement(shared_task, given)
    changes += import_baselines(shared_task, given.baselines, at)
    changes += change_scorer(shared_task, given.scorer or _held_scorer(shared_task, definition), at)
    changes += _reranked(shared_task, rankings)
    if changes:
        # Comparisons of the boards' runs depend on the rules.
        Board.objects.filter(track__shared_task=shared_task).changed()
    return AppliedDefinition(shared_task, changes)


def _held_scorer(shared_task: SharedTask, definition: Definition) -> PreparedScorer | None:
    """Return the scorer that the task keeps because the folder declares one but does not contain it."""
    try:
        return None if definition.scorer is None else held_scorer(shared_task, definition.scorer)
    except ScorerError as error:
        raise SCORER_CALL(problem=str(error)) from None


def _shared_task(given: Prepared, as_draft: bool, at: datetime) -> tuple[SharedTask, list[str]]:
    definition = given.definition
    fields = {
        "title": definition.title,
        "subtitle": definition.subtitle,
        "venue": definition.venue,
        "year": definition.year,
        "languages": list(definition.languages),
        "definition_sha256": given.sha256,
    }
    state = SharedTask.State.DRAFT if as_draft else SharedTask.State.OPEN
    new = fields | {"scorer": scorer_version, "imported_at": at, "state": state}
    shared_task, is_new = SharedTask.objects.select_for_update(no_key=True).get_or_create(
        slug=definition.slug, defaults=new
    )
    if is_new:
        return shared_task, [f"shared task {definition.slug}: new"]
    if as_draft:
        raise SLUG_TAKEN()
    changes = _update(shared_task, fields, f"shared task {shared_task.slug}")
    if changes:
        shared_task.imported_at = at
        shared_task.save()
    return shared_task, changes


def _point_to(shared_task: SharedTask, datasets: dict[str, Any]) -> None:
    """Set the dataset files. A replacement uploaded by organizers is kept until the file in the folder changes."""
    for slug, present in shared_task.dataset_files.items():
        if slug in datasets and present["instead_of"] == datasets[slug]["sha256"]:
            datasets[slug] = present
    if datasets != shared_task.dataset_files:
        shared_task.dataset_files = datasets
        shared_task.save(update_fields=["dataset_files"])


def _parts(rows: models.Manager[Any], wanted: Iterable[dict[str, Any]], noun: str) -> list[str]:
    """Create and update tracks or phases by slug, and return one sentence for each change."""
    there = {row.slug: row for row in rows.all()}
    changes = []
    for position, fields in enumerate(wanted):
        row = there.get(fields["slug"])
        label = f"{noun} {fields['slug']}"
        if row is None:
            rows.create(position=position, **fields)
            changes.append(f"{label}: new")
        elif changed := _update(row, {"position": position, **fields}, label):
            row.save()
            changes += changed
    return changes


def _removed(shared_task: SharedTask, definition: Definition) -> list[str]:
    """Remove the tracks and phases that the definition no longer has, with their gold and baselines.

    Raises:
        Conflict: the task is not a draft, or teams have uploaded runs for these tracks or phases.
    """
    tracks = shared_task.tracks.exclude(slug__in=[track.slug for track in definition.tracks])
    phases = shared_task.phases.exclude(slug__in=[phase.slug for phase in definition.phases])
    there = {f"track {track.slug}": Q(track=track) for track in tracks}
    there |= {f"phase {phase.slug}": Q(phase=phase) for phase in phases}
    if not there:
        return []
    runs = {part: Run.objects.filter(of_part, kind=Run.Kind.TEAM).count() for part, of_part in there.items()}
    if shared_task.state != SharedTask.State.DRAFT or any(runs.values()):
        error = PART_MISSING if shared_task.state != SharedTask.State.DRAFT else PART_HAS_RUNS
        raise error(parts=", ".join(_with_runs(part, count) for part, count in runs.items()))
    for of_part in there.values():
        delete_runs(Run.objects.filter(of_part), Board.objects.filter(of_part))
    forget_gold_of(tracks)
    tracks.delete()
    phases.delete()
    return [f"{part}: removed" for part in there]


def _changed_tracks(shared_task: SharedTask, definition: Definition, before: Definition) -> list[str]:
    """Return one sentence for each phase that now accepts runs for other tracks.

    Workers reject the waiting runs for tracks that a phase no longer accepts runs for.

    Raises:
        Conflict: teams' runs have been scored for such a track.
    """
    changes, parts = [], []
    earlier = {phase.slug: [track.slug for track in before.tracks_of(phase)] for phase in before.phases}
    for phase in definition.phases:
        tracks = [track.slug for track in definition.tracks_of(phase)]
        then = earlier.get(phase.slug, tracks)
        if set(tracks) == set(then):
            continue
        changes.append(f"phase {phase.slug}: tracks {', '.join(then)} → {', '.join(tracks)}")
        left = Run.objects.filter(phase__shared_task=shared_task, phase__slug=phase.slug, kind=Run.Kind.TEAM)
        left = left.exclude(track__slug__in=tracks)
        scored = left.filter(Exists(Evaluation.objects.filter(run=OuterRef("pk"))))
        by_track = scored.order_by("track__position").values_list("track__slug").annotate(Count("pk"))
        parts += [_with_runs(f"{track} in {phase.slug}", count) for track, count in by_track]
        if waiting := left.unfinished().count():
            changes.append(f"phase {phase.slug}: {waiting} waiting runs will be rejected")
    if parts:
        raise TRACK_HAS_RUNS(parts=", ".join(parts))
    return changes


def _with_runs(part: str, count: int) -> str:
    words = ngettext("%(part)s (%(n)d run)", "%(part)s (%(n)d runs)", count)
    return words % {"part": part, "n": count} if count else part


def _ranking(track: TrackDefinition) -> tuple[str, bool]:
    """Return the ranking metric and whether higher values are better."""
    return track.rank_by, describe(track.ranking_metric).higher_is_better


def _reranked(shared_task: SharedTask, before: Mapping[str, tuple[str, bool]]) -> list[str]:
    """Update the boards immediately if the ranking metric or its direction has changed."""
    changes = []
    for track in shared_task.tracks.all():
        ranking = _ranking(track.definition)
        if before.get(track.slug, ranking) != ranking:
            again = rerank(track)
            change = f"track {track.slug}: ranked by {before[track.slug][0]} → {ranking[0]}"
            changes.append(f"{change}, {again} runs will be rescored" if again else change)
    return changes


def _update(row: models.Model, fields: dict[str, Any], label: str) -> list[str]:
    """Set the fields that differ and return one sentence for each of them."""
    changes = []
    for name, value in fields.items():
        before = getattr(row, name)
        if before != value:
            setattr(row, name, value)
            changes.append(f"{label}: {name} {_written(before)} → {_written(value)}")
    return changes


def _written(value: Any) -> str:
    if isinstance(value, datetime):
        return f"{value.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return "–" if value is None else str(value)


def _agreement(shared_task: SharedTask, given: Prepared) -> list[str]:
    """Update the annotator agreement. If a votes file is missing from the folder, the earlier values are kept."""
    changes = []
    for track in shared_task.tracks.all():
        found = {}
        for votes in [votes for votes in given.definition.votes if votes.track == track.slug]:
            if (rows := given.agreement.get((track.slug, votes.split))) is not None:
                found[votes.split] = rows
            elif votes.split in track.agreement:
                found[votes.split] = track.agreement[votes.split]
        if found != track.agreement:
            track.agreement = found
            track.save(update_fields=["agreement"])
            changes.append(f"track {track.slug}: annotator agreement {', '.join(found) or 'removed'}")
    return changes
