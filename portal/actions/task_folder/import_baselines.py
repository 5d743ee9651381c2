"""Import the baselines of a task's folder as runs that boards can show."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import product
from typing import Any

from portal.models import Run, SharedTask

BaselineKey = tuple[str, str, str]  # split, track, name


def import_baselines(shared_task: SharedTask, files: Mapping[BaselineKey, str], at: datetime) -> list[str]:
    """Add, update and remove baselines, and return the changes as sentences. Workers score new and changed ones."""
    wanted = {_identity(run): run for run in _baseline_runs(shared_task, files, at)}
    rows = Run.objects.filter(track__shared_task=shared_task).exclude(kind=Run.Kind.TEAM)
    there = {_identity(run): run for run in rows}
    gone = [run for identity, run in there.items() if identity not in wanted]
    new = [run for identity, run in wanted.items() if identity not in there]
    described = [run for identity, run in there.items() if identity in wanted and run.fields != wanted[identity].fields]
    for run in described:
        run.fields = wanted[_identity(run)].fields
    Run.objects.bulk_update(described, ["fields"])
    rows.filter(pk__in=[run.pk for run in gone]).delete()
    Run.objects.bulk_create(new)
    changes = {"removed": gone, "added": new, "described": described}
    return [
        f"baseline {name}: {count} {what}"
        for what, runs in changes.items()
        for name, count in Counter(run.name for run in runs).items()
    ]


def _identity(run: Run) -> tuple[Any, ...]:
    return run.track_id, run.phase_id, run.name, run.file_sha256


def _baseline_runs(shared_task: SharedTask, files: Mapping[BaselineKey, str], at: datetime) -> Iterable[Run]:
    """Yield a run for each baseline, phase and track of the phase."""
    tracks = {track.slug: track for track in shared_task.tracks.all()}
    declared = {one.name: one.fields for one in shared_task.definition.baselines}
    for phase, ((split, track, name), sha256) in product(shared_task.phases.all(), files.items()):
        if phase.split == split and phase.accepts(tracks[track]):
            yield Run(
                kind=Run.Kind.BASELINE if sha256 else Run.Kind.GOLD,
                track=tracks[track],
                phase=phase,
                name=name,
                file_sha256=sha256,
                sha256=sha256,
                state=Run.State.VALID,  # the import has checked the folder
                received_at=at,
                fields={key: text.replace("{track}", track) for key, text in declared.get(name, {}).items()},
            )
