"""Files in a task's folder that are never published: gold, votes, hidden files, and everything in the folder `gold`."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType

from scoring.definition.data import Dataset
from scoring.definition.spec import Definition
from scoring.reports.problems import Problem

_PIECE = 1024**2  # bytes


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The size of a file in bytes, and its SHA-256. Files with equal fingerprints have the same content."""

    size: int
    sha256: str

    @classmethod
    def of(cls, content: bytes) -> "Fingerprint":
        return cls(len(content), hashlib.sha256(content).hexdigest())

    @classmethod
    def of_file(cls, path: Path) -> "Fingerprint":
        with path.open("rb") as file:
            return cls(path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest())


def is_left_out(name: str) -> bool:
    """Return whether a path in the folder is of a hidden file, a cache, or a file in the folder `gold`."""
    parts = name.split("/")
    return parts[0] == "gold" or any(part.startswith((".", "__")) for part in parts)


@dataclass(frozen=True, slots=True)
class Secret:
    """What a secret file is used for, as in `gold of the track main, split test`, and its split."""

    use: str
    split: str


def secret_files(definition: Definition) -> dict[Path, Secret]:
    """Return the files with gold or votes."""
    secret: dict[Path, Secret] = {}
    for gold in definition.gold:
        use = Secret(f"gold of the track {gold.track}, split {gold.split}", gold.split)
        secret |= {path: use for path in definition.paths_of_gold(gold) if path not in secret}
    for votes in definition.votes:
        use = Secret(f"votes on the track {votes.track}, split {votes.split}", votes.split)
        secret.setdefault(votes.file, use)
    return secret


def public_files(definition: Definition) -> list[Path]:
    """List the files on disk that are published with the folder or as datasets."""
    secret, folder = secret_files(definition), definition.folder

    def is_public(path: Path) -> bool:
        is_hidden = is_left_out(path.relative_to(folder).as_posix())
        return not is_hidden and path.is_file() and path.resolve() not in secret

    return [path for path in folder.rglob("*") if is_public(path)]


def copies_of_secrets(
    definition: Definition,
    secrets: Mapping[Fingerprint, Secret],
    stored: Mapping[Path, Fingerprint] = MappingProxyType({}),
) -> Iterator[Problem]:
    """Yield an error for each public file with the same content as a secret file. Empty files are no copies.

    Datasets may contain gold if they are released after all phases in which it ranks runs.

    Args:
        stored: public files that are not in the folder.
    """
    sizes = {fingerprint.size for fingerprint in secrets} - {0}
    similar = {path: Fingerprint.of_file(path) for path in public_files(definition) if path.stat().st_size in sizes}
    similar |= {path: fingerprint for path, fingerprint in stored.items() if fingerprint.size in sizes}
    for path, fingerprint in sorted(similar.items(), key=lambda found: found[0]):
        secret = secrets.get(fingerprint)
        if secret is not None and not _is_released_later(definition, path, secret.split):
            name = path.relative_to(definition.folder).as_posix()
            message = f"{name}: the content is the same as the {secret.use}, which is secret. Remove this file."
            yield Problem("error", "folder-secret", message, file=name)


def _is_released_later(definition: Definition, path: Path, split: str) -> bool:
    """Return whether the file is only a dataset that is released once all phases of the split have closed."""
    datasets = [dataset for dataset in definition.datasets if dataset.file == path]
    phases = [phase for phase in definition.phases if phase.split == split]
    closes = [None if phase.round_days else phase.closes for phase in phases]
    is_only_dataset = bool(datasets) and path not in definition.files_of_rules
    return is_only_dataset and all(_is_after(dataset, closes) for dataset in datasets)


def _is_after(dataset: Dataset, closes: list[datetime | None]) -> bool:
    released = dataset.released
    return released is not None and all(end is not None and end <= released for end in closes)
