"""Check a run's content against the rules of its track and the public item ids. Gold is never used."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

import numpy as np

from scoring import limits
from scoring.answers import Answers, Matrix
from scoring.definition import Definition, Track
from scoring.definition.files import Files, each_file
from scoring.formats import answer_kind, has_texts, in_tokens, is_zipped, read_run, size_of
from scoring.formats.brat import ENDING
from scoring.formats.encodings import in_utf8
from scoring.formats.filetypes import is_zip
from scoring.formats.head import begins_as, head_of
from scoring.formats.several import packed_folder, quote_files
from scoring.items.annotators import Annotators, annotators_of
from scoring.items.index import ItemIndex
from scoring.items.texts import TextsError, id_columns, read_texts, tokens_of
from scoring.metrics.registry import get
from scoring.metrics.text_limits import report_long_texts
from scoring.reports.excerpts import add_excerpts
from scoring.reports.problems import Report


@dataclass(frozen=True, slots=True)
class Items:
    """The ids that a run must have, the optional ids (all or none), and the path to the items' texts."""

    index: ItemIndex
    optional: Sequence[str] = ()
    texts: Path | None = None
    files: Files | None = None  # the files of a run
    annotators: Annotators | None = None
    _lengths: dict[tuple[tuple[str, ...], bool], dict[str, int]] = field(default_factory=dict)
    _texts: dict[tuple[str, ...], dict[str, str]] = field(default_factory=dict)

    @property
    def ids(self) -> list[str]:
        return self.index.ids

    def text_lengths(self, columns: tuple[str, ...], in_tokens: bool = False) -> Mapping[str, int] | None:
        """Map each id to the number of characters in its text, or of tokens separated by blanks.

        Return None if there are no texts. The file is read only once.

        Raises:
            TextsError: `read_texts` cannot read the table.
        """
        if not self._has_texts():
            return None
        key = columns, in_tokens
        if key not in self._lengths:
            texts = self._read(columns).items()
            self._lengths[key] = {item: len(tokens_of(text) if in_tokens else text) for item, text in texts}
        return self._lengths[key]

    def texts_by_id(self, columns: tuple[str, ...]) -> Mapping[str, str] | None:
        """Map each id to its text. Return None, and raise an error, as `text_lengths` does."""
        if not self._has_texts():
            return None
        if columns not in self._texts:
            self._texts[columns] = self._read(columns)
        return self._texts[columns]

    def _has_texts(self) -> bool:
        return self.texts is not None and any(path.is_file() for _, path in each_file(self.files, self.texts))

    def _read(self, columns: tuple[str, ...]) -> dict[str, str]:
        known = self._texts.get(columns)
        return read_texts(cast(Path, self.texts), columns, files=self.files) if known is None else known


def check(
    definition: Definition,
    track: str,
    run: str | Path | bytes,
    items: Iterable[str] | Path | None = None,
    split: str = "test",
    listed: int | None = limits.LISTED,
) -> Report:
    """Check the content of one run, regardless of its file name.

    Args:
        run: the path of a run file, or its content as bytes.
        items: ids, or the path of a file with one id per line. By default, the ids in the definition are used.
        listed: the maximum number of places that a problem lists, or None for no limit.

    Raises:
        KeyError: the track does not exist.
    """
    report = Report(listed=listed)
    found = definition.track(track, split)
    known = known_items(items)
    own = known(found, split, report)
    source = as_source(run)
    data = read_file(source, report, run_bytes(found, own)) if isinstance(source, Path) else source
    if own is not None and data is not None and not read_checked(found, data, own, report) and items is None:
        report_other_split(definition, found, data, split, known, report)
    if data is not None:
        quote_run(found, data, report)
    stamped = Report()
    stamped.extend(report, file=source.name if isinstance(source, Path) else None)
    return stamped


def quote_run(track: Track, data: bytes, report: Report) -> None:
    """Add an excerpt of the run to each problem that has a place in it. If the run is a zip, quote the files in it."""
    if not report.problems:
        return
    is_table = track.format.kind.startswith("table") or track.format.options.get("file") == "table"
    is_json = bool(track.format.options.get("json"))
    separator = track.format.options.get("separator", ",") if is_table and not is_json else None
    if is_zip(data):
        quote_files(data, report, separator, ENDING if is_zipped(track) else "")
    else:
        add_excerpts(report, in_utf8(data), separator)


def read_answers(
    definition: Definition, track: str, content: bytes, split: str = "test", lenient: bool = False
) -> tuple[Answers | None, Report]:
    """Read a run's answers, checked against the public item ids. `lenient` is as in `score`.

    Returns:
        The answers (None if the report has an error) and the report.
    """
    rules, report = definition.track(track, split), Report()
    items = find_items(rules, None, split, report)
    if items is None:
        return None, report
    return read_with_items(rules, content, items, report, lenient=lenient), report


Known = Callable[[Track, str, Report], Items | None]
"""A function that looks up the items of a track and split. If they cannot be read, it reports why and returns None."""


def known_items(items: Iterable[str] | Path | None) -> Known:
    """Return a version of `find_items` that reads each file only once."""
    found: dict[object, Items] = {}

    def known(track: Track, split: str, report: Report) -> Items | None:
        given = items is not None
        named = (one.get(split) for one in (track.optional_items, track.texts, track.annotators))
        # Annotators are columns of the format, which other tracks with the same files may have in another order.
        columns = tuple(track.format.options["columns"]) if track.annotators else None
        key = (given or track.items.get(split), *named, track.files_in(split), columns, id_columns(track))
        if key not in found:
            read = find_items(track, items, split, report)
            if read is None:
                return None
            found[key] = read
        return found[key]

    return known


def run_bytes(track: Track, items: Items | None) -> int:
    """Return the maximum size in bytes of a run for this track."""
    count = 0 if items is None else len(items.index) + len(items.optional)
    return min(limits.RUN_BYTES, limits.RUN_BYTES_FREE + size_of(track.format).bytes * count)


def report_other_split(
    definition: Definition, track: Track, data: bytes, split: str, known: Known, report: Report
) -> None:
    """If a run's ids match a different split, report which phases use that split."""
    if len(data) > limits.LOOK_ALIKE_BYTES or "unknown-ids" not in {problem.code for problem in report.errors}:
        return
    head = head_of(data)
    for other in track.items:
        items = known(track, other, Report()) if other != split else None
        if items is None or not (track.files or begins_as(track, head, items.index, items.optional)):
            continue
        trial = Report()
        read_checked(track.in_split(other), data, items, trial)
        if not {"unknown-ids", "missing-items"} & {problem.code for problem in trial.errors}:
            phases = [[phase.title for phase in definition.phases if phase.split == one] for one in (split, other)]
            here, there = (", ".join(titles) or one for titles, one in zip(phases, (split, other), strict=True))
            report.error("items-of-other-split", found=here, expected=there)
            # This error explains the others, so it is moved to the front.
            report.problems.insert(0, report.problems.pop())
        return


def as_source(file: str | Path | bytes) -> Path | bytes:
    """Convert a `str` to a path. Return bytes, which are a file's content, unchanged."""
    return Path(file) if isinstance(file, str) else file


def read_checked(track: Track, data: bytes, items: Items, report: Report) -> Answers | None:
    """Return the run's answers, or None if an error was reported."""
    lengths = _text_lengths(track, items, report) if answer_kind(track) in ("spans", "entities") else None
    answers = read_with_items(track, data, items, report, text_lengths=lengths)
    if isinstance(answers, Matrix):
        _warn_if_constant(track, answers, len(items.index), report)
    if answers is not None:
        report_long_texts(answers, track.metrics, report)
    return None if report.errors else answers


def _warn_if_constant(track: Track, answers: Matrix, items: int, report: Report) -> None:
    """Warn about metrics that are undefined whatever the gold is, because all predictions in a column are equal.

    An item without an answer counts as 0.
    """
    undefined, values = list[str](), dict[str, None]()
    for spec in (leaf for metric in track.metrics for leaf in metric.leaves()):
        column = spec.part or answers.columns[0]
        if spec.undefined is not None or not get(spec.name).needs_varied_run or column not in answers.columns:
            continue
        at = answers.columns.index(column)
        numbers = np.where(answers.present[:, at], answers.values[:, at], 0)
        if np.ptp(numbers) == 0 and (len(numbers) >= items or numbers[0] == 0):
            undefined.append(spec.key)
            values[f"{numbers[0]:g}"] = None
    if undefined:
        report.warning("constant-predictions", found=", ".join(values), expected=", ".join(undefined))


def read_with_items(
    track: Track,
    data: bytes,
    items: Items,
    report: Report,
    *,
    lenient: bool = False,
    text_lengths: Mapping[str, int] | None = None,
) -> Answers | None:
    """Return the run's answers to these items, or None if an error was reported. Same options as `read_run`."""
    texts = read_item_texts(track, items, report) if has_texts(track.format) else None
    return read_run(
        track,
        data,
        report,
        items=items.index,
        optional=items.optional,
        lenient=lenient,
        text_lengths=text_lengths,
        texts=texts,
        annotators=items.annotators,
    )


def read_item_texts(track: Track, items: Items, report: Report) -> Mapping[str, str] | None:
    """Return the items' texts. If they cannot be read, warn, unless the report says so already, and return None."""
    try:
        return items.texts_by_id(id_columns(track))
    except TextsError as error:
        if "texts-unreadable" not in {problem.code for problem in report}:
            report.warning("texts-unreadable", found=str(error))
        return None


def _text_lengths(track: Track, items: Items, report: Report) -> Mapping[str, int] | None:
    """Return the length of each text.

    If the texts cannot be read, warn and return None, which disables the length checks.
    """
    try:
        return items.text_lengths(id_columns(track), in_tokens=in_tokens(track))
    except TextsError as error:
        report.warning("texts-unreadable", found=str(error))
        return None


def find_items(track: Track, items: Iterable[str] | Path | None, split: str, report: Report) -> Items | None:
    """Return the given items, or by default the items and optional items that the track declares.

    If the items cannot be read, report an error and return None.
    """
    if items is not None:
        ids = _read_ids(track, Path(items), split, report) if isinstance(items, str | Path) else list(items)
        return None if ids is None else _with_details(track, split, ids, (), report)
    if split not in track.items:
        report.error("items-unknown-split", found=split, expected=", ".join(track.items))
        return None
    ids = _read_ids(track, track.items[split], split, report)
    optional = _read_ids(track, track.optional_items[split], split, report) if split in track.optional_items else []
    if ids is None or optional is None:
        return None
    return _with_details(track, split, ids, optional, report)


def _with_details(track: Track, split: str, ids: list[str], optional: Sequence[str], report: Report) -> Items | None:
    """Return the items with their texts and annotators. If the annotators cannot be read, report that."""
    try:
        annotators = annotators_of(track, split, [*ids, *optional])
    except TextsError as error:
        report.error("annotators-unreadable", found=str(error))
        return None
    return Items(ItemIndex(ids), optional, track.texts.get(split), track.files_in(split), annotators)


def _read_ids(track: Track, path: Path, split: str, report: Report) -> list[str] | None:
    """Read the ids from all files of the split."""
    found: list[str] = []
    for prefix, own in each_file(track.files_in(split), path):
        ids = read_ids(own, report)
        if ids is None:
            return None
        found += [prefix + item for item in ids] if prefix else ids
    return found


def read_ids(path: Path, report: Report) -> list[str] | None:
    """Read one id per line, skipping blank lines."""
    try:
        lines = path.read_text(encoding="utf-8-sig").split("\n")  # any line end
    except (OSError, UnicodeDecodeError) as error:
        report.error("items-unreadable", file=path.name, found=getattr(error, "strerror", None) or "it is not UTF-8")
        return None
    return list(filter(str.strip, lines))


def read_file(path: Path, report: Report, limit: int = limits.RUN_BYTES) -> bytes | None:
    """Read a run file, or all files in a folder. If it is too large or cannot be read, report that and return None."""
    try:
        if path.is_dir():
            return packed_folder(path)
        size = path.stat().st_size
        if size > limit:
            report.error("file-too-large", found=f"{size:,} bytes", expected=f"{limit:,} bytes")
            return None
        return path.read_bytes()
    except OSError as error:
        report.error("unreadable-file", found=error.strerror or "unknown reason")
        return None
