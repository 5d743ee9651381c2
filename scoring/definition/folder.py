"""Is a shared task's folder complete and sound? Its files, items, gold standards and baselines, all errors at once.

`load_definition` judges the definition itself. The sentences are for organizers: those of a gold file may quote it.
"""

from collections import Counter
from collections.abc import Container, Iterable, Iterator
from pathlib import Path

from scoring import limits
from scoring.analysis.languages import read_languages
from scoring.check import Items, find_items
from scoring.definition import Definition, GoldFile, Track
from scoring.formats import read_run
from scoring.gold.coverage import coverage, may_leave_out
from scoring.gold.track_votes import agreement_of
from scoring.gold.votes_file import VotesError
from scoring.items.texts import TextsError
from scoring.reports.printing import problem_line
from scoring.reports.problems import Report
from scoring.score import GoldError, load_gold


def errors_of_folder(definition: Definition, held_gold: Container[tuple[str, str]] = frozenset()) -> list[str]:
    """Whatever keeps the folder from being used, a sentence each; none if all is well.

    Args:
        held_gold: track and split of each gold standard that is kept elsewhere, so that its file may be missing.
    """
    return _Inspection(definition, held_gold).errors()


class _Inspection:
    """One look at a folder: what cannot be read is reported once and not looked into."""

    def __init__(self, definition: Definition, held_gold: Container[tuple[str, str]]) -> None:
        self._definition = definition
        self._held_gold = held_gold
        self._broken: set[Path] = set()

    def errors(self) -> list[str]:
        errors = [*self._errors_of_files(), *self._errors_of_pages(), *self._errors_of_items()]
        for track in self._definition.tracks:
            for split in track.items:
                errors += self._errors_of_answers(track, split)
        return [*errors, *self._errors_of_votes(), *self._errors_of_languages()]

    def _errors_of_files(self) -> Iterator[str]:
        """Each file that task.yaml names must be there, whatever it is named for."""
        purposes: dict[Path, list[str]] = {}
        for path, purpose in self._named_files():
            purposes.setdefault(path, []).append(purpose)
        for path, named_as in purposes.items():
            why = _unreadable(path)
            if why:
                self._broken.add(path)
                use = _listed(named_as)
                yield f"{self._name(path)}: {why}; task.yaml names it as {use}. Put it there, or correct task.yaml."

    def _named_files(self) -> Iterator[tuple[Path, str]]:
        definition = self._definition
        for name, path in definition.pages.items():
            yield path, f"the page {name}"
        if definition.agreement is not None:
            yield definition.agreement.file, "the agreement"
        for dataset in definition.datasets:
            yield dataset.file, f"the dataset {dataset.slug}"
        for gold in definition.gold:
            if gold.file.exists() or (gold.track, gold.split) not in self._held_gold:
                yield gold.file, f"gold of the track {gold.track}, split {gold.split}"
        for votes in definition.votes:
            if votes.file.exists() or (votes.track, votes.split) not in self._held_gold:
                yield votes.file, f"votes on the track {votes.track}, split {votes.split}"
        for track in definition.tracks:
            yield from self._files_of_track(track)

    def _files_of_track(self, track: Track) -> Iterator[tuple[Path, str]]:
        named = {"items": track.items, "optional items": track.optional_items, "texts": track.texts}
        for noun, files in (named | {"languages of items": track.item_languages}).items():
            for split, path in files.items():
                yield path, f"{noun} of the track {track.slug}, split {split}"
        for split in track.items:
            for name, path in self._baselines(track, split):
                yield path, f"the baseline {name} of the track {track.slug}, split {split}"

    def _errors_of_pages(self) -> Iterator[str]:
        """Pages and agreement are shown as text."""
        agreement = self._definition.agreement
        shown = [*self._definition.pages.values(), *([agreement.file] if agreement else [])]
        for path in self._sound(shown):
            try:
                path.read_text(encoding="utf-8")
            except UnicodeDecodeError as error:
                yield f"{self._name(path)}: byte {error.start + 1} is not UTF-8. Save the file as UTF-8."

    def _errors_of_items(self) -> Iterator[str]:
        tracks = self._definition.tracks
        files = {path: track for track in tracks for path in (*track.items.values(), *track.optional_items.values())}
        for path in self._sound(files):
            report = Report()
            items = find_items(files[path], path, "", report)
            if items is None:
                yield f"{self._name(path)}: {report.errors[0].message} Save one public id a line, as UTF-8."
                self._broken.add(path)
            elif not items.ids:
                yield f"{self._name(path)}: holds no ids; expected one public id a line."
                self._broken.add(path)
            elif twice := [item for item, count in Counter(items.ids).items() if count > 1]:
                yield f"{self._name(path)}: stand there more than once: {_listed(twice)}. Keep each id once."

    def _errors_of_answers(self, track: Track, split: str) -> Iterator[str]:
        """Of gold and baselines; without readable items a gold standard is read all the same, baselines are not."""
        items = self._items(track, split)
        for gold in self._definition.gold:
            is_there = gold.file.exists() and gold.file not in self._broken
            if is_there and (gold.track, gold.split) == (track.slug, split):
                yield from self._errors_of_gold(gold, items)
        if items is not None:
            for name, path in self._baselines(track, split):
                if path not in self._broken:
                    place = f"{self._name(path)} (baseline {name} of the track {track.slug}, split {split})"
                    yield from _errors_of_baseline(place, path, track, items)

    def _errors_of_gold(self, gold: GoldFile, items: Items | None) -> Iterator[str]:
        place = f"{self._name(gold.file)} (gold of the track {gold.track}, split {gold.split})"
        try:
            ids = load_gold(self._definition, gold.track, gold.file, gold.split).answers.ids
        except GoldError as error:
            yield f"{place}: {_first_error(error.report)}"
            return
        if not ids:
            yield f"{place}: holds no items; expected the right answers, in the format of the track."
        if items is not None:
            unknown = sorted(set(ids) - {*items.ids, *items.optional})
            if unknown:
                yield (
                    f"{place}: ids that are not among the track's items: {_listed(unknown)}."
                    " Add them to the items, or take them out of the gold."
                )
            covered = coverage(ids, items.ids)
            if ids and covered.missing and not may_leave_out(self._definition, gold.track, gold.split):
                missing = _listed(covered.missing)
                yield (
                    f"{place}: {covered.listed} of {covered.items} items have gold; missing: {missing}."
                    " Add them or, if they are not to be judged, write covers: listed for this gold in task.yaml."
                )

    def _errors_of_votes(self) -> Iterator[str]:
        for votes in self._definition.votes:
            if votes.file.exists() and votes.file not in self._broken:
                try:
                    agreement_of(self._definition.track(votes.track), votes)
                except (VotesError, ValueError) as error:
                    yield f"{self._name(votes.file)} (votes on the track {votes.track}, split {votes.split}): {error}."

    def _errors_of_languages(self) -> Iterator[str]:
        for track in self._definition.tracks:
            for path in self._sound(track.item_languages.values()):
                try:
                    read_languages(track, path)
                except TextsError as error:
                    yield f"{error} (languages of the items of the track {track.slug})."

    def _items(self, track: Track, split: str) -> Items | None:
        if {track.items[split], track.optional_items.get(split)} & self._broken:
            return None
        return find_items(track, None, split, Report())

    def _baselines(self, track: Track, split: str) -> Iterator[tuple[str, Path]]:
        """Name and run file of each, in the splits that a phase uses."""
        if any(phase.split == split for phase in self._definition.phases):
            for baseline in self._definition.baselines:
                if baseline.files is not None:
                    file = baseline.files.format(split=split, track=track.slug)
                    yield baseline.name, self._definition.folder / file

    def _sound(self, paths: Iterable[Path]) -> list[Path]:
        return [path for path in dict.fromkeys(paths) if path not in self._broken]

    def _name(self, path: Path) -> str:
        return path.relative_to(self._definition.folder).as_posix()


def _errors_of_baseline(place: str, path: Path, track: Track, items: Items) -> Iterator[str]:
    """Baselines are scored leniently, so what the official evaluators tolerate is no error."""
    report = Report()
    read_run(track, path.read_bytes(), report, items=items.index, optional=items.optional, lenient=True)
    if not report.ok:
        yield f"{place}: {_first_error(report)}"


def _unreadable(path: Path) -> str | None:
    """Why a file cannot be read, or None."""
    if path.is_dir():
        return "a folder, where a file was expected"
    try:
        path.open("rb").close()
    except FileNotFoundError:
        return "there is no such file"
    except OSError as error:
        return f"cannot be read ({error.strerror})"
    return None


def _first_error(report: Report) -> str:
    first, *others = report.errors
    more = f" ({len(others)} more kinds of errors in this file)" if others else ""
    return problem_line(first) + more


def _listed(entries: list[str]) -> str:
    """The first of them, and how many there are."""
    more = f", … ({len(entries)} in all)" if len(entries) > limits.LISTED else ""
    return ", ".join(entries[: limits.LISTED]) + more
