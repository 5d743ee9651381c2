"""Check the files, items, gold standards and baselines in a task's folder, and report all errors together.

`load_definition` checks the definition itself. Only organizers may see the messages, because they can quote gold.
"""

import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from scoring import limits
from scoring.check import Items, find_items, read_ids, read_with_items
from scoring.definition import Definition, GoldFile, Track
from scoring.definition.files import each_file
from scoring.definition.scorer import FOLDER as SCORER_FOLDER
from scoring.formats.several import packed_name
from scoring.gold.coverage import coverage, may_leave_out
from scoring.gold.track_votes import agreement_of
from scoring.gold.votes_file import VotesError
from scoring.items.slices import MANY, file_cells, slices_of
from scoring.items.texts import TextsError, id_columns, read_texts
from scoring.metrics import LoadedGold, plain
from scoring.metrics.text_limits import report_long_texts
from scoring.metrics.tuple_limits import report_long_pairing
from scoring.own_scorers.program import ScorerError, read_program
from scoring.reports.printing import problem_line
from scoring.reports.problems import Problem, Report
from scoring.score import GoldError, load_gold, named_bytes
from scoring.task_folder.own_score import shortfalls
from scoring.task_folder.run_sizes import errors_of_size
from scoring.task_folder.secret_files import Fingerprint, copies_of_secrets, is_left_out, secret_files
from scoring.uploads import naming
from scoring.uploads.name_rules import SAMPLE_TEAMS


def errors_of_folder(
    definition: Definition, held_gold: Container[tuple[str, str]] = frozenset(), *, holds_scorer: bool = False
) -> list[str]:
    """Return the errors in the folder as sentences. See `problems_of_folder`."""
    problems = problems_of_folder(definition, held_gold, holds_scorer=holds_scorer)
    return [problem.message for problem in problems if problem.severity == "error"]


def problems_of_folder(
    definition: Definition,
    held_gold: Container[tuple[str, str]] = frozenset(),
    apart: Mapping[Path, Fingerprint] = MappingProxyType({}),
    *,
    holds_scorer: bool = False,
) -> list[Problem]:
    """Return the problems in the folder, each with its file and, if known, its line. Warnings are among them.

    Args:
        held_gold: track and split of gold standards that are stored elsewhere. Their files may be missing.
        apart: gold and votes files that are not on disk because they are checked separately.
        holds_scorer: the own scorer is checked or stored elsewhere. Its folder may be missing.
    """
    problems = _Inspection(definition, held_gold, apart).problems()
    return problems if holds_scorer else [*problems, *problems_of_scorer(definition)]


def problems_of_scorer(definition: Definition) -> Iterator[Problem]:
    """Yield what is wrong with the own scorer in the folder, if the task has one."""
    if definition.scorer is not None:
        try:
            read_program(definition.folder, definition.scorer)
        except ScorerError as error:
            yield Problem("error", "folder-scorer", str(error), file=SCORER_FOLDER)


class _Inspection:
    """A check of one folder. An unreadable file is reported once, and its content is not checked."""

    def __init__(
        self, definition: Definition, held_gold: Container[tuple[str, str]], apart: Mapping[Path, Fingerprint]
    ) -> None:
        self._definition = definition
        self._held_gold = held_gold
        self._apart = apart
        self._broken: set[Path] = set()

    def problems(self) -> list[Problem]:
        errors = [*self._definition.warnings, *self._errors_of_secrets(), *self._errors_of_files()]
        errors += [*self._errors_of_pages(), *self._errors_of_items()]
        for track in self._definition.tracks:
            for split in track.items:
                errors += self._errors_of_answers(track, split)
        errors += self._errors_of_names()
        return [*errors, *self._errors_of_votes(), *self._errors_of_slices(), *self._errors_of_examples()]

    def _errors_of_secrets(self) -> Iterator[Problem]:
        """Check that no secret file is also used as a public file, and that no public file is a copy of one."""
        secret = secret_files(self._definition)
        for path, named_as in _by_path(self._public_files()).items():
            use = _listed(named_as)
            if path in secret:
                both = f"task.yaml uses it for {secret[path].use}, which is secret, and for {use}, which is public"
                yield self._error(path, f"{both}. Use a different file for {use}.")
                self._broken.add(path)
            elif is_left_out(self._name(path)):
                left_out = "files in the folders gold and scorer and hidden files are never published"
                yield self._error(path, f"{left_out}, but task.yaml uses it for {use}. Move it to another folder.")
                self._broken.add(path)
        known = dict(self._apart) | {path: Fingerprint.of_file(path) for path in secret if self._is_readable(path)}
        yield from copies_of_secrets(self._definition, {known[path]: secret[path] for path in known})

    def _is_readable(self, path: Path) -> bool:
        return _unreadable(path, self._definition.folder) is None

    def _errors_of_files(self) -> Iterator[Problem]:
        """Check that every file named in task.yaml exists."""
        recipes, later = {*self._files_of_recipes()}, self._gold_for_later()
        for path, named_as in _by_path(self._named_files()).items():
            is_checked_elsewhere = path in self._apart or path in self._broken
            why = None if is_checked_elsewhere else _unreadable(path, self._definition.folder)
            if path in later:
                sentence = f"there is no {_listed(named_as)} yet. Runs wait to be scored until you upload it."
                yield replace(self._error(path, sentence), severity="warning")
            elif why:
                self._broken.add(path)
                fix = "Write it with agon baselines --declared" if path in recipes else "Add the file"
                use = _listed(named_as)
                yield self._error(path, f"{why}, but task.yaml uses it for {use}. {fix}, or correct task.yaml.")

    def _gold_for_later(self) -> set[Path]:
        """Return the gold and votes files if none of them is there. A single missing one is rather a mistake."""
        secret = {*secret_files(self._definition)}
        is_any_there = any(path in self._apart or path.exists() for path in secret)
        return set() if is_any_there else secret

    def _named_files(self) -> Iterator[tuple[Path, str]]:
        definition = self._definition
        yield from self._public_files()
        for gold in definition.gold:
            paths = definition.paths_of_gold(gold)
            if any(path.exists() for path in paths) or (gold.track, gold.split) not in self._held_gold:
                for path in paths:
                    yield path, f"gold of the track {gold.track}, split {gold.split}"
        for votes in definition.votes:
            if votes.file.exists() or (votes.track, votes.split) not in self._held_gold:
                yield votes.file, f"votes on the track {votes.track}, split {votes.split}"

    def _public_files(self) -> Iterator[tuple[Path, str]]:
        definition = self._definition
        for name, path in definition.pages.items():
            yield path, f"the page {name}"
        if definition.agreement is not None:
            yield definition.agreement.file, "the agreement"
        for dataset in definition.datasets:
            yield dataset.file, f"the dataset {dataset.slug}"
        for track in definition.tracks:
            yield from self._files_of_track(track)

    def _files_of_recipes(self) -> Iterator[Path]:
        """Yield the run files of baselines that `agon baselines --declared` writes."""
        with_recipe = {baseline.name for baseline in self._definition.baselines if baseline.recipe}
        for track in self._definition.tracks:
            for split in track.items:
                for name, named_path in self._baselines(track, split):
                    if name in with_recipe:
                        yield from (path for _, path in each_file(track.files_in(split), named_path))

    def _files_of_track(self, track: Track) -> Iterator[tuple[Path, str]]:
        named = {"items": track.items, "optional items": track.optional_items, "texts": track.texts}
        named["annotators"] = track.annotators
        named["examples"] = track.examples.items if track.examples else {}
        named |= {f"slices {name}": slicing.items for name, slicing in track.slices.items()}
        for noun, files in named.items():
            for split, named_path in files.items():
                for _, path in each_file(track.files_in(split), named_path):
                    yield path, f"{noun} of the track {track.slug}, split {split}"
        for split in track.items:
            for name, named_path in self._baselines(track, split):
                for _, path in each_file(track.files_in(split), named_path):
                    yield path, f"the baseline {name} of the track {track.slug}, split {split}"

    def _errors_of_pages(self) -> Iterator[Problem]:
        """Check that pages and the agreement are UTF-8 and within the limits."""
        agreement = self._definition.agreement
        shown = [*self._definition.pages.values(), *([agreement.file] if agreement else [])]
        for path in self._sound(shown):
            content = path.read_bytes()
            try:
                content.decode("utf-8")
            except UnicodeDecodeError as error:
                line = content.count(b"\n", 0, error.start) + 1
                yield self._error(path, f"byte {error.start + 1} is not UTF-8. Save the file as UTF-8.", line)
            if len(content) > limits.PAGE_BYTES:
                size = f"a page has {len(content):,} bytes; the limit is {limits.PAGE_BYTES:,}"
                yield self._error(path, f"{size}. Split the text into several pages, or link to it.")
            if (images := content.count(b"![")) > limits.PAGE_IMAGES:
                yield self._error(path, f"a page has {images:,} images; the limit is {limits.PAGE_IMAGES}.")

    def _errors_of_items(self) -> Iterator[Problem]:
        tables = [(track, table) for track in self._definition.tracks for table in (track.items, track.optional_items)]
        named = [(track.files_in(split), given) for track, table in tables for split, given in table.items()]
        for path in self._sound(path for files, given in named for _, path in each_file(files, given)):
            report = Report()
            ids = read_ids(path, report)
            if ids is None:
                first = report.errors[0]
                yield self._error(path, f"{first.message} Save one public id per line, as UTF-8.", first.line)
                self._broken.add(path)
            elif not ids:
                yield self._error(path, "contains no ids. Expected one public id per line.")
                self._broken.add(path)
            elif padded := [(line, own_id) for line, own_id in _numbered_ids(path) if own_id != own_id.strip()]:
                quoted = _listed([json.dumps(own_id) for _, own_id in padded])
                what = f"contains ids with spaces at their ends: {quoted}."
                yield self._error(path, f"{what} Remove the spaces.", padded[0][0])
                self._broken.add(path)
            elif twice := [item for item, count in Counter(ids).items() if count > 1]:
                line = _line_of_repeated(path)
                yield self._error(path, f"contains repeated ids: {_listed(twice)}. Keep each id once.", line)

    def _errors_of_answers(self, track: Track, split: str) -> Iterator[Problem]:
        """Check gold and baselines. If the items cannot be read, check only the gold."""
        items = self._items(track, split)
        yield from self._errors_of_annotators(track, split)
        for gold in self._definition.gold:
            paths = self._definition.paths_of_gold(gold)
            is_there = all(path.exists() and path not in self._broken and path not in self._apart for path in paths)
            if is_there and (gold.track, gold.split) == (track.slug, split):
                yield from self._errors_of_gold(gold, items)
        if items is not None:
            for sentence in errors_of_size(track, len(items.ids) + len(items.optional)):
                place = f" (items of the track {track.slug}, split {split})"
                yield self._error(track.items[split], sentence, at=place)
            for name, path in self._baselines(track, split):
                if not self._is_broken(track, split, path):
                    report = _report_on_baseline(path, track.in_split(split), items)
                    if not report.ok:
                        place = f" (baseline {name} of the track {track.slug}, split {split})"
                        yield self._error(path, _first_error(report), report.errors[0].line, place)

    def _errors_of_annotators(self, track: Track, split: str) -> Iterator[Problem]:
        path = track.annotators.get(split)
        if path is None or self._is_broken(track, split, path):
            return
        report, place = Report(), f" (annotators of the track {track.slug}, split {split})"
        find_items(track, None, split, report)
        for problem in report.errors:
            if problem.code == "annotators-unreadable":
                yield Problem("error", "folder-file", f"{problem.found}{place}.", file=self._name(path))

    def _errors_of_gold(self, gold: GoldFile, items: Items | None) -> Iterator[Problem]:
        path, place, warnings = gold.file, f" (gold of the track {gold.track}, split {gold.split})", Report()
        try:
            standard = load_gold(self._definition, gold.track, gold.file, gold.split, warnings=warnings)
        except GoldError as error:
            first = error.report.errors[0]
            named = each_file(self._definition.track(gold.track).files_in(gold.split), path)
            at = next((own for prefix, own in named if packed_name(prefix, own) == first.file), path)
            yield self._error(at, _first_error(error.report), first.line, place)
            return
        for warning in warnings:
            yield replace(self._error(path, problem_line(warning), warning.line, place), severity="warning")
        ids, track = standard.answers.ids, self._definition.track(gold.track, gold.split)
        for sentence in (*_errors_of_gold_slices(standard, track), *_errors_of_cost(standard, track)):
            yield self._error(path, sentence, at=place)
        if not ids:
            yield self._error(path, "contains no items. Expected the correct answers in the track's format.", at=place)
        if items is not None:
            unknown = sorted(set(ids) - {*items.ids, *items.optional})
            if unknown:
                what = f"contains ids that don't exist in the track: {_listed(unknown)}."
                yield self._error(path, f"{what} Add them to the items, or remove them from the gold file.", at=place)
            covered = coverage(ids, items.ids)
            if ids and covered.missing and not may_leave_out(self._definition, gold.track, gold.split):
                missing = _listed(covered.missing)
                what = f"{covered.listed} of {covered.items} items have gold; missing: {missing}."
                fix = "Add them, or set covers: listed for this gold file in task.yaml if they should not be scored."
                yield self._error(path, f"{what} {fix}", at=place)
            if ids and not unknown:
                yield from self._warnings_of_gold(gold, standard.covering(items.ids), place)

    def _warnings_of_gold(self, gold: GoldFile, standard: LoadedGold, place: str) -> Iterator[Problem]:
        """Warn about metrics for which even the gold does not get the best value."""
        name = self._name(gold.file)
        for shortfall in shortfalls(self._definition, gold.track, standard, gold.split):
            report = Report()
            shortfall.report_in(report)
            for problem in report:
                items = f" Items: {_listed(list(shortfall.items))}." if shortfall.items else ""
                yield replace(problem, file=name, message=f"{name}{place}: {problem.message}{items}")

    def _errors_of_names(self) -> Iterator[Problem]:
        """Check that each track has file names. Rules for names can be valid and still confuse two tracks."""
        for slug, name in naming.unreachable_tracks(self._definition).items():
            named = naming.read(self._definition, name, SAMPLE_TEAMS[0])
            if named is not None and named.track != slug:
                why = f"the name {name} is read as a run for {named.track}"
            elif name.casefold().endswith(".zip"):
                why = f"files such as {name} are read as archives of runs"
            else:
                why = f"{name} is not a valid name"
            sentence = f"no file name leads to the track {slug}: {why}. Change the naming rule or the track's slug."
            yield self._error(self._definition.folder / "task.yaml", sentence)
        if archive := naming.unreachable_archive(self._definition):
            sentence = f"no archive has a valid name: {archive} is not valid. Change the naming rule for archives."
            yield self._error(self._definition.folder / "task.yaml", sentence)

    def _errors_of_votes(self) -> Iterator[Problem]:
        for votes in self._definition.votes:
            if votes.file.exists() and votes.file not in self._broken and votes.file not in self._apart:
                try:
                    agreement_of(self._definition.track(votes.track), votes)
                except (VotesError, TextsError, ValueError) as error:
                    place = f" (votes on the track {votes.track}, split {votes.split})"
                    yield self._error(votes.file, f"{error}.", at=place)

    def _errors_of_slices(self) -> Iterator[Problem]:
        """Check slices that come from tables. Slices that come from gold columns are checked with the gold."""
        for track in self._definition.tracks:
            for name, slicing in track.slices.items():
                place = f" (slices {name} of the track {track.slug})"
                for split, path in slicing.items.items():
                    if self._is_broken(track, split, path):
                        continue
                    try:
                        cells = file_cells(path, id_columns(track), slicing.column, track.files_in(split))
                        count = len(slices_of(cells, slicing))
                    except TextsError as error:
                        yield Problem("error", "folder-file", f"{error}{place}.", file=self._name(path))
                    else:
                        if count > MANY:
                            yield self._error(path, f"{_too_many(count)}.", at=place)

    def _errors_of_examples(self) -> Iterator[Problem]:
        with_examples = [(track, track.examples) for track in self._definition.tracks if track.examples]
        for track, examples, split in ((track, own, split) for track, own in with_examples for split in own.items):
            path = examples.items[split]
            if self._is_broken(track, split, path):
                continue
            try:
                cells = [read_texts(path, id_columns(track), name, track.files_in(split)) for name in examples.columns]
            except TextsError as error:
                sentence = f"{error} (examples of the track {track.slug})."
                yield Problem("error", "folder-file", sentence, file=self._name(path))
            else:
                if cells and (count := len(cells[0])) > limits.EXAMPLES:
                    yield self._error(path, f"there are {count} examples; at most {limits.EXAMPLES} are allowed.")

    def _items(self, track: Track, split: str) -> Items | None:
        named = (track.items[split], track.optional_items.get(split))
        is_broken = any(self._is_broken(track, split, path) for path in named if path)
        return None if is_broken else find_items(track, None, split, Report())

    def _is_broken(self, track: Track, split: str, path: Path) -> bool:
        """Return whether any of the files that `path` stands for cannot be read."""
        return any(own in self._broken for _, own in each_file(track.files_in(split), path))

    def _baselines(self, track: Track, split: str) -> Iterator[tuple[str, Path]]:
        """Yield the name and run file of each baseline if a phase uses the split."""
        if split in self._definition.splits_of(track):
            for baseline in self._definition.baselines:
                file = baseline.file(self._definition.folder, split, track.slug)
                if file is not None and baseline.is_for(track.slug):
                    yield baseline.name, file

    def _sound(self, paths: Iterable[Path]) -> list[Path]:
        return [path for path in dict.fromkeys(paths) if path not in self._broken]

    def _error(self, path: Path, sentence: str, line: int | None = None, at: str = "") -> Problem:
        name = self._name(path)
        return Problem("error", "folder-file", f"{name}{at}: {sentence}", file=name, line=line)

    def _name(self, path: Path) -> str:
        return path.relative_to(self._definition.folder).as_posix()


def _errors_of_cost(standard: LoadedGold, track: Track) -> Iterator[str]:
    """Yield the limits on the time for scoring that the gold exceeds."""
    report = Report()
    report_long_texts(standard.answers, track.metrics, report)
    report_long_pairing(standard.answers, track.format, track.metrics, report)
    yield from map(problem_line, report)


def _errors_of_gold_slices(standard: LoadedGold, track: Track) -> Iterator[str]:
    """Yield errors in slices that come from gold columns, and slices that metrics use although they have no items."""
    for name, column in standard.slice_columns.items():
        try:
            count = len(standard.slices(name))
        except TextsError as error:
            if column.file is None:
                yield f"slices {name}: {error}."
            return
        if column.file is None and count > MANY:
            yield f"slices {name}: {_too_many(count)}."
    for spec in plain(track.metrics):
        name, value = spec.where or ("", "")
        if name in standard.slice_columns and value not in standard.slices(name):
            known = _listed(list(standard.slices(name)))
            yield f"{spec.key}: no item has the value {value} for {name}; existing values are {known}."


def _too_many(slices: int) -> str:
    return f"there are {slices} slices; at most {MANY} are allowed. Merge some slices"


def _report_on_baseline(path: Path, track: Track, items: Items) -> Report:
    """Check a baseline leniently, as it will be scored: what official evaluators accept is not an error."""
    report = Report()
    read_with_items(track, named_bytes(track.files, path), items, report, lenient=True)
    return report


def _numbered_ids(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the ids in a list of items with the numbers of their lines."""
    for line, item in enumerate(path.read_text(encoding="utf-8-sig").splitlines(), 1):
        if item.strip():
            yield line, item


def _line_of_repeated(path: Path) -> int | None:
    """Return the number of the first line that repeats an id from an earlier line."""
    seen: set[str] = set()
    for line, item in _numbered_ids(path):
        if item in seen:
            return line
        seen.add(item)
    return None


def _by_path(named: Iterable[tuple[Path, str]]) -> dict[Path, list[str]]:
    purposes: dict[Path, list[str]] = {}
    for path, purpose in named:
        purposes.setdefault(path, []).append(purpose)
    return purposes


def _unreadable(path: Path, folder: Path) -> str | None:
    """Return why a file in the folder cannot be read, or None if it can."""
    if not path.resolve().is_relative_to(folder):
        return "a link that points outside the folder"
    try:
        if path.is_dir():
            return "a folder instead of a file"
        path.open("rb").close()
    except FileNotFoundError:
        return "the file does not exist"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None


def _first_error(report: Report) -> str:
    first, *others = report.errors
    more = f" ({len(others)} more kinds of errors in this file)" if others else ""
    return problem_line(first) + more


def _listed(entries: list[str]) -> str:
    """List the first entries. If there are more, add the total number."""
    more = f", … ({len(entries)} in total)" if len(entries) > limits.LISTED else ""
    return ", ".join(entries[: limits.LISTED]) + more
