"""Find the runs in an upload (a run file or an archive) from its size, names and archive structure alone."""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.definition import Definition
from scoring.formats import is_zipped
from scoring.formats.filetypes import ZIP_ARCHIVES, ends_of, fix_of, foreign_kind, is_zip
from scoring.formats.parquet import MARK
from scoring.formats.several import packed, packed_name
from scoring.reports.problems import Report
from scoring.uploads import naming
from scoring.uploads.archives import ArchivedFile, inspect_archive, read_archived
from scoring.uploads.name_rules import NameReading, UsedNumbers
from scoring.uploads.patterns import Pattern


@dataclass(frozen=True, slots=True)
class RecognisedRun:
    """A run recognized by its name. `entry` is its path in the archive, empty for a single file. `size` is in bytes.

    If the name does not contain a track, `track` comes from the most similar valid name, so that the content can also
    be checked. For a run with several files, `entry` lists them (`entry_of`), and the name contains the placeholder
    for the files, such as `{language}`.
    """

    entry: str
    name: str
    track: str
    number: int | None
    size: int
    is_guess: bool = False  # whether `track` is a guess


def entry_of(paths: Mapping[str, str]) -> str:
    """Return the value of `Run.entry` for a run with several files.

    `paths` maps each file's field value to its path in the archive. The value starts with `/`, which no path does.
    """
    return "/" + json.dumps(paths, ensure_ascii=False, separators=(",", ":"))


def paths_of(entry: str) -> dict[str, str]:
    """Return the `paths` from which `entry_of` made this entry, or an empty dict for a run with a single file."""
    own = own_entry(entry)
    return dict(json.loads(own[1:])) if own.startswith("/") else {}


def entry_for(track: str, entry: str) -> str:
    """Return the value of `Run.entry` for a run whose file, with this entry, is also a run for another track."""
    return f"//{track}/{entry}"


def own_entry(entry: str) -> str:
    """Return the entry of the file that a run is read from, for which `entry_for` may have made this entry."""
    return entry[2:].partition("/")[2] if entry.startswith("//") else entry


@dataclass(frozen=True, slots=True)
class _RecognisedFile:
    """A file of a run. If the run has several files, `run` describes only this one, and `value` is its field value."""

    run: RecognisedRun
    value: str | None
    name: str


@dataclass(frozen=True, slots=True)
class Upload:
    """The runs found from names and archive structure.

    If the report has errors, use the runs only to find more problems. An archive with an invalid structure has no runs.
    `unnamed` are the first files whose names say no track, not even roughly.
    """

    runs: list[RecognisedRun]
    report: Report
    is_archive: bool
    unnamed: Sequence[ArchivedFile] = ()


def inspect_upload(
    definition: Definition,
    path: Path,
    file_name: str,
    team: str | None,
    listed: int | None = limits.LISTED,
    used_numbers: UsedNumbers = (),
) -> Upload:
    """Check size, kind, names and archive structure without unpacking or reading any run.

    Args:
        path: path of the uploaded bytes. `file_name` is the uploader's name for the file.
        team: the team name that the file names must contain. None accepts any team.
        listed: the maximum number of places that a problem lists, or None for no limit.
        used_numbers: tracks and numbers of existing runs. Their names are not suggested. Read only if a name is
            invalid.
    """
    report = Report(listed=listed)
    label = naming.printable(file_name)
    try:
        head, tail = ends_of(path)
        size = path.stat().st_size
    except OSError as error:
        report.error("unreadable-file", file=label, found=error.strerror or "unknown reason")
        return Upload([], report, is_archive=False)
    if size > limits.UPLOAD_BYTES:
        found, expected = f"{size:,} bytes", f"{limits.UPLOAD_BYTES:,} bytes"
        report.error("file-too-large", file=label, found=found, expected=expected)
        return Upload([], report, is_archive=is_zip(head))
    kind = None if _is_parquet(definition, head) else foreign_kind(head, tail)
    if kind and kind not in ZIP_ARCHIVES:
        report.error("not-a-text", file=label, found=kind, expected=fix_of(kind))
        return Upload([], report, is_archive=False)
    if is_zip(head) and not is_one_run(definition, file_name, team):
        return _inspect_archive(definition, path, file_name, team, used_numbers, report)
    if file_name.casefold().endswith(".zip") and not is_zip(head):
        report.error("archive-no-zip", file=label, found=label)
        return Upload([], report, is_archive=False)
    files = [ArchivedFile("", file_name, size)]
    recognised, unnamed = _recognise_all(definition, files, team, used_numbers, report)
    return Upload(_runs_of(definition, recognised), report, is_archive=False, unnamed=unnamed)


def _is_parquet(definition: Definition, head: bytes) -> bool:
    """Return whether the file is a Parquet file and a track accepts such files."""
    return head.startswith(MARK) and any(track.format.options.get("parquet") for track in definition.tracks)


def is_one_run(definition: Definition, file_name: str, team: str | None) -> bool:
    """Return whether a zip with this name is a single run with a file for each item."""
    named = naming.read(definition, file_name, team)
    if named is not None and named.track:
        return is_zipped(definition.track(named.track))
    return bool(definition.tracks) and all(map(is_zipped, definition.named_tracks))


def read_run(path: Path, entry: str) -> bytes:
    """Return the bytes of one run in a stored upload. If the run has several files, pack them into one.

    If `entry` is empty, the upload itself is the run.

    Raises:
        OSError: the file does not exist.
        BrokenZipError: the archive cannot be read.
    """
    paths = paths_of(entry)
    if not paths:
        own = own_entry(entry)
        return read_archived(path, own) if own else path.read_bytes()
    inner = {value: read_archived(path, name) if name else path.read_bytes() for value, name in paths.items()}
    return packed({packed_name(value, PurePosixPath(paths[value])): content for value, content in inner.items()})


def _most_entries(definition: Definition) -> int:
    """Return how many entries an archive may have: enough for every file of every run that the names allow."""
    files = sum(1 if track.files is None else len(track.files.of) for track in definition.tracks)
    wanted = limits.ENTRIES_A_FILE * files * max(1, len(definition.naming.numbers))
    return min(limits.ARCHIVE_ENTRIES_MOST, max(limits.ARCHIVE_ENTRIES, wanted))


def _inspect_archive(
    definition: Definition, path: Path, file_name: str, team: str | None, used_numbers: UsedNumbers, report: Report
) -> Upload:
    label = naming.printable(file_name)
    named = naming.explain_archive(definition, file_name, team)
    if file_name.casefold().endswith(".zip"):
        report.extend(named.report)
    else:
        suggestion = next((problem.suggestion for problem in named.report if problem.suggestion), None)
        report.error("archive-named-otherwise", file=label, found=label, suggestion=suggestion)
    archive = inspect_archive(path, report.listed, Pattern(definition.naming.run).depth, _most_entries(definition))
    report.extend(archive.report, file=label)
    if archive.folder and archive.report.ok and not _asks_for_folder(definition, archive.folder, team):
        folder = naming.example_archive(definition, team)
        top = "at the top level of the archive"
        expected = f"{top} or in the folder {folder.removesuffix('.zip')}" if folder else top
        report.warning("archive-folder", file=label, found=naming.printable(archive.folder), expected=expected)
    team_of_runs = team or (named.team if named.report.ok else None)
    recognised, unnamed = _recognise_all(definition, archive.files, team_of_runs, used_numbers, report)
    _check_twice([file for file in recognised if not file.run.is_guess], report)
    if not archive.report.ok:
        return Upload([], report, is_archive=True)
    return Upload(_runs_of(definition, recognised), report, is_archive=True, unnamed=unnamed)


def _recognise_all(
    definition: Definition, files: Sequence[ArchivedFile], team: str | None, used_numbers: UsedNumbers, report: Report
) -> tuple[list[_RecognisedFile], list[ArchivedFile]]:
    """Recognize the files by name, in their order. No name is suggested twice: its number counts as used.

    After too many invalid names, list the remaining ones without analyzing them, and skip their files.

    Returns:
        The recognized files, and the first ones whose names say no track, not even one outside the phase.
    """
    valid = {file.entry: naming.read(definition, file.name, team) for file in files}
    invalid = [file for file in files if valid[file.entry] is None]
    used = naming.numbers_of(filter(None, valid.values())).union(used_numbers if invalid else ())
    found, unnamed = list[_RecognisedFile](), list[ArchivedFile]()
    for file in files:
        if file in invalid[limits.NAMES :]:
            continue
        named = naming.explain(definition, file.name, team, used)
        report.extend(named.report)
        used |= naming.numbers_of(naming.suggested(definition, named, team))
        recognised = _recognise(definition, file, named, team)
        if recognised:
            found.append(recognised)
        elif named.track is None:
            unnamed.append(file)
    if left_out := [naming.printable(file.name) for file in invalid[limits.NAMES :]]:
        places = tuple(left_out[: report.listed])
        report.error("names-not-analyzed", expected=definition.naming.run, count=len(left_out), places=places)
    return found, unnamed[: limits.UNNAMED_RUNS]


def _asks_for_folder(definition: Definition, folder: str, team: str | None) -> bool:
    """Return whether the naming rule for archives allows this name, which makes it a valid folder in the zip."""
    return definition.naming.archive is not None and naming.explain_archive(definition, f"{folder}.zip", team).report.ok


def _recognise(
    definition: Definition, file: ArchivedFile, named: NameReading, team: str | None
) -> _RecognisedFile | None:
    """Return the run, or the part of a run, that a file's name means, or None if the phase accepts no such runs."""
    if named.track in [track.slug for track in definition.other_tracks]:
        return None
    track = named.track or naming.likely_track(definition, file.name, team)
    files = definition.track(track).files if track else None
    if track is None or (files is not None and named.value not in files.of):
        return None
    shown = naming.printable(named.common or file.name)
    run = RecognisedRun(file.entry, shown, track, named.number, file.size, is_guess=named.track is None)
    return _RecognisedFile(run, named.value, naming.printable(file.name))


def _runs_of(definition: Definition, files: Sequence[_RecognisedFile]) -> list[RecognisedRun]:
    """Combine the files into runs. If other tracks are read from a run's files, it is followed by their runs."""
    runs: dict[object, RecognisedRun] = {}
    paths: dict[object, dict[str, str]] = {}
    for place, file in enumerate(files):
        key = place if file.value is None else (file.run.track, file.run.number)
        if file.value is None or key not in runs:
            runs[key] = file.run
        else:
            runs[key] = replace(runs[key], size=runs[key].size + file.run.size)
        if file.value is not None:
            paths.setdefault(key, {}).setdefault(file.value, file.run.entry)
    found = list[RecognisedRun]()
    for own, run in runs.items():
        whole = replace(run, entry=entry_of(paths[own])) if own in paths else run
        others = [track.slug for track in definition.tracks if track.file_of == run.track]
        found += [whole, *(replace(whole, track=slug, entry=entry_for(slug, whole.entry)) for slug in others)]
    return found


def _check_twice(files: Sequence[_RecognisedFile], report: Report) -> None:
    """Report files that have the same track, run number and, if runs have several files, field value."""
    same: defaultdict[tuple[str, int | None, str | None], list[str]] = defaultdict(list)
    for file in files:
        same[file.run.track, file.run.number, file.value].append(file.name)
    for names in same.values():
        if len(names) > 1:
            report.error("name-twice", file=names[0], places=tuple(names[: report.listed]), count=len(names))
