"""What is needed before a submission: valid file names, and the runs in a received file."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.utils.functional import SimpleLazyObject

from portal.models import Phase, Run, SharedTask, Submission, Team, Track
from portal.queries.task_folder import home_command
from portal.storage import StoredUpload, stored_file
from scoring.definition.files import Files
from scoring.uploads.inspection import Upload, inspect_upload, read_run
from scoring.uploads.naming import common_name, example, example_archive
from scoring.zips import BrokenZipError


@dataclass(frozen=True, slots=True)
class ValidName:
    """A valid name of a run file for a track.

    If runs have several files, `name` contains a field, and each of its values gives the name of one file.
    """

    track: Track
    name: str
    files: Files | None

    @property
    def values_by_phase(self) -> list[tuple[str, tuple[str, ...]]]:
        """The titles of the track's phases, each with the field's values, if phases have different files."""
        if self.files is None or not self.files.by_split:
            return []
        rules = self.track.definition
        phases = [phase for phase in self.track.shared_task.definition.phases if phase.accepts(rules)]
        return [(phase.title, self.files.in_split(phase.split).spelled_values) for phase in phases]


@dataclass(frozen=True, slots=True)
class ValidNames:
    """File names that a team can use. If `archive` is None, any archive name is valid."""

    archive: str | None
    runs: list[ValidName]
    numbers: tuple[int, ...]  # run numbers; empty if file names contain no numbers
    commands: list[str]  # commands for the team's computer: download the rules, check the file, submit it
    needs_archive: bool  # whether file names contain folders, or runs have several files


def valid_names(shared_task: SharedTask, team: Team | None, phase: Phase | None) -> ValidNames:
    """Return an example name for each track of the phase, with a free run number and, if there is a team, its name.

    The commands are for this phase and its split. Without a phase, there is a name for each track of the task.
    """
    team_name, split = team.name if team else None, phase.split if phase else "test"
    rules = shared_task.definition
    definition = rules.in_phase(phase.slug) if phase else rules.with_files_of(split)
    used = Run.objects.holding_numbers(team, phase).numbers_by_track() if team and phase else set()
    names = [
        (track, example(definition, track.slug, team_name, _free(definition.naming.numbers, track, used)))
        for track in (phase.tracks() if phase else shared_task.tracks.all())
    ]
    runs = []
    for track, name in names:
        if name:
            own = definition.track(track.slug)
            # Otherwise, the name would be compared with all other tracks, which takes long if there are many.
            runs.append(ValidName(track, common_name(replace(definition, tracks=(own,)), name), own.files))
    archive = example_archive(definition, team_name)
    bearer = ["--team", team_name] if team_name else []
    needs_archive = any("/" in run.name or run.files for run in runs)
    first = f"{shared_task.slug}.zip" if needs_archive else next((run.name for run in runs), "FILE")
    file_name = archive or first
    there = ["--phase", phase.slug] if phase and len(definition.phases) > 1 else []
    commands = [
        shlex.join(["agon", "download", shared_task.slug, "-f", "rules"]),
        home_command("check", shared_task, split, *bearer, file_name),
        shlex.join(["agon", "submit", file_name, "-t", shared_task.slug, *there, "--wait"]),
    ]
    return ValidNames(archive, runs, definition.naming.numbers, commands, needs_archive)


def upload_to_replace(team: Team, phase: Phase) -> Submission | None:
    """Return the team's upload that a new one would replace. None if there is none or the phase keeps all uploads."""
    if phase.max_submissions is None:
        return None
    return Submission.objects.counting(team, phase).order_by("received_at", "pk").last()


def _free(numbers: Sequence[int], track: Track, used: Collection[tuple[str, int | None]]) -> int | None:
    """Return the track's first free number, or None if all are used. `example` then falls back to the first number."""
    return next((number for number in numbers if (track.slug, number) not in used), None)


def inspect(shared_task: SharedTask, stored: StoredUpload, team: Team, phase: Phase) -> Upload:
    """Check the names and structure of a file that has not been stored yet, without unpacking it.

    If a name is invalid, the suggested name uses a run number that is still free, if there is one.
    """
    definition = shared_task.definition.in_phase(phase.slug)
    used: Any = SimpleLazyObject(Run.objects.holding_numbers(team, phase).numbers_by_track)
    return inspect_upload(definition, stored.path, stored.name, team.name, used_numbers=used)


def run_body(run: Run) -> bytes:
    """Return the run as it was uploaded. If it is in an archive, extract it.

    Raises:
        OSError: the stored file is missing or damaged.
    """
    with stored_file(run.file_sha256) as file:
        try:
            return read_run(file, run.entry)
        except BrokenZipError as error:
            raise OSError("the archive cannot be read") from error
