"""A task's folder that was pushed as a zip. It is unpacked in memory, checked, and returned piece by piece.

Only public files are written to disk. Gold and votes are kept in memory.
"""

import errno
import io
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from portal.evaluation.confined.scorer import findings
from scoring import DefinitionError, load_definition
from scoring.clutter import is_clutter
from scoring.definition import GoldFile
from scoring.definition.files import each_file
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.formats.several import packed, packed_name
from scoring.gold.track_votes import agreement_of
from scoring.gold.votes_file import VotesError
from scoring.items.texts import TextsError
from scoring.own_scorers.program import ScorerError, program_of
from scoring.reports.problems import Problem, Report
from scoring.task_folder.archive import CODE, DEFINITION, inspect_folder_archive, read_file
from scoring.task_folder.folder import problems_of_folder
from scoring.task_folder.gold_file import check_gold
from scoring.task_folder.own_score import own_score
from scoring.task_folder.secret_files import Fingerprint, is_left_out, secret_files
from scoring.uploads.naming import printable

PIECE = 8 * 1024**2  # bytes per answer

# Errors of opening a file that depend only on its path
_ERRORS_OF_CONTENT = {errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ENAMETOOLONG, errno.ELOOP}

Plain = dict[str, Any]


class TaskFolder:
    """A task's folder in a child. Between method calls, the caller writes the public files to `folder`."""

    def __init__(self, archive: bytes, folder: Path) -> None:
        self._file = io.BytesIO(archive)
        self._folder = folder
        self._gold: list[GoldFile] = []

    def unpack(self) -> Plain:
        """Check the zip and read every file once. Return `problems`, and the sizes of the files by `name`."""
        archive = inspect_folder_archive(self._file)
        self._entries, report = archive.entries, archive.report
        for name, entry in self._entries.items():
            read_file(self._file, entry, name, report)
        return {"problems": _plain(report), "sizes": {name: entry.size for name, entry in self._entries.items()}}

    def piece(self, name: str, start: int) -> str:
        """Return a piece of a file or of a gold standard, in Base64."""
        if start == 0:
            self._read = self._content(name)
        return b64encode(self._read[start : start + PIECE]).decode()

    def load(self) -> Plain:
        """Read the definition in the folder.

        Return `problems`, or the `slug`, the names of files kept `apart`, and those of `datasets` by slug.
        """
        try:
            self._definition = load_definition(self._folder)
        except DefinitionError as error:
            return {"problems": _plain(error.report)}
        self._gold = [gold for gold in self._definition.gold if self._names_of_gold(gold)]
        self._votes = [votes for votes in self._definition.votes if self._name(votes.file) in self._entries]
        datasets = {dataset.slug: self._name(dataset.file) for dataset in self._definition.datasets}
        return {"problems": [], "slug": self._definition.slug, "apart": self._apart(), "datasets": datasets}

    def check(self, held_gold: Iterable[tuple[str, str]], holds_scorer: bool) -> Plain:
        """Return all `problems` with the files, the `gold`, the annotator `agreement`, and the own `scorer`, if any.

        Args:
            holds_scorer: whether the task has an own scorer, so that its files can be missing.
        """
        definition = self._definition
        secret = {path: self._name(path) for path in secret_files(definition) if self._is_there(path)}
        apart = {path: Fingerprint.of(self._entry(name)) for path, name in secret.items()}
        report = Report(self._problems(set(held_gold), apart))
        gold = [self._judged_gold(file, report) for file in self._gold] if report.ok else []
        agreement = [self._agreement(votes, report) for votes in self._votes] if report.ok else []
        scorer = self._scorer(report, holds_scorer)
        return {"problems": _plain(report), "gold": gold, "agreement": agreement, "scorer": scorer}

    def _scorer(self, report: Report, holds_scorer: bool) -> Plain | None:
        """Return the own scorer's `files` in Base64, its `entry`, and `findings` about it.

        Return None if there is none, it has an error, or the task keeps the one that it has.
        """
        start = f"{SCORER_FOLDER}/"
        names = [name for name in self._entries if name.startswith(start)]
        files = {name.removeprefix(start): self._entry(name) for name in names if not is_clutter(name)}
        if self._definition.scorer is None:
            for name in filter(CODE.fullmatch, names):
                report.warning("folder-code", file=printable(name), found=printable(name))
            return None
        if not files and holds_scorer:
            return None
        try:
            program = program_of(files, self._definition.scorer)
        except ScorerError as error:
            report.problems.append(Problem("error", "folder-scorer", str(error), file=SCORER_FOLDER))
            return None
        encoded = {name: b64encode(content).decode() for name, content in program.files.items()}
        return {"files": encoded, "entry": program.entry.as_dict(), "findings": findings(encoded)}

    def _problems(self, held_gold: set[tuple[str, str]], apart: dict[Path, Fingerprint]) -> list[Problem]:
        """Check the files. A file that can't be opened because of its name or kind is an error in the folder.

        Otherwise, the portal would treat it as an outage of its storage, and check the folder again and again.
        """
        try:
            return problems_of_folder(self._definition, held_gold, apart, holds_scorer=True)  # `_scorer` checks it
        except OSError as error:
            path = Path(error.filename or "/")
            is_of_folder = path.is_relative_to(self._folder) and error.errno in _ERRORS_OF_CONTENT
            if (
                not is_of_folder or not (self._folder / DEFINITION).is_file()
            ):  # or the folder has been deleted meanwhile
                raise
            name = printable(path.relative_to(self._folder).as_posix())
            message = f"{name}: cannot be read ({error.strerror}). Correct this path in task.yaml, or rename the file."
            return [Problem("error", "folder-file", message, file=name)]

    def _judged_gold(self, gold: GoldFile, report: Report) -> Plain:
        name = self._name(gold.file)
        content = self._content(name)
        checked = check_gold(self._definition, gold.track, content, gold.split)
        place = f"{name} (gold of the track {gold.track}, split {gold.split}): "
        warnings = own_score(self._definition, gold.track, content, gold.split) if checked.report.ok else Report()
        for problem in (*checked.report, *warnings):
            report.problems.append(replace(problem, file=name, message=place + problem.message))
        about = {"track": gold.track, "split": gold.split, "name": name}
        return about | {"counts": checked.counts, "size": len(content)}

    def _agreement(self, votes: Any, report: Report) -> Plain:
        """Return the annotator agreement. The details of an error are left out, because they quote the votes file."""
        name, rows = self._name(votes.file), []
        try:
            rows = agreement_of(self._definition.track(votes.track), votes, self._content(name))
        except (VotesError, TextsError, ValueError):
            message = (
                f"{name} (votes on the track {votes.track}, split {votes.split}): the votes cannot be read, a vote is "
                f"not for any of the classes, or the experts are not some of the annotators. Check the folder on your "
                f"own computer for details."
            )
            report.problems.append(Problem("error", "folder-file", message, file=name))
        return {"track": votes.track, "split": votes.split, "rows": [asdict(row) for row in rows]}

    def _apart(self) -> list[str]:
        """Return the names of gold and votes files, hidden files, and all files in the folders `gold` and `scorer`.

        These are not written to the public folder. An import ignores them as well.
        """
        secret = {self._name(path) for path in secret_files(self._definition)}
        return [name for name in self._entries if name in secret or is_left_out(name)]

    def _names_of_gold(self, gold: GoldFile) -> list[str]:
        """Return the names of the gold's files in the zip. There are several if runs have several files."""
        return [self._name(path) for path in self._definition.paths_of_gold(gold) if self._is_there(path)]

    def _is_there(self, path: Path) -> bool:
        return self._name(path) in self._entries

    def _content(self, name: str) -> bytes:
        several = next((gold for gold in self._gold if self._name(gold.file) == name), None)
        if several is not None and name not in self._entries:
            named = each_file(self._definition.track(several.track, several.split).files, several.file)
            return packed({packed_name(prefix, path): self._entry(self._name(path)) for prefix, path in named})
        return self._entry(name)

    def _entry(self, name: str) -> bytes:
        content = read_file(self._file, self._entries[name], name, Report())
        assert content is not None  # it has been read successfully before
        return content

    def _name(self, path: Path) -> str:
        return path.relative_to(self._definition.folder).as_posix()


def _plain(report: Report) -> list[Plain]:
    return [problem.as_dict() for problem in report]
