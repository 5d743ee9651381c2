"""A task's folder as a zip: find the files in it, and check for content that is not allowed."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import BinaryIO

from scoring import limits
from scoring.clutter import is_clutter
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.reports.problems import Report
from scoring.uploads.archives import check_kind, check_sizes
from scoring.uploads.naming import composed, printable
from scoring.zips import BrokenZipError, TooManyEntriesError, ZipEntry, read_entries, read_entry

DEFINITION = "task.yaml"
CODE = re.compile(
    r"(.*/)?[^/]*\.(py[cdow]?|ipynb|sh|bash|zsh|fish|bat|cmd|ps1|exe|com|msi|dll|so|dylib|jar|class|js|mjs|rb|pl|php|lua|wasm|r)",
    re.IGNORECASE,
)
_PARTS, _PART_CHARACTERS = 10, 150  # maximum number of path parts, and of characters per part
_PART_BYTES = 255  # of UTF-8; file systems allow no more


@dataclass(frozen=True, slots=True)
class FolderArchive:
    """The files in an archive: entries keyed by their path in the folder.

    If the report has errors, no entry may be read.
    """

    entries: dict[str, ZipEntry]
    report: Report


def inspect_folder_archive(file: BinaryIO) -> FolderArchive:
    """Check the archive's structure and the paths, kinds, sizes and number of its entries. Skip code with a warning.

    Files of the organizers' own scorer are not skipped: whether they ever run is decided elsewhere.
    """
    report = Report()
    try:
        entries = read_entries(file, limits.FOLDER_ENTRIES)
    except BrokenZipError as error:
        report.error("archive-broken", found=str(error))
        return FolderArchive({}, report)
    except TooManyEntriesError as error:
        report.error("archive-entries", found=str(error), expected=str(limits.FOLDER_ENTRIES))
        return FolderArchive({}, report)
    for entry in entries:
        name = printable(entry.name)
        for expected in expected_of_path(entry.path):
            report.error("folder-path", file=name, found=name, expected=expected)
        check_kind(entry, report)
    check_sizes(entries, report, _most_bytes)
    files = [entry for entry in entries if not entry.is_folder and not is_clutter(entry.path)]
    found = _below_folder({entry.path: entry for entry in files})
    _check_twice(list(found), report)
    for path in [path for path in found if CODE.fullmatch(path) and not path.startswith(f"{SCORER_FOLDER}/")]:
        del found[path]
        report.warning("folder-code", file=printable(path), found=printable(path))
    if report.ok and DEFINITION not in found:
        report.error("folder-definition", file=DEFINITION, expected=DEFINITION)
    return FolderArchive(found if report.ok else {}, report)


def read_file(file: BinaryIO, entry: ZipEntry, path: str, report: Report) -> bytes | None:
    """Return the content of one file. If its data is damaged, report the problem and return None."""
    try:
        return read_entry(file, entry)
    except BrokenZipError as error:
        report.error("archive-broken", file=printable(path), found=str(error))
        return None


def _most_bytes(entry: ZipEntry) -> int:
    return limits.DEFINITION_BYTES if PurePosixPath(printable(entry.name)).name == DEFINITION else limits.RUN_BYTES


def expected_of_path(path: str) -> Iterator[str]:
    """Yield a description of what is expected of a file's path in the folder, if this path is invalid."""
    parts = path.rstrip("/").split("/")
    if path.startswith("/") or re.match("[A-Za-z]:", path):
        yield "a path relative to the task folder"
    elif ".." in parts or "." in parts or "" in parts:
        yield 'a path without empty segments and without the segments "." and ".."'
    elif len(parts) > _PARTS or max(map(len, parts)) > _PART_CHARACTERS:
        yield f"at most {_PARTS} segments of up to {_PART_CHARACTERS} characters"
    elif max(len(part.encode(errors="surrogatepass")) for part in parts) > _PART_BYTES:
        yield f"segments of at most {_PART_BYTES} bytes in UTF-8"
    elif printable(path) != path or ":" in path:
        yield "characters that every operating system allows in file names"


def _below_folder(files: dict[str, ZipEntry]) -> dict[str, ZipEntry]:
    """If a single top-level folder contains all files in the zip, make their paths relative to it."""
    tops = {path.split("/", 1)[0] if "/" in path else "" for path in files}
    top = tops.pop() if len(tops) == 1 else ""
    return {path.removeprefix(f"{top}/"): entry for path, entry in files.items()} if top else files


def _check_twice(paths: Sequence[str], report: Report) -> None:
    """Report paths that collide on some file systems, and files whose path is also a folder that contains a file."""
    seen: dict[str, str] = {}
    for path in paths:
        key = composed(path).casefold()
        if key in seen:
            report.error("archive-name-twice", file=printable(path), places=(printable(seen[key]), printable(path)))
        seen[key] = path
    for key, path in seen.items():
        if any(str(parent) in seen for parent in PurePosixPath(key).parents):
            expected = "a path whose folders are not also files"
            report.error("folder-path", file=printable(path), found=printable(path), expected=expected)
