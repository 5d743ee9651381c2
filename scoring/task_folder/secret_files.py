"""Files in a task's folder that are never published: gold, votes, hidden files, and the folders `gold` and `scorer`."""

import hashlib
import io
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import BinaryIO

from scoring import limits
from scoring.definition.data import Dataset
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.definition.spec import Definition
from scoring.reports.problems import Problem
from scoring.zips import BrokenZipError, TooManyEntriesError, read_entries

_PIECE = 1024**2  # bytes
_MARK = b"\xef\xbb\xbf"
_LINE_ENDS = b"\r\n"
_ZIP = b"PK\x03\x04"
_MORE = 1024  # bytes by which a copy with other line ends may be longer than twice its text
_COPY = "the content is the same as the {}, which is secret. Remove this file."
_PACKED_COPY = "the archive contains the {}, which is secret. Remove it from the archive."


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The size of a file in bytes, and its SHA-256. Files in which both are equal have the same content.

    `text` is the same for the content without byte-order mark and line ends, and `crc` the checksum that zips contain.
    Both are None if the file is not there.
    """

    size: int
    sha256: str
    text: tuple[int, str] | None = None
    crc: int | None = None

    @classmethod
    def of(cls, content: bytes) -> "Fingerprint":
        return cls._read(io.BytesIO(content))

    @classmethod
    def of_file(cls, path: Path) -> "Fingerprint":
        with path.open("rb") as file:
            return cls._read(file)

    @classmethod
    def _read(cls, file: BinaryIO) -> "Fingerprint":
        whole, text, crc, size, text_size = hashlib.sha256(), hashlib.sha256(), 0, 0, 0
        while piece := file.read(_PIECE):
            bare = (piece if size else piece.removeprefix(_MARK)).translate(None, _LINE_ENDS)
            whole.update(piece)
            text.update(bare)
            crc = zlib.crc32(piece, crc)
            size, text_size = size + len(piece), text_size + len(bare)
        return cls(size, whole.hexdigest(), (text_size, text.hexdigest()), crc)


def is_left_out(name: str) -> bool:
    """Return whether a path in the folder is of a hidden file, a cache, or a file in the folder `gold` or `scorer`."""
    parts = name.split("/")
    return parts[0] in ("gold", SCORER_FOLDER) or any(part.startswith((".", "__")) for part in parts)


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
    """Yield an error for each public file with the same content as a secret file, and each zip that contains one.

    Copies with other line ends or a byte-order mark are copies, too. Empty files are not. Datasets may contain gold if
    they are released after all phases in which it ranks runs. In zips, they may always contain it: tasks publish the
    gold of their practice phase together with the official evaluator.

    Args:
        stored: public files that are not in the folder.
    """
    known = _Secrets(
        {
            fingerprint: secret
            for fingerprint, secret in secrets.items()
            if fingerprint.text is None or fingerprint.text[0]
        }
    )
    datasets = {dataset.file for dataset in definition.datasets}
    copies: dict[Path, tuple[Secret, str]] = {}
    for path in public_files(definition):
        if secret := known.copied_in(path):
            copies[path] = secret, _COPY
        elif path not in datasets and (secret := known.packed_in(path)):
            copies[path] = secret, _PACKED_COPY
    for path, fingerprint in stored.items():
        if secret := known.find(fingerprint):
            copies[path] = secret, _COPY
    for path, (secret, message) in sorted(copies.items(), key=lambda found: found[0]):
        if not _is_released_later(definition, path, secret.split):
            name = path.relative_to(definition.folder).as_posix()
            yield Problem("error", "folder-secret", f"{name}: {message.format(secret.use)}", file=name)


class _Secrets:
    """Secret files by what their copies have in common with them."""

    def __init__(self, secrets: Mapping[Fingerprint, Secret]) -> None:
        self._whole = {(fingerprint.size, fingerprint.sha256): secret for fingerprint, secret in secrets.items()}
        self._texts = {
            fingerprint.text: secret for fingerprint, secret in secrets.items() if fingerprint.text is not None
        }
        self._packed = {(fingerprint.size, fingerprint.crc): secret for fingerprint, secret in secrets.items()}

    def find(self, fingerprint: Fingerprint) -> Secret | None:
        """Return the secret file with this content, if any."""
        secret = self._whole.get((fingerprint.size, fingerprint.sha256))
        return secret or (self._texts.get(fingerprint.text) if fingerprint.text else None)

    def copied_in(self, path: Path) -> Secret | None:
        """Return the secret file that a file is a copy of, if any."""
        size = path.stat().st_size
        is_similar = any(text[0] <= size <= 2 * text[0] + _MORE for text in self._texts)
        return self.find(Fingerprint.of_file(path)) if is_similar else None

    def packed_in(self, path: Path) -> Secret | None:
        """Return the secret file that a file contains if it is a zip. Nothing is unpacked."""
        with path.open("rb") as file:
            if file.read(len(_ZIP)) != _ZIP:
                return None
            try:
                entries = read_entries(file, limits.DOCUMENTS)
            except (BrokenZipError, TooManyEntriesError):
                return None
        found = (self._packed.get((entry.size, entry.crc)) for entry in entries)
        return next(filter(None, found), None)


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
