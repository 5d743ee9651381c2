"""What a team needs before it submits: valid file names, and what a received file contains."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from portal.models import Phase, Run, SharedTask, Team, Track
from portal.queries.task_folder import home_command
from portal.storage import StoredUpload, stored_file
from scoring.definition.files import Files
from scoring.uploads.inspection import Upload, inspect_upload, read_run
from scoring.uploads.naming import common_name, example, example_archive
from scoring.uploads.zips import BrokenZipError


@dataclass(frozen=True, slots=True)
class ValidName:
    """A valid name of a run file for a track. If runs have several files, there is one for each value of a field."""

    track: Track
    name: str
    files: Files | None


@dataclass(frozen=True, slots=True)
class ValidNames:
    """File names that a team can use. If `archive` is None, every archive name is valid."""

    archive: str | None
    runs: list[ValidName]
    numbers: tuple[int, ...]  # run numbers; empty if file names have none
    commands: list[str]  # for local use: download the rules, check the first run, submit it
    needs_archive: bool  # whether file names contain folders, or runs have several files


def valid_names(shared_task: SharedTask, team: Team | None, phase: Phase | None) -> ValidNames:
    """Return example names, one per track, with the team's name if there is a team and with a free run number.

    The commands are for the phase and its split.
    """
    definition = shared_task.definition
    team_name, split = team.name if team else None, phase.split if phase else "test"
    used = Run.objects.holding_numbers(team, phase).numbers_by_track() if team and phase else set()
    names = [
        (track, example(definition, track.slug, team_name, _free(definition.naming.numbers, track, used)))
        for track in shared_task.tracks.all()
    ]
    runs = [ValidName(track, common_name(definition, name), track.definition.files) for track, name in names if name]
    archive = example_archive(definition, team_name)
    bearer = ["--team", team_name] if team_name else []
    needs_archive = any("/" in one.name or one.files for one in runs)
    first = f"{shared_task.slug}.zip" if needs_archive else next((one.name for one in runs), "FILE")
    file_name = archive or first
    there = ["--phase", phase.slug] if phase and len(definition.phases) > 1 else []
    commands = [
        shlex.join(["agon", "download", shared_task.slug, "-f", "rules"]),
        home_command("check", shared_task, split, *bearer, file_name),
        shlex.join(["agon", "submit", file_name, "-t", shared_task.slug, *there, "--wait"]),
    ]
    return ValidNames(archive, runs, definition.naming.numbers, commands, needs_archive)


def _free(numbers: Sequence[int], track: Track, used: Collection[tuple[str, int | None]]) -> int | None:
    """Return the first free number of the track.

    Returns None, which stands for the very first number, if none is free.
    """
    return next((number for number in numbers if (track.slug, number) not in used), None)


def inspect(shared_task: SharedTask, stored: StoredUpload, team: Team, phase: Phase) -> Upload:
    """Check names and structure of a file that is not stored yet. Nothing is unpacked. Suggested numbers are free."""
    upload = inspect_upload(shared_task.definition, stored.path, stored.name, team.name)
    used = set() if upload.report.ok else Run.objects.holding_numbers(team, phase).numbers_by_track()
    if not used:
        return upload
    return inspect_upload(shared_task.definition, stored.path, stored.name, team.name, used_numbers=used)


def run_body(run: Run) -> bytes:
    """Return the run as it was uploaded, extracted from its archive if it was in one.

    Raises:
        OSError: the stored file is missing or damaged.
    """
    with stored_file(run.file_sha256) as file:
        try:
            return read_run(file, run.entry)
        except BrokenZipError as error:
            raise OSError("the archive cannot be read") from error
