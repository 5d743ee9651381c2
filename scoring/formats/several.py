"""Runs and gold standards that consist of several files, packed into a zip with one uncompressed entry per file.

The same files always produce the same bytes, and therefore the same SHA-256.
"""

import io
import re
from collections.abc import Callable, Mapping
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.answers import Answers, joined
from scoring.clutter import is_clutter
from scoring.definition.files import Files
from scoring.formats.encodings import in_utf8
from scoring.reports.excerpts import add_excerpts
from scoring.reports.problems import Report
from scoring.zips import (
    DEFLATED,
    STORED,
    BrokenZipError,
    TooManyEntriesError,
    ZipEntry,
    read_entries,
    read_entry,
)

QUOTED_FILES = 20  # files of a zip whose problems are quoted
_EPOCH = (1980, 1, 1, 0, 0, 0)
_FILE = 0o100644 << 16  # a regular file that everyone can read


def packed_name(prefix: str, path: PurePosixPath | Path) -> str:
    """Name a packed file after the prefix of its ids."""
    return f"{prefix.rstrip('/')}{path.suffix}"


def document_name(path: str, ending: str) -> str:
    """Return a file's name without folders. If it has this extension in capital letters, they become lower case."""
    name = PurePosixPath(path).name
    return name[: len(name) - len(ending)] + ending if name.lower().endswith(ending) else name


def packed(contents: Mapping[str, bytes]) -> bytes:
    """Pack files into one zip. `contents` is keyed by name."""
    import zipfile  # noqa: PLC0415 - so that the engine starts faster

    body = io.BytesIO()
    with zipfile.ZipFile(body, "w") as archive:
        for name in sorted(contents):
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.external_attr, entry.create_system = _FILE, 3
            archive.writestr(entry, contents[name])
    return body.getvalue()


def packed_folder(folder: Path) -> bytes:
    """Pack all files in a folder and its subfolders into one zip.

    Raises:
        OSError: a file cannot be read.
    """
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return packed({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def value_of(files: Files, name: str) -> str | None:
    """Return the field value of the file with this path, such as its language, or None.

    The value is the name without its extension or, if that is not one of the values, the longest value that occurs as a
    word in the path. Values can be spelled as in the upload. If none is found, case is ignored.
    """
    return _value_in(files, name, str) or _value_in(files, name, str.casefold)


def _value_in(files: Files, name: str, fold: Callable[[str], str]) -> str | None:
    path = fold(name)
    stem = PurePosixPath(path).stem
    texts = {fold(text): value for value in files.of for text in (value, files.spelled(value))}
    if stem in texts:
        return texts[stem]
    found = [text for text in texts if re.search(rf"(?<![A-Za-z0-9]){re.escape(text)}(?![A-Za-z0-9])", path)]
    return texts[max(found, key=len)] if found else None


def unpacked(data: bytes, files: Files, report: Report) -> dict[str, tuple[str, bytes]]:
    """Map the field value of each file to its name and content, and report problems."""
    expected = ", ".join(files.spelled_values)
    try:
        entries = entries_to_read(data, limits.ARCHIVE_ENTRIES, limits.ARCHIVE_BYTES, report)
        found: dict[str, tuple[str, bytes]] = {}
        for entry in entries:
            value = value_of(files, entry.name)
            if value is None:
                report.error("files-unknown", file=entry.name, found=entry.name, expected=expected)
            elif value in found:
                report.error("files-twice", file=entry.name, found=found[value][0], expected=value)
            else:
                found[value] = entry.name, read_entry(io.BytesIO(data), entry)
    except (BrokenZipError, TooManyEntriesError) as error:
        report.error("files-no-zip", found=str(error), expected=expected)
        return {}
    return {value: found[value] for value in files.of if value in found}


def entries_to_read(
    data: bytes, most_entries: int, most_bytes: int, report: Report, ending: str = ""
) -> list[ZipEntry]:
    """Return the entries for files whose names end in `ending`, which is in lower case, ignoring case.

    If they unpack to more than `most_bytes`, report an error and return an empty list.

    Raises:
        BrokenZipError: it is not a zip, or one of these entries cannot be unpacked.
        TooManyEntriesError: there are more than `most_entries` entries, including folders and other files.
    """
    found = read_entries(io.BytesIO(data), most_entries)
    found = [entry for entry in found if not entry.is_folder and not is_clutter(entry.path)]
    entries = [entry for entry in found if entry.name.lower().endswith(ending)]
    if any(entry.is_encrypted or entry.method not in (STORED, DEFLATED) for entry in entries):
        raise BrokenZipError("it is encrypted or uses an unsupported compression method")
    total = sum(entry.size for entry in entries)
    if total > most_bytes:
        report.error("archive-too-large", found=f"{total:,} bytes", expected=f"{most_bytes:,} bytes")
        return []
    return entries


def read_several(
    data: bytes, files: Files, report: Report, read: Callable[[str, bytes, Report], Answers | None], *, needs_all: bool
) -> Answers | None:
    """Read all files and join their answers under the track's ids.

    Args:
        read: a function that reads one file, given its field value, its content and a report.
        needs_all: whether a missing file is an error.

    Returns:
        The answers, or None if an error was reported.
    """
    errors = len(report.errors)
    contents = unpacked(data, files, report)
    missing = [files.spelled(value) for value in files.of if value not in contents]
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


def quote_files(data: bytes, report: Report, separator: str | None, ending: str = "") -> None:
    """Add excerpts to problems in files of a zip. A problem has a file, or the item that the file is named after.

    Args:
        separator: as for `add_excerpts`.
        ending: the extension of files that are named after items.
    """
    places: dict[str, list[int]] = {}
    for place, problem in enumerate(report.problems):
        name = problem.file or (f"{problem.item}{ending}" if problem.line and problem.item else "")
        if name:
            places.setdefault(name, []).append(place)
    if not places:
        return
    try:
        entries = dict[str, ZipEntry]()
        for entry in read_entries(io.BytesIO(data), limits.DOCUMENTS):
            entries.setdefault(entry.name, entry)
            entries.setdefault(document_name(entry.name, ending), entry)
        for name in [name for name in places if name in entries][:QUOTED_FILES]:
            own = Report([report.problems[place] for place in places[name]])
            add_excerpts(own, in_utf8(read_entry(io.BytesIO(data), entries[name])), separator)
            for place, problem in zip(places[name], own, strict=True):
                report.problems[place] = problem
    except (BrokenZipError, TooManyEntriesError):
        return  # the zip has its own problem
