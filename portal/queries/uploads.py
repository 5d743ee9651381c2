"""Uploads before they are anybody's submission: what names are right, and what a file that just came in holds."""

import shlex
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from portal.models import Phase, Run, SharedTask, Team, Track
from portal.queries.task_folder import home_command
from portal.storage import StoredUpload, stored_file
from scoring.uploads.inspection import Upload, inspect_upload, read_run
from scoring.uploads.naming import example, example_archive


@dataclass(frozen=True, slots=True)
class RightName:
    """A run file's name that is right for a track."""

    track: Track
    name: str


@dataclass(frozen=True, slots=True)
class RightNames:
    """Names that a team may use as they stand; `archive` None: any archive name will do."""

    archive: str | None
    runs: list[RightName]
    numbers: tuple[int, ...]  # of runs; empty where names hold none
    commands: list[str]  # for one's own machine: they download the rules, check the first of them, and submit it


def right_names(shared_task: SharedTask, team: Team | None, phase: Phase | None) -> RightNames:
    """Real examples, one a track, with the team's own name where there is a team and a run number that is free.

    The commands are for the phase and its split.
    """
    definition = shared_task.definition
    team_name, split = team.name if team else None, phase.split if phase else "test"
    used = Run.objects.holding_numbers(team, phase).numbers_by_track() if team and phase else set()
    names = [
        (track, example(definition, track.slug, team_name, _free(definition.naming.numbers, track, used)))
        for track in shared_task.tracks.all()
    ]
    runs = [RightName(track, name) for track, name in names if name]
    archive = example_archive(definition, team_name)
    bearer = ["--team", team_name] if team_name else []
    file_name = archive or (runs[0].name if runs else "FILE")
    there = ["--phase", phase.slug] if phase and len(definition.phases) > 1 else []
    commands = [
        shlex.join(["agon", "download", shared_task.slug, "-f", "rules"]),
        home_command("check", shared_task, split, *bearer, file_name),
        shlex.join(["agon", "submit", file_name, "-t", shared_task.slug, *there, "--wait"]),
    ]
    return RightNames(archive, runs, definition.naming.numbers, commands)


def _free(numbers: Sequence[int], track: Track, used: Collection[tuple[str, int | None]]) -> int | None:
    """The first number that the track has not used; None, for the first of all, where none is left."""
    return next((number for number in numbers if (track.slug, number) not in used), None)


def inspect(shared_task: SharedTask, stored: StoredUpload, team: Team, phase: Phase) -> Upload:
    """Names and structure of a body that is not kept yet; nothing is unpacked, and no used run number suggested."""
    upload = inspect_upload(shared_task.definition, stored.path, stored.name, team.name)
    used = set() if upload.report.ok else Run.objects.holding_numbers(team, phase).numbers_by_track()
    if not used:
        return upload
    return inspect_upload(shared_task.definition, stored.path, stored.name, team.name, taken=used)


def run_body(run: Run) -> bytes:
    """The run as it was sent, out of its archive where it came in one."""
    with stored_file(run.file_sha256) as file:
        return read_run(file, run.entry)
