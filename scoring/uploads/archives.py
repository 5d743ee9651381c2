"""Inspect an uploaded zip: find the runs, the files to skip with a warning, and forbidden files.

Only `read_archived` unpacks anything.
"""

import re
import stat
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.clutter import is_clutter
from scoring.reports.problems import Report, Severity
from scoring.uploads.naming import composed, printable
from scoring.zips import (
    DEFLATED,
    STORED,
    BrokenZipError,
    TooManyEntriesError,
    ZipEntry,
    read_entries,
    read_entry,
)

ACCOMPANYING = re.compile(r"(readme|licen[cs]e|copying|notice)(\.[a-z]{2,4})?", re.IGNORECASE)
NESTED = re.compile(r".*\.(zip|7z|rar|tar|gz|tgz|bz2|xz|zst)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ArchivedFile:
    """A file in an archive that should be a run.

    `name` includes the folders that the naming rule requires. `size` is in bytes.
    """

    entry: str
    name: str
    size: int


@dataclass(frozen=True, slots=True)
class Archive:
    """The files that should be runs, the folder that contains all of them (or None), and the problems."""

    files: list[ArchivedFile]
    folder: str | None
    report: Report


def inspect_archive(
    path: Path, listed: int | None = limits.LISTED, folders: int = 0, most_entries: int = limits.ARCHIVE_ENTRIES
) -> Archive:
    """Check the list of entries. If the report has errors, use the files only to find more problems.

    Args:
        folders: the number of folders that are part of a run's name.
    """
    report = Report(listed=listed)
    try:
        with path.open("rb") as file:
            entries = read_entries(file, most_entries)
    except BrokenZipError as error:
        report.error("archive-broken", found=str(error))
        return Archive([], None, report)
    except TooManyEntriesError as error:
        report.error("archive-entries", found=str(error), expected=str(most_entries))
        return Archive([], None, report)
    bare = Counter(_bare_name(entry) for entry in entries)
    for entry in entries:
        _check_entry(entry, bare, report)
    check_sizes(entries, report)
    _check_twice([entry.path for entry in entries], report)
    files = [entry for entry in entries if not entry.is_folder]
    clutter = [entry for entry in files if is_clutter(entry.path)]
    _list("warning", "archive-clutter", clutter, report)
    files = [entry for entry in files if not is_clutter(entry.path)]
    folder = _enclosing_folder(files, folders)
    accompanying = [entry for entry in files if ACCOMPANYING.fullmatch(PurePosixPath(entry.path).name)]
    _list("warning", "archive-accompanying", accompanying, report)
    nested = [entry for entry in files if NESTED.fullmatch(entry.name)]
    _list("error", "archive-nested", nested, report)
    others = {*accompanying, *nested}
    runs = [_archived(entry, folder, folders, bare, report) for entry in files if entry not in others]
    if not runs and report.ok:
        report.error("archive-empty")
    return Archive(runs, folder, report)


def read_archived(path: Path, entry_name: str) -> bytes:
    """Return the content of one entry.

    Raises:
        BrokenZipError: the archive or the entry's data is damaged, or the entry does not exist.
    """
    state = path.stat()
    entry = _readable_entries(path, state.st_ino, state.st_size, state.st_mtime_ns).get(entry_name)
    if entry is None:
        raise BrokenZipError(f"the entry {entry_name} does not exist")
    with path.open("rb") as file:
        return read_entry(file, entry)


@lru_cache(maxsize=2)
def _readable_entries(path: Path, inode: int, size: int, changed: int) -> dict[str, ZipEntry]:
    """Return the entries by name. They are cached because an archive's runs are read one by one."""
    with path.open("rb") as file:
        entries = read_entries(file, limits.ARCHIVE_ENTRIES_MOST)
    # if several entries have the same name, the first one is used
    return {
        entry.name: entry
        for entry in reversed(entries)
        if entry.method in (STORED, DEFLATED) and entry.size <= limits.RUN_BYTES
    }


def _points_out(entry: ZipEntry) -> bool:
    return ".." in entry.path.split("/") or entry.path.startswith("/") or re.match("[A-Za-z]:", entry.path) is not None


def _bare_name(entry: ZipEntry) -> str:
    """Return the name without any folders, drive or host."""
    return re.split("[/:]", entry.path)[-1]


def _check_entry(entry: ZipEntry, bare: Mapping[str, int], report: Report) -> None:
    """Report an entry that points outside the archive, is not a regular file or folder, or cannot be read."""
    name = printable(entry.name)
    if _points_out(entry):
        report.error("archive-path", file=name, found=name, suggestion=_suggested(entry, bare))
    check_kind(entry, report)
    if entry.method == STORED and entry.packed != entry.size and not entry.is_encrypted:
        report.error("archive-broken", file=name, found=f"the size of {name} differs from its declared size")


def check_kind(entry: ZipEntry, report: Report) -> None:
    """Report an entry that is not a regular file or folder, is encrypted, or uses an unsupported method."""
    name, kind = printable(entry.name), stat.S_IFMT(entry.mode)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR) or (entry.is_folder and (entry.size or kind == stat.S_IFREG)):
        report.error("archive-special", file=name, found=name)
    if entry.is_encrypted:
        report.error("archive-encrypted", file=name, found=name)
    elif entry.method not in (STORED, DEFLATED):
        report.error("archive-method", file=name, found=name)


def check_sizes(
    entries: Sequence[ZipEntry], report: Report, most_bytes: Callable[[ZipEntry], int] = lambda _: limits.RUN_BYTES
) -> None:
    """Report entries that are too large or packed too tightly, and archives that unpack to too many bytes."""
    for entry in entries:
        name, most = printable(entry.name), most_bytes(entry)
        if entry.size > most:
            report.error("archive-too-large", file=name, found=f"{entry.size:,} bytes", expected=f"{most:,} bytes")
        elif entry.size > limits.RATIO_FREE_BYTES and entry.size > limits.ARCHIVE_RATIO * entry.packed:
            found, expected = f"{entry.size // max(entry.packed, 1)} : 1", f"{limits.ARCHIVE_RATIO} : 1"
            report.error("archive-ratio", file=name, found=found, expected=expected)
    total = sum(entry.size for entry in entries)
    if total > limits.ARCHIVE_BYTES:
        report.error("archive-too-large", found=f"{total:,} bytes", expected=f"{limits.ARCHIVE_BYTES:,} bytes")


def _check_twice(names: Iterable[str], report: Report) -> None:
    """Report names that collide on some file systems because they differ only in case or Unicode composition."""
    same: defaultdict[str, list[str]] = defaultdict(list)
    for name in names:
        same[composed(name).casefold()].append(name)
    for group in same.values():
        if len(group) > 1:
            places = tuple(printable(name) for name in group[: report.listed])
            report.error("archive-name-twice", file=places[0], places=places, count=len(group))


def _enclosing_folder(files: Sequence[ZipEntry], folders: int) -> str | None:
    """Return the single folder that contains all files and is not part of the runs' names, or None."""
    outer = {entry.path.split("/", 1)[0] if "/" in entry.path else "" for entry in files}
    is_deeper = any(entry.path.count("/") > folders for entry in files)
    return outer.pop() or None if len(outer) == 1 and is_deeper else None


def _suggested(entry: ZipEntry, bare: Mapping[str, int]) -> str | None:
    """Return the name without folders, or None if two files would then have the same name."""
    name = _bare_name(entry)
    return printable(name) if bare[name] == 1 else None


def _archived(
    entry: ZipEntry, folder: str | None, folders: int, bare: Mapping[str, int], report: Report
) -> ArchivedFile:
    inner = entry.path.removeprefix(f"{folder}/") if folder else entry.path
    # Paths that point outside the archive have already been reported.
    if inner.count("/") > folders and not _points_out(entry):
        name = printable(entry.name)
        report.error("archive-subfolder", file=name, found=name, suggestion=_suggested(entry, bare))
    return ArchivedFile(entry.name, "/".join(inner.split("/")[-1 - folders :]), entry.size)


def _list(severity: Severity, code: str, entries: Sequence[ZipEntry], report: Report) -> None:
    """Report these entries together as one problem."""
    if entries:
        places = tuple(printable(entry.name) for entry in entries[: report.listed])
        report.add(severity, code, places=places, count=len(entries))
