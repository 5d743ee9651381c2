"""Runs and gold standards with several files, packed into a zip with an uncompressed entry for each file.

The same files always produce the same bytes, and therefore the same SHA-256.
"""

import io
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.answers import Answers, joined
from scoring.definition.files import Files
from scoring.reports.problems import Report
from scoring.uploads.zips import (
    DEFLATED,
    STORED,
    BrokenZipError,
    TooManyEntriesError,
    ZipEntry,
    read_entries,
    read_entry,
)

_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE = 0o100644 << 16  # a regular file that everyone can read
_UNWANTED = re.compile(r"(.*/)?(__MACOSX(/.*)?|\.[^/]*|Thumbs\.db|desktop\.ini)|.*/", re.IGNORECASE)


def packed_name(prefix: str, path: PurePosixPath | Path) -> str:
    """Return the name of a packed file, which is made from the prefix of its ids."""
    return f"{prefix.rstrip('/')}{path.suffix}"


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Pack files, given by name, into one."""
    zipfile = import_module("zipfile")  # not needed for starting the engine
    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.create_system = _FILE, 3
            archive.writestr(entry, contents[name])
    return body.getvalue()


def packed_folder(folder: Path) -> bytes:
    """Pack the files in a folder and its subfolders into one.

    Raises:
        OSError: a file cannot be read.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return packed({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def value_of(files: Files, name: str) -> str | None:
    """Return the value of the file with this path.

    It is the name without its extension or, failing that, the longest value that occurs as a word in the path.
    """
    stem = PurePosixPath(name).stem
    if stem in files.of:
        return stem
    found = [value for value in files.of if re.search(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", name)]
    return max(found, key=len) if found else None


def unpacked(data: bytes, files: Files, report: Report) -> dict[str, tuple[str, bytes]]:
    """Return the name and content of each file by value, and report problems."""
    try:
        entries = _entries(data, report)
        found: dict[str, tuple[str, bytes]] = {}
        for entry in entries:
            value = value_of(files, entry.name)
            if value is None:
                report.error("files-unknown", file=entry.name, found=entry.name, expected=", ".join(files.of))
            elif value in found:
                report.error("files-twice", file=entry.name, found=found[value][0], expected=value)
            else:
                found[value] = entry.name, read_entry(io.BytesIO(data), entry)
    except (BrokenZipError, TooManyEntriesError) as error:
        report.error("files-no-zip", found=str(error), expected=", ".join(files.of))
        return {}
    return {value: found[value] for value in files.of if value in found}


def _entries(data: bytes, report: Report) -> list[ZipEntry]:
    """Return the entries that are files, if they may be unpacked."""
    found = read_entries(io.BytesIO(data), limits.ARCHIVE_ENTRIES)
    entries = [entry for entry in found if not _UNWANTED.fullmatch(entry.name)]
    if any(entry.is_encrypted or entry.method not in (STORED, DEFLATED) for entry in entries):
        raise BrokenZipError("it is encrypted, or uses an unsupported compression method")
    total = sum(entry.size for entry in entries)
    if total > limits.ARCHIVE_BYTES:
        report.error("archive-too-large", found=f"{total:,} bytes", expected=f"{limits.ARCHIVE_BYTES:,} bytes")
        return []
    return entries


def read_several(
    data: bytes,
    files: Files,
    report: Report,
    read: Callable[[str, bytes, Report], Answers | None],
    *,
    needs_all: bool,
) -> Answers | None:
    """Read all files and join their answers with the track's ids.

    Args:
        read: reads the file for a value.
        needs_all: whether a missing file is an error.

    Returns:
        The answers, or None if an error was reported.
    """
    errors = len(report.errors)
    contents = unpacked(data, files, report)
    missing = [value for value in files.of if value not in contents]
    if missing and len(report.errors) == errors:
        tell = report.error if needs_all or not contents else report.warning
        tell("files-missing", expected=files.name, places=tuple(missing), count=len(missing))
    answers = {}
    for value, (name, content) in contents.items():
        own = Report(listed=report.listed)
        found = read(value, content, own)
        report.extend(own, file=name)
        if found is not None:
            answers[value] = found
    return joined(answers) if answers and len(report.errors) == errors else None
