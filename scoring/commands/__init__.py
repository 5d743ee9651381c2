"""The commands, one per module, and the helpers that they share."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from scoring.definition import Definition
from scoring.reports.printing import spelled_out
from scoring.reports.problems import Report
from scoring.uploads import naming
from scoring.uploads.folders import zipped
from scoring.uploads.inspection import inspect_upload
from scoring.uploads.patterns import Pattern

VALID, INVALID, USAGE = 0, 1, 2


class UsageError(Exception):
    """The arguments are invalid. The message says why, and the report, if there is one, lists the errors."""

    def __init__(self, message: str, report: Report | None = None) -> None:
        super().__init__(message)
        self.report = report


def print_json(content: dict[str, Any]) -> None:
    """Print an object as one line of JSON, escaping characters that control a terminal."""
    print(spelled_out(json.dumps(content, ensure_ascii=False)))


def by_name(paths: Sequence[Path]) -> dict[str, Path]:
    """Map names to files. If several files share a name, each is listed under its whole path."""
    names = Counter(path.name for path in paths)
    return {path.name if names[path.name] == 1 else str(path): path for path in paths}


def track_of_run(definition: Definition, run: Path) -> str:
    """Return the track that the run's file name contains, or the only track."""
    if len(definition.named_tracks) == 1:
        return definition.named_tracks[0].slug
    named = naming.read(definition, naming.name_of(definition, run), None)
    if named is not None and named.track is not None:
        return named.track
    with as_uploaded(definition, run) as file:
        upload = inspect_upload(definition, file, file.name, None)
    tracks = {recognized.track for recognized in upload.runs if upload.is_archive and upload.report.ok}
    if len(tracks) != 1:
        slugs = ", ".join(track.slug for track in definition.tracks)
        raise UsageError(f"The file name {run.name} does not contain a track. Add --track with one of {slugs}.")
    return tracks.pop()


@contextmanager
def as_uploaded(definition: Definition, path: Path) -> Iterator[Path]:
    """Yield the file itself or, for a folder, a temporary zip of its files."""
    if not path.is_dir():
        yield path
        return
    with zipped(path, Pattern(definition.naming.run).depth) as archive:
        yield archive


def gold_in_folder(definition: Definition, track: str, split: str) -> Path:
    """Return the path of the gold standard that task.yaml declares, if its files are in the folder."""
    for gold in definition.gold:
        is_meant = (gold.track, gold.split) == (track, split)
        if is_meant and all(path.is_file() for path in definition.paths_of_gold(gold)):
            return gold.file
    raise UsageError(
        f"The task folder does not contain the gold standard of the track {track}, split {split}. Add --gold FILE."
    )


def read_text(path: Path) -> str:
    """Return the text in a UTF-8 file, with or without a byte-order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8.") from None
