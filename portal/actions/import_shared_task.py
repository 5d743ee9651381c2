"""Importing a task's folder: rules, tracks, phases, gold and baselines. Importing again changes nothing."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext_lazy as _

from portal.actions.action import Act, action
from portal.actions.agreement import SIGNED_WITH_OTHER_TEXT, require_new_version
from portal.actions.errors import Conflict, Invalid
from portal.actions.folder import keep_datasets, keep_folder
from portal.actions.import_baselines import import_baselines, store_baselines
from portal.actions.import_gold import GOLD_CHANGED_TWICE, import_gold
from portal.actions.import_phases import WINDOW, phase_fields, record_windows
from portal.actions.roles import SERVER
from portal.evaluation.rerank import rerank
from portal.models import Board, GoldStandard, SharedTask
from scoring import Definition, DefinitionError, load_definition
from scoring import __version__ as scorer_version
from scoring.definition import Track as TrackDefinition
from scoring.definition.folder import errors_of_folder
from scoring.gold.track_votes import agreement_of
from scoring.metrics import describe
from scoring.reports.printing import problem_line

DEFINITION = Invalid.declare("definition", _("The definition has errors:\n%(problems)s"))
FOLDER = Invalid.declare("folder", _("The files that the definition names have errors:\n%(problems)s"))
PART_MISSING = Conflict.declare("part_missing", _("The folder lacks what the portal has: %(parts)s."))


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The shared task as it is now, and what the import changed, one sentence each."""

    shared_task: SharedTask
    changes: list[str] = field(default_factory=list)


@action(
    who=SERVER,
    says=_("imported the shared task"),
    errors=[DEFINITION, FOLDER, WINDOW, PART_MISSING, GOLD_CHANGED_TWICE, SIGNED_WITH_OTHER_TEXT],
    repeatable=True,
    atomic=False,
)
def import_shared_task(act: Act, folder: Path) -> ImportResult:
    """Make the portal's shared task match the folder. A folder with an error changes nothing.

    All errors of one kind are listed: those of the definition, else those of its files, else those of phases, or of
    gold that changed both in the folder and on the page.
    """
    definition = _valid_definition(folder)
    sha256 = keep_folder(definition)
    datasets = {slug: asdict(stored) for slug, stored in keep_datasets(definition).items()}
    files = store_baselines(definition)
    before = SharedTask.objects.filter(slug=definition.slug).first()
    phases = {phase.slug: phase for phase in before.definition.phases} if before else {}
    rankings = {track.slug: _ranking(track) for track in before.definition.tracks} if before else {}
    with transaction.atomic():
        shared_task, changes = _shared_task(definition, sha256, act.at)
        _point_to(shared_task, datasets)
        require_new_version(shared_task, definition)
        changes += _parts(shared_task.tracks, map(_track_fields, definition.tracks), "track")
        wanted = [phase_fields(phase, phases.get(phase.slug)) for phase in definition.phases]
        record_windows(shared_task, wanted, act.at)
        changes += _parts(shared_task.phases, wanted, "phase")
        changes += import_gold(shared_task, definition, act.at)
        changes += _agreement(shared_task, definition)
        changes += import_baselines(shared_task, files, act.at)
        changes += _reranked(shared_task, rankings)
        if changes:
            Board.objects.filter(track__shared_task=shared_task).changed()  # what is compared follows from the rules
            act.target = shared_task
            act.record(definition=sha256, changes=changes)
    return ImportResult(shared_task, changes)


def _valid_definition(folder: Path) -> Definition:
    try:
        definition = load_definition(folder)
    except DefinitionError as error:
        raise DEFINITION(problems="\n".join(problem_line(problem) for problem in error.report)) from None
    gold = GoldStandard.objects.filter(track__shared_task__slug=definition.slug)
    problems = errors_of_folder(definition, set(gold.values_list("track__slug", "split")))
    if problems:
        raise FOLDER(problems="\n".join(problems))
    return definition


def _shared_task(definition: Definition, sha256: str, at: datetime) -> tuple[SharedTask, list[str]]:
    fields = {
        "title": definition.title,
        "subtitle": definition.subtitle,
        "venue": definition.venue,
        "year": definition.year,
        "languages": list(definition.languages),
        "definition_sha256": sha256,
    }
    shared_task = SharedTask.objects.select_for_update(no_key=True).filter(slug=definition.slug).first()
    if shared_task is None:
        shared_task = SharedTask.objects.create(slug=definition.slug, scorer=scorer_version, imported_at=at, **fields)
        return shared_task, [f"shared task {definition.slug}: new"]
    changes = _update(shared_task, fields, f"shared task {shared_task.slug}")
    if changes:
        shared_task.imported_at = at
        shared_task.save()
    return shared_task, changes


def _point_to(shared_task: SharedTask, datasets: dict[str, Any]) -> None:
    """No change of its own: it follows from the definition's. What organizers sent since stays for the same file."""
    for slug, present in shared_task.dataset_files.items():
        if slug in datasets and present["instead_of"] == datasets[slug]["sha256"]:
            datasets[slug] = present
    if datasets != shared_task.dataset_files:
        shared_task.dataset_files = datasets
        shared_task.save(update_fields=["dataset_files"])


def _parts(rows: models.Manager[Any], wanted: Iterable[dict[str, Any]], noun: str) -> list[str]:
    """Bring tracks or phases, which the slug identifies, in line with the definition."""
    there = {row.slug: row for row in rows.all()}
    changes = []
    for position, fields in enumerate(wanted):
        row = there.pop(fields["slug"], None)
        label = f"{noun} {fields['slug']}"
        if row is None:
            rows.create(position=position, **fields)
            changes.append(f"{label}: new")
        elif changed := _update(row, {"position": position, **fields}, label):
            row.save()
            changes += changed
    if there:
        raise PART_MISSING(parts=", ".join(f"{noun} {slug}" for slug in there))
    return changes


def _track_fields(track: TrackDefinition) -> dict[str, Any]:
    return {"slug": track.slug, "title": track.title}


def _ranking(track: TrackDefinition) -> tuple[str, bool]:
    """What ranks a track, and whether high values come first."""
    return track.rank_by, describe(track.ranking_metric).higher_is_better


def _reranked(shared_task: SharedTask, before: Mapping[str, tuple[str, bool]]) -> list[str]:
    """Boards follow at once where another metric ranks, or the other way round."""
    changes = []
    for track in shared_task.tracks.all():
        ranking = _ranking(track.definition)
        if before.get(track.slug, ranking) != ranking:
            again = rerank(track)
            change = f"track {track.slug}: ranked by {before[track.slug][0]} → {ranking[0]}"
            changes.append(f"{change}, {again} runs are scored again" if again else change)
    return changes


def _update(row: models.Model, fields: dict[str, Any], label: str) -> list[str]:
    """Set the fields that differ; one sentence for each."""
    changes = []
    for name, value in fields.items():
        before = getattr(row, name)
        if before != value:
            setattr(row, name, value)
            changes.append(f"{label}: {name} {before} → {value}")
    return changes


def _agreement(shared_task: SharedTask, definition: Definition) -> list[str]:
    """How far annotators agree; where the folder comes without their votes, as far as they did before."""
    changes = []
    for track in shared_task.tracks.all():
        found = {}
        for votes in definition.votes:
            if votes.track == track.slug and votes.file.exists():
                found[votes.split] = [asdict(row) for row in agreement_of(definition.track(track.slug), votes)]
            elif votes.track == track.slug and votes.split in track.agreement:
                found[votes.split] = track.agreement[votes.split]
        if found != track.agreement:
            track.agreement = found
            track.save(update_fields=["agreement"])
            changes.append(f"track {track.slug}: agreement of the annotators {', '.join(found) or 'removed'}")
    return changes
