"""Importing the baselines of a task's folder: their run files and their rows on boards."""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from itertools import product
from typing import Any

from portal.models import Run, SharedTask
from portal.storage import store_content, store_file
from scoring import Definition
from scoring.definition.files import each_file
from scoring.score import named_bytes

BaselineKey = tuple[str, str, str]  # split, track, name


def store_baselines(definition: Definition) -> dict[BaselineKey, str]:
    """Store each baseline's run file and return the SHA-256s.

    Tracks without the split and the gold itself have no file.
    """
    splits = dict.fromkeys(phase.split for phase in definition.phases)
    found = {}
    for baseline, split, track in product(definition.baselines, splits, definition.tracks):
        file = baseline.file(definition.folder, split, track.slug)
        if file is None:
            found[split, track.slug, baseline.name] = ""
        elif all(
            path.resolve().is_relative_to(definition.folder) and path.exists()
            for _, path in each_file(track.files, file)
        ):
            several = track.files is not None and track.files.field in str(file)
            stored = store_content([named_bytes(track.files, file)]) if several else store_file(file)
            found[split, track.slug, baseline.name] = stored
    return found


def import_baselines(shared_task: SharedTask, files: Mapping[BaselineKey, str], at: datetime) -> list[str]:
    """Add and remove baselines and return one sentence for each. Workers score new and changed ones."""
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


def _baseline_runs(shared_task: SharedTask, files: Mapping[BaselineKey, str], at: datetime) -> Iterable[Run]:
    """Yield a run for each baseline, phase and track."""
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
