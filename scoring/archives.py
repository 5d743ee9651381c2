"""What an uploaded zip holds: its runs, what is passed over with a warning, and what no archive may hold.

Nothing is unpacked here; the rules are those of acceptance cases A18 to A25.
"""

import re
import stat
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.naming import printable
from scoring.problems import Report
from scoring.zips import DEFLATED, STORED, BrokenZipError, TooManyEntriesError, ZipEntry, read_entries, read_entry

CLUTTER = re.compile(r"(.*/)?(__MACOSX(/.*)?|\.DS_Store|\._[^/]*|Thumbs\.db|desktop\.ini)", re.IGNORECASE)
ACCOMPANYING = re.compile(r"(readme|licen[cs]e|copying|notice)(\.[a-z]{2,4})?", re.IGNORECASE)
NESTED = re.compile(r".*\.(zip|7z|rar|tar|gz|tgz|bz2|xz|zst)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file of an archive that should be a run: its entry's name, its name without folder, its size in bytes."""

    entry: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The files that should be runs, the folder that encloses them all (None: none), and the problems."""

    files: list[ArchivedFile]
    folder: str | None
    report: Report


def inspect_archive(path: Path, listed: int | None = limits.LISTED) -> Archive:
    """Read the list of entries and judge them; when the report has errors the files are only good for more reports."""
    report = Report(listed=listed)
    try:
        with path.open("rb") as file:
            entries = read_entries(file, limits.ARCHIVE_ENTRIES)
    except BrokenZipError as error:
        report.error("archive-broken", found=str(error))
        return Archive([], None, report)
    except TooManyEntriesError as error:
        report.error("archive-entries", found=str(error), expected=str(limits.ARCHIVE_ENTRIES))
        return Archive([], None, report)
    for entry in entries:
        _check_entry(entry, report)
    _check_sizes(entries, report)
    _check_twice([entry.name for entry in entries], report)
    files = [entry for entry in entries if not _is_folder(entry)]
    clutter = [entry.name for entry in files if CLUTTER.fullmatch(entry.name)]
    _warn("archive-clutter", clutter, report)
    files = [entry for entry in files if entry.name not in clutter]
    folder = _enclosing_folder(files)
    accompanying = [entry for entry in files if ACCOMPANYING.fullmatch(PurePosixPath(entry.name).name)]
    _warn("archive-accompanying", [entry.name for entry in accompanying], report)
    runs = [_archived(entry, folder, report) for entry in files if entry not in accompanying]
    if not runs and report.ok:
        report.error("archive-empty")
    return Archive(runs, folder, report)


def read_archived(path: Path, entry_name: str) -> bytes:
    """The content of one entry.

    Raises:
        BrokenZipError: when the archive or the entry's data are damaged, or there is no such entry.
    """
    with path.open("rb") as file:
        for entry in read_entries(file, limits.ARCHIVE_ENTRIES):
            if entry.name == entry_name and entry.method in (STORED, DEFLATED) and entry.size <= limits.RUN_BYTES:
                return read_entry(file, entry)
    raise BrokenZipError(f"there is no entry {entry_name}")


def _is_folder(entry: ZipEntry) -> bool:
    return entry.name.endswith("/")


def _check_entry(entry: ZipEntry, report: Report) -> None:
    """Refuse what could be written or read outside the archive, and what cannot be read at all."""
    name = printable(entry.name)
    kind = stat.S_IFMT(entry.mode)
    parts = entry.name.split("/")
    if ".." in parts or entry.name.startswith("/") or "\\" in entry.name or re.match("[A-Za-z]:", entry.name):
        report.error("archive-path", file=name, found=name, suggestion=printable(re.split(r"[/\\:]", entry.name)[-1]))
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (_is_folder(entry) and (entry.size or kind == stat.S_IFREG)):
        report.error("archive-special", file=name, found=name)
    if entry.is_encrypted:
        report.error("archive-encrypted", file=name, found=name)
    elif entry.method not in (STORED, DEFLATED):
        report.error("archive-method", file=name, found=name)
    elif entry.method == STORED and entry.packed != entry.size:
        report.error("archive-broken", file=name, found=f"the stated size of {name} is not its size")
    if NESTED.fullmatch(entry.name) and not CLUTTER.fullmatch(entry.name):
        report.error("archive-nested", file=name, found=name)


def _check_sizes(entries: Sequence[ZipEntry], report: Report) -> None:
    for entry in entries:
        name = printable(entry.name)
        if entry.size > limits.RUN_BYTES:
            found, expected = f"{entry.size:,} bytes", f"{limits.RUN_BYTES:,} bytes"
            report.error("archive-too-large", file=name, found=found, expected=expected)
        elif entry.size > limits.RATIO_FREE_BYTES and entry.size > limits.ARCHIVE_RATIO * entry.packed:
            found, expected = f"{entry.size // max(entry.packed, 1)} : 1", f"{limits.ARCHIVE_RATIO} : 1"
            report.error("archive-ratio", file=name, found=found, expected=expected)
    total = sum(entry.size for entry in entries)
    if total > limits.ARCHIVE_BYTES:
        report.error("archive-too-large", found=f"{total:,} bytes", expected=f"{limits.ARCHIVE_BYTES:,} bytes")


def _check_twice(names: Iterable[str], report: Report) -> None:
    """Names that are one and the same on some file systems, case and composition of accents aside."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        same[unicodedata.normalize("NFC", name).casefold()].append(name)
    for group in same.values():
        if len(group) > 1:
            places = tuple(printable(name) for name in group)
            report.error("archive-name-twice", file=places[0], places=places, count=len(places))


def _enclosing_folder(files: Sequence[ZipEntry]) -> str | None:
    """The one folder that holds all files."""
    folders = {entry.name.split("/", 1)[0] if "/" in entry.name else "" for entry in files}
    return folders.pop() or None if len(folders) == 1 else None


def _archived(entry: ZipEntry, folder: str | None, report: Report) -> ArchivedFile:
    inner = entry.name.removeprefix(f"{folder}/") if folder else entry.name
    if "/" in inner:
        name = printable(entry.name)
        report.error("archive-subfolder", file=name, found=name, suggestion=printable(inner.rsplit("/", 1)[-1]))
    return ArchivedFile(entry.name, inner.rsplit("/", 1)[-1], entry.size)


def _warn(code: str, names: Sequence[str], report: Report) -> None:
    if names:
        places = tuple(printable(name) for name in names[: report.listed])
        report.warning(code, places=places, count=len(names))
