"""The shared task's folder for checking at home: what validation needs and nothing else, and commands that use it."""

import io
import shlex
import zipfile
from pathlib import Path

from portal.models import SharedTask, Track

_EPOCH = (1980, 1, 1, 0, 0, 0)  # the zip is the same whenever it is made
_FILE = 0o100644 << 16  # a plain file that everybody may read


def folder_zip(shared_task: SharedTask) -> bytes:
    """A zip with one folder, named as the task: the rules, the pages and the public ids of every split."""
    folder = shared_task.definition.folder
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as packed:
        for path in _files(shared_task):
            entry = zipfile.ZipInfo(f"{shared_task.slug}/{path.relative_to(folder).as_posix()}", _EPOCH)
            entry.external_attr, entry.create_system = _FILE, 3
            packed.writestr(entry, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return body.getvalue()


def _files(shared_task: SharedTask) -> list[Path]:
    """By name; what is gold or a dataset stays out, whatever else the definition says of it."""
    definition = shared_task.definition
    wanted = {definition.folder / "task.yaml", *definition.pages.values()}
    for track in definition.tracks:
        wanted.update(track.items.values(), track.optional_items.values())
    withheld = {gold.file for gold in definition.gold} | {dataset.file for dataset in definition.datasets}
    return sorted(path for path in wanted - withheld if path.is_file())


def home_command(verb: str, shared_task: SharedTask, split: str, *words: str) -> str:
    """To be typed where the folder was unzipped."""
    chosen = [] if split == "test" else ["--split", split]  # as the command line's default
    return shlex.join(["agon", verb, "--task", shared_task.slug, *chosen, *words])


def items_option(track: Track, split: str) -> list[str]:
    """The public ids, for scoring: by default that takes the gold's, which may lack some."""
    path = track.definition.items.get(split)
    if path is None:
        return []
    return ["--items", f"{track.shared_task.slug}/{path.relative_to(track.shared_task.definition.folder).as_posix()}"]
