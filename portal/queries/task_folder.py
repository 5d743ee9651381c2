"""A shared task's folder for local checks: the files needed for validation, and commands that use them."""

import io
import shlex
import zipfile
from pathlib import Path

from portal.models import SharedTask, Track
from scoring.definition.files import each_file
from scoring.task_folder.reader import DOWNLOADED

_EPOCH = (1980, 1, 1, 0, 0, 0)  # a fixed date, so that the same files always give the same zip
_NOTE = "The portal has accepted this folder, so agon applies no rules to task.yaml that were added later.\n"
_FILE = 0o100644 << 16  # a regular file that everyone can read


def folder_zip(shared_task: SharedTask) -> bytes:
    """Return a zip with one folder, named after the task: the rules, pages and public ids of every split."""
    folder = shared_task.definition.folder
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as packed:
        found = {path.relative_to(folder).as_posix(): path.read_bytes() for path in _files(shared_task)}
        for name, content in ({DOWNLOADED: _NOTE.encode()} | found).items():
            entry = zipfile.ZipInfo(f"{shared_task.slug}/{name}", _EPOCH)
            entry.external_attr, entry.create_system = _FILE, 3
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return body.getvalue()


def _files(shared_task: SharedTask) -> list[Path]:
    """Return the files, sorted by path. Gold and datasets are never included, whatever the definition contains."""
    definition = shared_task.definition
    wanted = {definition.folder / "task.yaml", *definition.pages.values()}
    for track in definition.tracks:
        for split, given in (*track.items.items(), *track.optional_items.items()):
            wanted.update(path for _, path in each_file(track.files_in(split), given))
    withheld = {path for gold in definition.gold for path in definition.paths_of_gold(gold)}
    withheld |= {dataset.file for dataset in definition.datasets}
    return sorted(path for path in wanted - withheld if path.is_file())


def home_command(verb: str, shared_task: SharedTask, split: str, *words: str) -> str:
    """Return a command to run in the folder where the zip was unpacked."""
    chosen = [] if split == "test" else ["--split", split]  # "test" is the command line's default
    return shlex.join(["agon", verb, "--task", shared_task.slug, *chosen, *words])


def items_option(track: Track, split: str) -> list[str]:
    """Return the option that gives the public ids for scoring.

    If it is omitted, the ids in the gold are used, which may be incomplete.
    """
    path = track.definition.items.get(split)
    if path is None:
        return []
    return ["--items", f"{track.shared_task.slug}/{path.relative_to(track.shared_task.definition.folder).as_posix()}"]
