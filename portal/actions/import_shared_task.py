"""Importing a shared task's folder: rules, tracks, phases, gold and baselines. Doing it twice changes nothing."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from itertools import product
from pathlib import Path
from typing import Any

from django.db import models, transaction
from django.utils.translation import gettext as _

from portal.actions.agreement import require_new_version
from portal.actions.errors import ActionError, Conflict, Invalid
from portal.actions.folder import keep_datasets, keep_folder
from portal.actions.gold import add_gold_standard
from portal.actions.phases import record_window, require_hidden_items, require_import
from portal.evaluation.rerank import rerank
from portal.models import AuditEntry, Board, GoldStandard, Phase, Run, SharedTask, User
from portal.storage import can_open_gold, store_file
from scoring import Definition, DefinitionError, load_definition
from scoring import __version__ as scorer_version
from scoring.definition import Phase as PhaseDefinition
from scoring.definition import Track as TrackDefinition
from scoring.definition.folder import errors_of_folder
from scoring.gold.track_votes import agreement_of
from scoring.metrics import describe
from scoring.reports.printing import problem_line

_Place = tuple[str, str, str]  # split, track, name of a baseline


class FolderRefused(Invalid):
    """The folder cannot be imported as it is; `faults` has a sentence for each reason."""

    def __init__(self, code: str, faults: list[str]) -> None:
        super().__init__(code, "\n".join(faults))
        self.faults = faults


@dataclass(frozen=True, slots=True)
class ImportResult:
    """The shared task as it is now, and what the import changed, one sentence each."""

    shared_task: SharedTask
    changes: list[str] = field(default_factory=list)


def import_shared_task(folder: Path, at: datetime, actor: User | None = None) -> ImportResult:
    """Make the portal's shared task what the folder says; a folder with a fault changes nothing.

    Raises:
        FolderRefused: the definition has faults, or else the files that it names, or gold has changed since the last
            import both in the folder and on the page; all are listed.
        Conflict: a track or phase that has rows is missing from the folder, or a signed text was changed.
    """
    definition = _sound_definition(folder)
    sha256 = keep_folder(definition)
    datasets = {slug: asdict(stored) for slug, stored in keep_datasets(definition).items()}
    files = _store_baselines(definition)
    before = SharedTask.objects.filter(slug=definition.slug).first()
    phases = {phase.slug: phase for phase in before.definition.phases} if before else {}
    rankings = {track.slug: _ranking(track) for track in before.definition.tracks} if before else {}
    with transaction.atomic():
        shared_task, changes = _shared_task(definition, sha256, at)
        _point_to(shared_task, datasets)
        require_new_version(shared_task, definition)
        changes += _parts(shared_task, shared_task.tracks, map(_track_fields, definition.tracks), "track")
        wanted = [_phase_fields(phase, phases.get(phase.slug)) for phase in definition.phases]
        _windows(shared_task, wanted, at, actor)
        changes += _parts(shared_task, shared_task.phases, wanted, "phase")
        changes += _gold(shared_task, definition, at, actor)
        changes += _agreement(shared_task, definition)
        changes += _baselines(shared_task, files, at)
        changes += _reranked(shared_task, rankings)
        if changes:
            Board.objects.filter(track__shared_task=shared_task).changed()  # what is compared follows from the rules
            AuditEntry.objects.record(actor, "import_shared_task", shared_task, at, definition=sha256, changes=changes)
    return ImportResult(shared_task, changes)


def _sound_definition(folder: Path) -> Definition:
    try:
        definition = load_definition(folder)
    except DefinitionError as error:
        raise FolderRefused("definition", [problem_line(problem) for problem in error.report]) from None
    gold = GoldStandard.objects.filter(track__shared_task__slug=definition.slug)
    faults = errors_of_folder(definition, set(gold.values_list("track__slug", "split")))
    if faults:
        raise FolderRefused("folder", faults)
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


def _parts(
    shared_task: SharedTask, rows: models.Manager[Any], wanted: Iterable[dict[str, Any]], noun: str
) -> list[str]:
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
        names = {"what": ", ".join(f"{noun} {slug}" for slug in there)}
        raise Conflict("part_missing", _("The folder lacks what the portal has: %(what)s.") % names)
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


def _phase_fields(phase: PhaseDefinition, before: PhaseDefinition | None) -> dict[str, Any]:
    """What organizers change in the portal, too, is left as it is unless the folder has another word now."""
    names = [
        "slug",
        "title",
        "split",
        "runs_per_track",
        "contrastive",
        "runs_per_day",
        "scores",
        "official",
        "run_numbers",
        "team_names",
        "ladder_step",
    ]
    names += [name for name in ("opens", "closes") if before is None or getattr(before, name) != getattr(phase, name)]
    if phase.released is not None and (before is None or before.released != phase.released):
        names.append("released")
    return {name: getattr(phase, name) for name in names}


def _windows(shared_task: SharedTask, wanted: Iterable[Mapping[str, Any]], at: datetime, actor: User | None) -> None:
    """Put each window that moves on record, if it may move."""
    there = {phase.slug: phase for phase in shared_task.phases.prefetch_related("graces")}
    faults = []
    for fields in wanted:
        phase = there.get(fields["slug"])
        try:
            if phase is None:
                require_hidden_items(Phase(shared_task=shared_task, **fields), fields["closes"], at)
            else:
                _move(phase, fields, at, actor)
        except ActionError as refused:
            faults.append(f"phase {fields['slug']}: {refused.message}")
    if faults:
        raise FolderRefused("window", faults)


def _move(phase: Phase, fields: Mapping[str, Any], at: datetime, actor: User | None) -> None:
    opens, closes = fields.get("opens", phase.opens), fields.get("closes", phase.closes)
    if (opens, closes) == (phase.opens, phase.closes):
        return
    require_import(phase, opens, closes, fields.get("released", phase.released), at)
    require_hidden_items(phase, closes, at)
    record_window(phase, opens, closes, _("The organizers changed the task’s definition."), actor, at)


def _update(row: models.Model, fields: dict[str, Any], label: str) -> list[str]:
    """Set the fields that differ; one sentence for each."""
    changes = []
    for name, value in fields.items():
        before = getattr(row, name)
        if before != value:
            setattr(row, name, value)
            changes.append(f"{label}: {name} {before} → {value}")
    return changes


def _gold(shared_task: SharedTask, definition: Definition, at: datetime, actor: User | None) -> list[str]:
    changes, conflicts = [], []
    tracks = {track.slug: track for track in shared_task.tracks.all()}
    for wanted in definition.gold:
        track = tracks[wanted.track]
        before = GoldStandard.objects.newest(track, wanted.split)
        if before is not None and not wanted.file.exists():
            continue  # a folder without its gold changes none
        try:
            gold = add_gold_standard(track, wanted.split, wanted.file, at, actor)
        except Conflict as conflict:
            conflicts.append(conflict.message)
            continue
        if gold != before:
            changes.append(f"gold {track.slug} {wanted.split}: version {gold.version}{_covered(gold)}")
        elif not can_open_gold():
            changes.append(f"gold {track.slug} {wanted.split}: a worker compares it with version {gold.version}")
    if conflicts:
        raise FolderRefused("gold_changed_twice", conflicts)
    return changes


def _covered(gold: GoldStandard) -> str:
    return "" if gold.counts is None else ", {} of {} items have gold".format(*gold.counts)


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


def _store_baselines(definition: Definition) -> dict[_Place, str]:
    """SHA-256 of each baseline's run file, where the track has the split; the gold standard needs none and has none."""
    splits = dict.fromkeys(phase.split for phase in definition.phases)
    found = {}
    for baseline, split, track in product(definition.baselines, splits, definition.tracks):
        if baseline.files is None:
            found[split, track.slug, baseline.name] = ""
            continue
        file = definition.folder / baseline.files.format(split=split, track=track.slug)
        if file.exists():
            found[split, track.slug, baseline.name] = store_file(file)
    return found


def _baselines(shared_task: SharedTask, files: Mapping[_Place, str], at: datetime) -> list[str]:
    """Rows of the boards that are nobody's run: new ones wait for the worker, changed ones are made anew."""
    wanted = {_identity(run): run for run in _baseline_runs(shared_task, files, at)}
    rows = Run.objects.filter(track__shared_task=shared_task).exclude(kind=Run.Kind.TEAM)
    there = {_identity(run): run for run in rows}
    gone = [run for identity, run in there.items() if identity not in wanted]
    new = [run for identity, run in wanted.items() if identity not in there]
    rows.filter(pk__in=[run.pk for run in gone]).delete()
    Run.objects.bulk_create(new)
    removed, added = Counter(run.name for run in gone), Counter(run.name for run in new)
    return [f"baseline {name}: {count} rows removed" for name, count in removed.items()] + [
        f"baseline {name}: {count} rows new" for name, count in added.items()
    ]


def _identity(run: Run) -> tuple[Any, ...]:
    return run.track_id, run.phase_id, run.name, run.file_sha256


def _baseline_runs(shared_task: SharedTask, files: Mapping[_Place, str], at: datetime) -> Iterable[Run]:
    """One run a baseline, phase and track."""
    tracks = {track.slug: track for track in shared_task.tracks.all()}
    for phase, ((split, track, name), sha256) in product(shared_task.phases.all(), files.items()):
        if phase.split == split:
            yield Run(
                kind=Run.Kind.BASELINE if sha256 else Run.Kind.GOLD,
                track=tracks[track],
                phase=phase,
                name=name,
                file_sha256=sha256,
                sha256=sha256,
                received_at=at,
            )
