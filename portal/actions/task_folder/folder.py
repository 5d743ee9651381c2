"""The public files of a task's folder. Their digests are computed before they are stored."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from itertools import product
from pathlib import Path
from typing import Self

from portal.actions.task_folder.import_baselines import BaselineKey
from portal.models.task import StoredDataset, definition_name
from portal.storage import (
    Pieces,
    content_sha256,
    file_sha256,
    folder_sha256,
    pieces_of,
    store_content,
    store_definition,
    stored_name,
)
from scoring import Definition
from scoring.definition.files import Files, each_file
from scoring.score import named_bytes
from scoring.task_folder.secret_files import public_files


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """A task's folder without gold, and its datasets and baselines, which are stored separately."""

    sha256: str  # hash of all public files in the folder, including datasets
    datasets: dict[str, StoredDataset]  # by slug; missing files are left out
    baselines: dict[BaselineKey, str]  # SHA-256s; empty for the gold itself
    _folder: dict[str, Path]  # files by name; of the datasets, only those that tracks use
    _bodies: dict[str, Pieces]  # datasets and baselines by SHA-256

    @classmethod
    def of(cls, definition: Definition) -> Self:
        """Find and hash the files. Nothing is stored."""
        bodies: dict[str, Pieces] = {}

        def found(pieces: Pieces) -> str:
            sha256 = content_sha256(pieces)
            bodies[sha256] = pieces
            return sha256

        datasets = {
            dataset.slug: StoredDataset(found(partial(pieces_of, dataset.file)), dataset.file.stat().st_size)
            for dataset in definition.datasets
            if dataset.file.is_file()
        }
        baselines = {key: "" if body is None else found(body) for key, body in _baselines(definition)}
        files = {path.relative_to(definition.folder).as_posix(): path for path in public_files(definition)}
        sha256 = folder_sha256({name: file_sha256(path) for name, path in files.items()})
        apart = {dataset.file for dataset in definition.datasets} - definition.files_of_rules
        kept = {name: path for name, path in files.items() if path.resolve() not in apart}
        return cls(sha256, datasets, baselines, kept, bodies)

    def names(self) -> list[str]:
        """Return the names under which `store` stores the files."""
        return [definition_name(self.sha256), *map(stored_name, self._bodies)]

    def store(self, at: datetime) -> None:
        for sha256, pieces in self._bodies.items():
            store_content(sha256, pieces, at)
        store_definition(self.sha256, self._folder, at)


def _baselines(definition: Definition) -> Iterator[tuple[BaselineKey, Pieces | None]]:
    """Yield the key and content of each baseline's run.

    The content is None if the baseline is the gold standard itself.
    """
    used = [(split, track) for track in definition.tracks for split in definition.splits_of(track)]
    for baseline, (split, track) in product(definition.baselines, used):
        if not baseline.is_for(track.slug):
            continue
        file, key = baseline.file(definition.folder, split, track.slug), (split, track.slug, baseline.name)
        files = track.files_in(split)
        if file is None:
            yield key, None
        elif all(
            path.resolve().is_relative_to(definition.folder) and path.exists() for _, path in each_file(files, file)
        ):
            several = files is not None and files.field in str(file)
            yield key, partial(_named, files, file) if several else partial(pieces_of, file)


def _named(files: Files | None, file: Path) -> list[bytes]:
    return [named_bytes(files, file)]
