"""One upload, a run file or an archive of runs: which runs it holds by name, and whether all of them are valid."""

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from scoring import limits
from scoring.check import Known, known_items, read_checked, read_file, report_other_split, run_bytes
from scoring.definition import Definition, Track
from scoring.formats.filetypes import foreign_kind, is_zip
from scoring.formats.head import begins_as, head_of
from scoring.reports.problems import Report
from scoring.uploads import naming
from scoring.uploads.archives import ArchivedFile, inspect_archive, read_archived
from scoring.uploads.naming import Taken
from scoring.uploads.zips import BrokenZipError

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

    With errors in the report the runs are only good for more reports; an archive whose structure is rejected has none.
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
    """A whole upload, judged: one error anywhere rejects all of it."""

    upload: Upload
    report: Report
    runs: list[RunReport]

    @property
    def ok(self) -> bool:
        return self.report.ok


def inspect_upload(
    definition: Definition,
    path: Path,
    file_name: str,
    team: str | None,
    listed: int | None = limits.LISTED,
    taken: Taken = (),
) -> Upload:
    """Judge size, kind, names and archive structure without unpacking or reading any run.

    Args:
        path: where the bytes lie; `file_name` is what the sender called them.
        team: the name that the files must have; None accepts any.
        listed: how many places a problem lists at most; None: all of them.
        taken: runs that there are already, by track and number, whose names are not suggested.
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
        return Upload(_runs_of_archive(definition, path, file_name, team, taken, report), report, is_archive=True)
    if file_name.casefold().endswith(".zip"):
        report.error("archive-no-zip", file=label, found=label)
        return Upload([], report, is_archive=False)
    kind = foreign_kind(head)
    if kind:
        report.error("not-a-text", file=label, found=kind)
    run = _recognise(definition, "", file_name, size, team, set(taken), report)
    return Upload([run] if run else [], report, is_archive=False)


def check_upload(
    definition: Definition,
    path: Path,
    file_name: str,
    team: str | None,
    split: str = "test",
    items: Iterable[str] | Path | None = None,
    listed: int | None = limits.LISTED,
    taken: Taken = (),
) -> UploadReport:
    """Judge names, structure and the content of every run, so that all errors are known at once.

    Args:
        items: as for `scoring.check.check`; the same for all runs of the upload.
        listed, taken: as for `inspect_upload`.
    """
    upload = inspect_upload(definition, path, file_name, team, listed, taken)
    known = known_items(items if items is None or isinstance(items, Path) else list(items))
    held = {*taken, *((run.track, run.number) for run in upload.runs)}
    contents = _Contents(definition, path, team, split, known, held, listed)
    runs = [] if contents.are_too_much(upload) else list(contents.check(upload))
    report = Report(list(upload.report))
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
    definition: Definition, path: Path, file_name: str, team: str | None, taken: Taken, report: Report
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
    recognised = _recognise_all(definition, archive.files, team_of_runs, set(taken), report)
    _check_twice([run for run in recognised if not run.is_guess], report)
    return recognised if archive.report.ok else []


def _recognise_all(
    definition: Definition,
    files: Sequence[ArchivedFile],
    team: str | None,
    taken: set[tuple[str, int | None]],
    report: Report,
) -> list[RecognisedRun]:
    """The runs of an archive, by names and in the order of its files; no name is suggested for two of them.

    After so many names that break the rules the others are listed, and neither analysed nor their files read.
    """
    valid = {file.entry: naming.read(definition, file.name, team) for file in files}
    taken |= {(named.track, named.number) for named in valid.values() if named and named.track}
    invalid = [file for file in files if valid[file.entry] is None]
    runs = []
    for file in files:
        if file in invalid[limits.NAMES :]:
            continue
        run = _recognise(definition, file.entry, file.name, file.size, team, taken, report)
        runs += [run] if run else []
    if left_out := [naming.printable(file.name) for file in invalid[limits.NAMES :]]:
        places = tuple(left_out[: report.listed])
        report.error("names-not-analyzed", expected=definition.naming.run, count=len(left_out), places=places)
    return runs


def _asks_for_folder(definition: Definition, folder: str, team: str | None) -> bool:
    """True when the rule for archives names this folder: packing it is then what the task asks for."""
    return definition.naming.archive is not None and naming.explain_archive(definition, f"{folder}.zip", team).report.ok


def _recognise(
    definition: Definition,
    entry: str,
    name: str,
    size: int,
    team: str | None,
    taken: set[tuple[str, int | None]],
    report: Report,
) -> RecognisedRun | None:
    """What a name says; the run that it is suggested to be is taken from then on."""
    named = naming.explain(definition, name, team, taken)
    report.extend(named.report)
    taken |= {(meant.track, meant.number) for meant in naming.suggested(definition, named, team) if meant.track}
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


@dataclass(frozen=True, slots=True)
class _Contents:
    """Checks what the runs of an upload hold; `taken` grows by every run whose name is suggested."""

    definition: Definition
    path: Path
    team: str | None
    split: str
    known: Known
    taken: set[tuple[str, int | None]]
    listed: int | None

    def are_too_much(self, upload: Upload) -> bool:
        """Report an archive that unpacks to far more than runs of so many items need."""
        if not upload.is_archive:
            return False
        total, limit = sum(run.size for run in upload.runs), limits.ARCHIVE_BYTES_FREE
        for run in upload.runs:
            track = self.definition.track(run.track)
            limit += (run_bytes(track, self.known(track, self.split, Report())) - limits.RUN_BYTES_FREE) // 2
        if total > limit:
            upload.report.error("archive-too-large", found=f"{total:,} bytes", expected=f"{limit:,} bytes")
        return total > limit

    def check(self, upload: Upload) -> Iterator[RunReport]:
        """Check one run after the other; when many were invalid, report which were left out."""
        invalid = invalid_bytes = 0
        left_out = []
        for run in upload.runs:
            if invalid >= limits.INVALID_RUNS or invalid_bytes >= limits.INVALID_BYTES:
                left_out.append(run.name)
                continue
            checked = self._check_run(run)
            if not checked.report.ok:
                invalid, invalid_bytes = invalid + 1, invalid_bytes + run.size
            yield checked
        if left_out:
            places = tuple(left_out[: self.listed])
            upload.report.warning("runs-not-checked", count=len(left_out), places=places, found=str(invalid))

    def _check_run(self, run: RecognisedRun) -> RunReport:
        report = Report(listed=self.listed)
        track = self.definition.track(run.track)
        items = self.known(track, self.split, report)
        data = self._bytes_of(run, run_bytes(track, items), report)
        answers = None if items is None or data is None else read_checked(track, data, items, report)
        if data and not answers:
            self._report_other_track(run, data, report)
            report_other_split(self.definition, track, data, self.split, self.known, report)
        stamped = Report()
        stamped.extend(report, file=naming.printable(run.entry or run.name))
        sha256 = hashlib.sha256(data).hexdigest() if data is not None else ""
        return RunReport(run, stamped, sha256, len(answers.ids) if answers else 0)

    def _bytes_of(self, run: RecognisedRun, limit: int, report: Report) -> bytes | None:
        if not run.entry:
            return read_file(self.path, report, limit)
        if run.size > limit:
            report.error("file-too-large", found=f"{run.size:,} bytes", expected=f"{limit:,} bytes")
            return None
        try:
            return read_archived(self.path, run.entry)
        except BrokenZipError as error:
            report.error("archive-broken", found=str(error))
        except OSError as error:
            report.error("unreadable-file", found=error.strerror or "the system gives no reason")
        return None

    def _report_other_track(self, run: RecognisedRun, data: bytes, report: Report) -> None:
        """Name the track of which this is a valid run; of those whose runs begin alike the nearest by name is tried."""
        if len(data) > limits.LOOK_ALIKE_BYTES:
            return
        head = head_of(data)
        fitting = [track for track in self.definition.tracks if self._begins_as(track, head)]
        if not fitting or run.track in [track.slug for track in fitting]:
            return
        names = {track.slug: self._name_for(track, run) for track in fitting}
        likeness = naming.likeness_to(run.name)
        other = max(fitting, key=lambda track: likeness(names[track.slug] or track.slug))
        trial = Report()
        items = self.known(other, self.split, trial)
        if items is not None and read_checked(other, data, items, trial) and not trial.problems:
            name = names[other.slug]
            report.error("name-of-other-track", found=run.track, expected=other.slug, suggestion=name)
            named = naming.read(self.definition, name, self.team) if name else None
            self.taken.add((other.slug, named.number if named else None))

    def _begins_as(self, track: Track, head: bytes | None) -> bool:
        items = self.known(track, self.split, Report())
        return items is not None and begins_as(track, head, items.index, items.optional)

    def _name_for(self, track: Track, run: RecognisedRun) -> str | None:
        """A name as a run of this track; with a free number where the run's own is taken."""
        team = self.team or naming.explain(self.definition, run.name, None).team
        number = None if (track.slug, run.number) in self.taken else run.number
        return naming.example(self.definition, track.slug, team, number, self.taken)
