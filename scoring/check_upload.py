"""Check an upload: its names, its structure, and the content of each run."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from scoring import limits
from scoring.answers import Answers
from scoring.check import Known, known_items, quote_run, read_checked, read_file, report_other_split, run_bytes
from scoring.definition import Definition, Track
from scoring.formats import read_run as read_run_of
from scoring.formats.filetypes import SAMPLE_BYTES, foreign_kind
from scoring.formats.head import begins_as, head_of
from scoring.formats.several import packed_name
from scoring.reports.problems import Report
from scoring.uploads import naming
from scoring.uploads.archives import ArchivedFile
from scoring.uploads.inspection import RecognisedRun, Upload, inspect_upload, own_entry, paths_of, read_run
from scoring.uploads.name_rules import UsedNumbers
from scoring.zips import BrokenZipError

WORDS = re.compile(r"""[^\s"',;|:(){}\[\]]+""")
KNOWN_IDS = 2  # ids of a track that a file must contain to be checked as a run for it


@dataclass(frozen=True, slots=True)
class RunReport:
    """The problems in one run's content, its hash, the number of items it answers, and its answers if they are kept."""

    run: RecognisedRun
    report: Report
    sha256: str
    items: int
    answers: Answers | None = None


@dataclass(frozen=True, slots=True)
class UploadReport:
    """A checked upload. A single error anywhere rejects the whole upload."""

    upload: Upload
    report: Report
    runs: list[RunReport]

    @property
    def ok(self) -> bool:
        return self.report.ok


def check_upload(
    definition: Definition,
    path: Path,
    file_name: str,
    team: str | None,
    split: str = "test",
    items: Iterable[str] | Path | None = None,
    listed: int | None = limits.LISTED,
    used_numbers: UsedNumbers = (),
    keep: int = 0,
) -> UploadReport:
    """Check names, structure and the content of every run. All errors are reported together.

    Args:
        items: same as for `scoring.check.check`. All runs of the upload use the same items.
        listed, used_numbers: same as for `inspect_upload`.
        keep: maximum total size in bytes of the runs whose answers the report keeps, starting with the first run.
    """
    definition = definition.in_split(split) if items is None else definition.with_files_of(split)
    upload = inspect_upload(definition, path, file_name, team, listed, used_numbers)
    known = known_items(items if items is None or isinstance(items, Path) else list(items))
    held = {*used_numbers, *((run.track, run.number) for run in upload.runs)}
    contents = _Contents(definition, path, team, split, known, held, listed, keep)
    runs = [] if contents.are_too_much(upload) else list(contents.check(upload))
    report = Report(list(upload.report))
    for run in runs:
        is_again = own_entry(run.run.entry) != run.run.entry  # problems of the file have been reported
        report.extend(_without(report, run.report) if is_again else run.report)
    return UploadReport(upload, report, runs)


def _without(known: Report, report: Report) -> Report:
    """Return a report without the problems that are known already."""
    return Report([problem for problem in report if problem not in known.problems], notes=report.notes)


@dataclass(frozen=True, slots=True)
class _Contents:
    """Checks of the content of an upload's runs. If a name is suggested, its run is added to `used_numbers`."""

    definition: Definition
    path: Path
    team: str | None
    split: str
    known: Known
    used_numbers: set[tuple[str, int | None]]
    listed: int | None
    keep: int

    def are_too_much(self, upload: Upload) -> bool:
        """Return whether an archive unpacks to far more data than its runs need, and report an error if so."""
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
        """Check the runs one by one.

        After too many invalid runs, skip the rest and report which runs were skipped.
        """
        invalid = invalid_bytes = valid_bytes = 0
        left_out = []
        for run in upload.runs:
            if invalid >= limits.INVALID_RUNS or invalid_bytes >= limits.INVALID_BYTES:
                left_out.append(run.name)
                continue
            checked = self._check_run(run)
            if checked.report.ok:
                valid_bytes += run.size
            else:
                invalid, invalid_bytes = invalid + 1, invalid_bytes + run.size
            yield checked if valid_bytes <= self.keep else replace(checked, answers=None)
        for file in upload.unnamed:
            found = self._run_by_content(file)
            if found and invalid < limits.INVALID_RUNS:
                yield replace(self._check_run(found, by_content=True), answers=None)
        if left_out:
            places = tuple(left_out[: self.listed])
            upload.report.warning("runs-not-checked", count=len(left_out), places=places, found=str(invalid))

    def _run_by_content(self, file: ArchivedFile) -> RecognisedRun | None:
        """Return a file whose name says no track as a run of the track that it fits best, or None if it fits none.

        It must contain items of the track. Of several such tracks, the one in whose format it has the fewest problems.
        """
        run = RecognisedRun(file.entry, naming.printable(file.name), "", None, file.size, is_guess=True)
        data = self._bytes_of(run, limits.LOOK_ALIKE_BYTES, Report())
        head = head_of(data) if data and not foreign_kind(data[:SAMPLE_BYTES]) else None
        if head is None:
            return None
        words = set(WORDS.findall(head.decode(errors="ignore")))
        fitting: dict[str, int] = {}
        for track in self.definition.named_tracks[: limits.UNNAMED_TRACKS]:
            items = self.known(track, self.split, Report())
            if items is not None and not track.files and sum(word in items.index for word in words) >= KNOWN_IDS:
                trial = Report()
                read_run_of(track, head, trial)
                fitting[track.slug] = sum(problem.count for problem in trial.errors)
        best = min(fitting, key=fitting.__getitem__, default=None)
        return replace(run, track=best) if best else None

    def _check_run(self, run: RecognisedRun, *, by_content: bool = False) -> RunReport:
        report = Report(listed=self.listed)
        track = self.definition.track(run.track)
        if by_content:
            name = self._name_for(track, run)
            report.warning("name-guessed", found=run.name, expected=track.slug, suggestion=name)
        items = self.known(track, self.split, report)
        data = self._bytes_of(run, run_bytes(track, items), report)
        answers = None if items is None or data is None else read_checked(track, data, items, report)
        if data and not answers and track.files is None and track.file_of is None:
            self._report_other_track(run, data, report)
        if data and not answers:
            report_other_split(self.definition, track, data, self.split, self.known, report)
        if data:
            quote_run(track, data, report)
        stamped = Report()
        name = naming.printable(run.name if paths_of(run.entry) else own_entry(run.entry) or run.name)
        stamped.extend(_with_own_names(report, run), file=name)
        sha256 = hashlib.sha256(data).hexdigest() if data is not None else ""
        return RunReport(run, stamped, sha256, len(answers.ids) if answers else 0, answers)

    def _bytes_of(self, run: RecognisedRun, limit: int, report: Report) -> bytes | None:
        if not own_entry(run.entry):
            return read_file(self.path, report, limit)
        if run.size > limit:
            report.error("file-too-large", found=f"{run.size:,} bytes", expected=f"{limit:,} bytes")
            return None
        try:
            return read_run(self.path, run.entry)
        except BrokenZipError as error:
            report.error("archive-broken", found=str(error))
        except OSError as error:
            report.error("unreadable-file", found=error.strerror or "unknown reason")
        return None

    def _report_other_track(self, run: RecognisedRun, data: bytes, report: Report) -> None:
        """If this run is valid for a different track, report that track.

        If it could be for several tracks, try only the one with the most similar name.
        """
        if len(data) > limits.LOOK_ALIKE_BYTES:
            return
        head = head_of(data)
        fitting = [track for track in self.definition.named_tracks if not track.files and self._begins_as(track, head)]
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
            # This error explains the others, so it is moved to the front.
            report.problems.insert(0, report.problems.pop())
            named = naming.read(self.definition, name, self.team) if name else None
            self.used_numbers.add((other.slug, named.number if named else None))

    def _begins_as(self, track: Track, head: bytes | None) -> bool:
        items = self.known(track, self.split, Report())
        return items is not None and begins_as(track, head, items.index, items.optional)

    def _name_for(self, track: Track, run: RecognisedRun) -> str | None:
        """Return a name for the run in this track.

        If the run's own number is already used there, choose an unused number.
        """
        team = self.team or naming.explain(self.definition, run.name, None).team
        number = None if (track.slug, run.number) in self.used_numbers else run.number
        return naming.example(self.definition, track.slug, team, number, self.used_numbers)


def _with_own_names(report: Report, run: RecognisedRun) -> Report:
    """If the run has several files, replace the packed names in its problems with paths in the upload."""
    paths = paths_of(run.entry)
    names = {packed_name(value, PurePosixPath(path)): path for value, path in paths.items()}
    if not names:
        return report
    return Report(
        [replace(problem, file=naming.printable(names.get(problem.file or "", "") or run.name)) for problem in report]
    )
