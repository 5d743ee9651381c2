"""One upload, a run file or an archive of runs: which runs it holds by name, and whether all of them are valid."""

import difflib
import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scoring import limits, naming
from scoring.archives import inspect_archive, read_archived
from scoring.check import find_items, read_checked, read_file, tell_other_split
from scoring.definition import Definition
from scoring.filetypes import foreign_kind, is_zip
from scoring.problems import Report
from scoring.zips import BrokenZipError

HEAD_BYTES = 1024


@dataclass(frozen=True, slots=True)
class RecognisedRun:
    """A run that its name places; `entry` is its path in the archive, empty for a single file. `size` is in bytes.

    Where the name says no track, `track` is that of the nearest right name, so that the content is looked at too.
    """

    entry: str
    name: str
    track: str
    number: int | None
    size: int
    is_guess: bool = False  # of the track


@dataclass(frozen=True, slots=True)
class Upload:
    """What names and archive structure say.

    With errors in the report the runs are only good for more reports; an archive whose structure is refused has none.
    """

    runs: list[RecognisedRun]
    report: Report
    is_archive: bool


@dataclass(frozen=True, slots=True)
class RunReport:
    """The problems of one run's content, its hash, and the number of items that it answers."""

    run: RecognisedRun
    report: Report
    sha256: str
    items: int


@dataclass(frozen=True, slots=True)
class UploadReport:
    """A whole upload, judged: one error anywhere refuses all of it."""

    upload: Upload
    report: Report
    runs: list[RunReport]

    @property
    def ok(self) -> bool:
        return self.report.ok


def inspect_upload(
    definition: Definition, path: Path, file_name: str, team: str | None, listed: int | None = limits.LISTED
) -> Upload:
    """Judge size, kind, names and archive structure without unpacking or reading any run.

    Args:
        path: where the bytes lie; `file_name` is what the sender called them.
        team: the name that the files must bear; None accepts any.
        listed: how many places a problem lists at most; None: all of them.
    """
    report = Report(listed=listed)
    label = naming.printable(file_name)
    try:
        with path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        size = path.stat().st_size
    except OSError as error:
        report.error("unreadable-file", file=label, found=error.strerror or "the system gives no reason")
        return Upload([], report, is_archive=False)
    if size > limits.UPLOAD_BYTES:
        found, expected = f"{size:,} bytes", f"{limits.UPLOAD_BYTES:,} bytes"
        report.error("file-too-large", file=label, found=found, expected=expected)
        return Upload([], report, is_archive=is_zip(head))
    if is_zip(head):
        return Upload(_runs_of_archive(definition, path, file_name, team, report), report, is_archive=True)
    if file_name.casefold().endswith(".zip"):
        report.error("archive-no-zip", file=label, found=label)
        return Upload([], report, is_archive=False)
    kind = foreign_kind(head)
    if kind:
        report.error("not-a-text", file=label, found=kind)
    run = _recognise(definition, "", file_name, size, team, report)
    return Upload([run] if run else [], report, is_archive=False)


def check_upload(
    definition: Definition,
    path: Path,
    file_name: str,
    team: str | None,
    split: str = "test",
    items: Iterable[str] | Path | None = None,
    listed: int | None = limits.LISTED,
) -> UploadReport:
    """Judge names, structure and the content of every run, so that all faults are known at once.

    Args:
        items: as for `scoring.check.check`; the same for all runs of the upload.
        listed: as for `inspect_upload`.
    """
    upload = inspect_upload(definition, path, file_name, team, listed)
    report = Report(list(upload.report))
    given = items if items is None or isinstance(items, Path) else list(items)
    runs = [_check_run(definition, path, run, team, split, given, listed) for run in upload.runs]
    for run in runs:
        report.extend(run.report)
    return UploadReport(upload, report, runs)


def read_run(path: Path, entry: str) -> bytes:
    """The bytes of one run of a stored upload; an empty entry is the file itself.

    Raises:
        OSError: when the file is not there.
        BrokenZipError: when the archive cannot be read.
    """
    return read_archived(path, entry) if entry else path.read_bytes()


def _runs_of_archive(
    definition: Definition, path: Path, file_name: str, team: str | None, report: Report
) -> list[RecognisedRun]:
    label = naming.printable(file_name)
    named = naming.explain_archive(definition, file_name, team)
    if file_name.casefold().endswith(".zip"):
        report.extend(named.report)
    else:
        suggestion = next((problem.suggestion for problem in named.report if problem.suggestion), None)
        report.error("archive-named-otherwise", file=label, found=label, suggestion=suggestion)
    archive = inspect_archive(path, report.listed)
    report.extend(archive.report, file=label)
    if archive.folder and archive.report.ok and not _asks_for_folder(definition, archive.folder, team):
        report.warning("archive-folder", file=label, found=naming.printable(archive.folder))
    team_of_runs = team or (named.team if named.report.ok else None)
    runs = [_recognise(definition, file.entry, file.name, file.size, team_of_runs, report) for file in archive.files]
    recognised = [run for run in runs if run]
    _check_twice([run for run in recognised if not run.is_guess], report)
    return recognised if archive.report.ok else []


def _asks_for_folder(definition: Definition, folder: str, team: str | None) -> bool:
    """True when the rule for archives names this folder: packing it is then what the task asks for."""
    return definition.naming.archive is not None and naming.explain_archive(definition, f"{folder}.zip", team).report.ok


def _recognise(
    definition: Definition, entry: str, name: str, size: int, team: str | None, report: Report
) -> RecognisedRun | None:
    named = naming.explain(definition, name, team)
    report.extend(named.report)
    track = named.track or naming.likely_track(definition, name, team)
    is_guess = named.track is None
    return RecognisedRun(entry, naming.printable(name), track, named.number, size, is_guess) if track else None


def _check_twice(runs: Sequence[RecognisedRun], report: Report) -> None:
    """Two files for one track need different run numbers."""
    same: defaultdict[tuple[str, int | None], list[str]] = defaultdict(list)
    for run in runs:
        same[run.track, run.number].append(run.name)
    for names in same.values():
        if len(names) > 1:
            report.error("name-twice", file=names[0], places=tuple(names[: report.listed]), count=len(names))


def _check_run(
    definition: Definition,
    path: Path,
    run: RecognisedRun,
    team: str | None,
    split: str,
    items: Sequence[str] | Path | None,
    listed: int | None,
) -> RunReport:
    report = Report(listed=listed)
    data = _bytes_of(path, run, report)
    track = definition.track(run.track)
    known = find_items(track, items, split, report)
    answers = None if known is None or data is None else read_checked(track, data, known, report)
    if data and known is not None and not answers and len(data) <= limits.LOOK_ALIKE_BYTES:
        fitting = _fitting_tracks(definition, data, split, items)
        team = team or naming.explain(definition, run.name, None).team
        names = {naming.example(definition, slug, team, run.number) or slug: slug for slug in fitting}
        for name in difflib.get_close_matches(run.name, names, 1, 0.0):
            report.error("name-of-other-track", found=run.track, expected=names[name], suggestion=name)
    if data and not answers and items is None:
        tell_other_split(definition, track, data, split, report)
    stamped = Report()
    stamped.extend(report, file=naming.printable(run.entry or run.name))
    sha256 = hashlib.sha256(data).hexdigest() if data is not None else ""
    return RunReport(run, stamped, sha256, len(answers.ids) if answers else 0)


def _bytes_of(path: Path, run: RecognisedRun, report: Report) -> bytes | None:
    if not run.entry:
        return read_file(path, report)
    try:
        return read_archived(path, run.entry)
    except BrokenZipError as error:
        report.error("archive-broken", found=str(error))
    except OSError as error:
        report.error("unreadable-file", found=error.strerror or "the system gives no reason")
    return None


def _fitting_tracks(
    definition: Definition, data: bytes, split: str, items: Sequence[str] | Path | None
) -> Iterator[str]:
    """The tracks for which the content is a valid run, without even a warning."""
    for track in definition.tracks:
        trial = Report()
        known = find_items(track, items, split, trial)
        if known is not None and read_checked(track, data, known, trial) and not trial.problems:
            yield track.slug
