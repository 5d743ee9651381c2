"""Score a run: read the run and the gold standard, match their items, and compute the track's metrics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scoring.answers import Answers, Entities, Matrix, Spans, Tuples
from scoring.check import Items, as_source, find_items, quote_run, read_file, read_item_texts, read_with_items
from scoring.definition import Definition, GoldView, Track
from scoring.definition.files import Files, each_file
from scoring.extras import install_command
from scoring.formats import answer_kind, has_texts, is_numbered, read_gold
from scoring.formats.conll import report_lengths
from scoring.formats.reading import Problems
from scoring.formats.several import packed, packed_folder, packed_name
from scoring.formats.table import values_of
from scoring.gold.coverage import coverage, incomplete, is_partial, may_leave_out
from scoring.gold.views import ViewError, viewed
from scoring.items.annotators import Annotators, read_annotators
from scoring.items.index import ItemIndex
from scoring.items.slices import slice_columns
from scoring.items.texts import TextsError, id_columns, read_texts
from scoring.limits import LISTED
from scoring.metrics import Comparison, LoadedGold, compare, compute, get, needs_texts, plain, slices_used
from scoring.metrics.distinct import distinct
from scoring.metrics.undefined import notes_on_undefined
from scoring.reports.problems import Report

if TYPE_CHECKING:
    from pandas import DataFrame

CONSTANT = "constant"


class GoldError(Exception):
    """The gold standard cannot be used. The message is for organizers, not for participants."""

    def __init__(self, report: Report) -> None:
        problems = (
            f"{problem.file}: {problem.message}" if problem.file else problem.message for problem in report.errors
        )
        super().__init__("; ".join(problems))
        self.report = report

    @classmethod
    def of(cls, code: str, **fields: Any) -> "GoldError":
        """Return an error with one problem."""
        report = Report()
        report.error(code, **fields)
        return cls(report)


@dataclass(frozen=True, slots=True, repr=False)
class Result:
    """A run's scores.

    `scores` maps metric keys to values at full precision (None: undefined). It is empty if the run has errors. `items`
    is the number of items in the gold standard. `flags` are notes for readers: `constant` means that the run has the
    same label for all items, which some metrics rate as perfect. All other flags say why metrics are undefined.
    `comparison` is the run compared with the gold standard, or None if the run has errors.
    """

    scores: dict[str, float | None]
    report: Report
    items: int
    flags: list[str] = field(default_factory=list)
    comparison: Comparison | None = None

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{key} {'undefined' if value is None else f'{value:.4f}'}" for key, value in self.scores.items()
        )
        return f"Result({scores or 'no scores'}; {self.report!r}; {self.items} items)"

    def to_pandas(self) -> "DataFrame":
        """Return the scores as one row with a column per metric. Undefined scores are NaN.

        Raises:
            ImportError: pandas is missing. The message explains how to install it.
        """
        try:
            from pandas import DataFrame  # noqa: PLC0415 - an extra
        except ImportError as missing:
            raise ImportError(f"to_pandas requires pandas. Install it with: {install_command(missing)}") from None
        return DataFrame([self.scores], dtype="float64")


def score(
    definition: Definition,
    track: str,
    run: str | Path | bytes,
    gold: str | Path | bytes | LoadedGold,
    items: Iterable[str] | Path | None = None,
    lenient: bool = False,
    split: str = "test",
    listed: int | None = LISTED,
) -> Result:
    """Check a run and score it against the gold standard.

    Args:
        run: the path of a run file, or its content as bytes.
        gold: the path of a gold file, or its content as bytes. To score several runs, pass the result of `load_gold`.
        items: the ids that the run must have, or the path of a file that lists them. By default, these are the ids in
            the gold standard or, if it is declared with `covers: listed`, all ids of the split. Items missing from span
            gold have no spans. Any other gold named in the definition must contain all items, unless it is declared
            with `covers: listed`.
        lenient: also score runs that only the official evaluators accept. Missing items or labels, labels outside the
            domain, inner classes and incorrect sums then cause warnings instead of errors.
        split: the split whose items and gold format are used.
        listed: the maximum number of places that a problem lists, or None for no limit.

    Raises:
        GoldError: the gold standard cannot be read, or lacks items.
        KeyError: the track does not exist.
    """
    if items is not None and not isinstance(items, str | Path):
        items = list(items)
    standard = gold if isinstance(gold, LoadedGold) else load_gold(definition, track, gold, split, items)
    items = default_items(definition, track, split, standard) if items is None else items
    standard = _with_items(standard, definition.track(track, split), items, split)
    answers, report = run_answers(definition, track, run, standard, items, lenient, split, listed)
    if answers is None:
        return Result({}, report, len(standard))
    return _result(definition.track(track, split), standard, answers, report)


def run_answers(
    definition: Definition,
    track: str,
    run: str | Path | bytes,
    gold: LoadedGold,
    items: Iterable[str] | Path | None = None,
    lenient: bool = False,
    split: str = "test",
    listed: int | None = LISTED,
) -> tuple[Answers | None, Report]:
    """Read the run's answers as `score` does.

    Returns:
        The answers (None if the report has an error) and the report.
    """
    rules = definition.track(track, split)
    report = Report(listed=listed)
    source = as_source(run)
    items = default_items(definition, track, split, gold) if items is None else items
    known = _find_items(rules, items, gold, split, report)
    data = read_file(source, report) if isinstance(source, Path) else source
    found = None if data is None or known is None else read_with_items(rules, data, known, report, lenient=lenient)
    answers = found if found is not None and _fit(gold, found, report, lenient) else None
    if data is not None:
        quote_run(rules, data, report)
    stamped = Report()
    stamped.extend(report, file=source.name if isinstance(source, Path) else None)
    return answers, stamped


def score_answers(
    definition: Definition, track: str, gold: LoadedGold, answers: Answers, lenient: bool = False, split: str = "test"
) -> Result:
    """Score answers that are already in memory. The gold must cover all items of the split.

    `lenient` is as in `score`. Use the same value as when the answers were read.
    """
    report = Report()
    if not _fit(gold, answers, report, lenient):
        return Result({}, report, len(gold))
    return _result(definition.track(track, split), gold, answers, report)


def score_gold(
    definition: Definition, track: str, gold: str | Path | bytes | LoadedGold, split: str = "test"
) -> Result:
    """Score the gold standard against itself. The result is the reference row of a leaderboard."""
    standard = gold if isinstance(gold, LoadedGold) else load_gold(definition, track, gold, split)
    return _result(definition.track(track, split), standard, standard.answers, Report())


def load_gold(
    definition: Definition,
    track: str,
    gold: str | Path | bytes,
    split: str = "test",
    items: Iterable[str] | Path | None = None,
    warnings: Report | None = None,
) -> LoadedGold:
    """Read a gold file in the format that the definition declares.

    Args:
        warnings: a report to which warnings about the file are added. By default, they are not reported.
        items: the ids that runs must have, or the path of a file that lists them, as in `score`. None leaves the gold
            unchanged.

    Raises:
        GoldError: the gold cannot be used. Its report lists the problems.
        KeyError: the track does not exist.
    """
    rules = definition.track(track, split)
    source = as_source(gold)
    report = Report()
    content = source if isinstance(source, bytes) else named_bytes(rules.files, source)
    declared = next(
        (candidate for candidate in definition.gold if (candidate.track, candidate.split) == (track, split)), None
    )
    annotators = _annotators(rules, split, report)
    spec = declared.format if declared else rules.format
    known = find_items(rules, None, split, Report()) if is_numbered(spec) or has_texts(spec) else None
    texts = read_item_texts(rules, known, report) if known is not None and has_texts(spec) else None
    answers = read_gold(rules, content, spec, report, annotators, None if known is None else known.index, texts)
    if answers is None or not report.ok:
        raise GoldError(report)
    if warnings is not None:
        warnings.extend(report)
    if declared is not None and declared.view is not None:
        answers = _viewed(answers, declared.view, rules)
    if isinstance(answers, Entities) and answers.texts is None:
        answers = _with_texts(answers, rules, split)
    values = values_of(rules.format) if answer_kind(rules) == "table" else {}
    standard = LoadedGold(answers, rules.hierarchy, values, slice_columns(rules, split))
    _require_slices(standard, rules)
    known = None if items is None else find_items(rules, items, split, Report())  # the run's report lists any problems
    return standard if known is None else _for_items(definition, track, split, standard, known)


def _annotators(track: Track, split: str, report: Report) -> Annotators | None:
    """Return the annotators of the items. If they cannot be read, report that and return None."""
    try:
        return read_annotators(track, split)
    except TextsError as error:
        report.error("annotators-unreadable", found=str(error))
        return None


def _with_texts(answers: Entities, track: Track, split: str) -> Entities:
    """Add the items' texts to the answers if a metric needs them.

    Raises:
        GoldError: the texts cannot be read.
    """
    needing = dict.fromkeys(spec.key for spec in plain(track.metrics) if needs_texts(spec))
    if not needing:
        return answers
    try:
        if split not in track.texts:
            raise TextsError("there is no table for this split")
        texts = read_texts(track.texts[split], id_columns(track), files=track.files)
        if missing := [item for item in answers.ids if item not in texts]:
            raise TextsError(f"{track.texts[split].name} contains no text for {missing[0]}")
        return replace(answers, texts=texts)
    except TextsError as error:
        raise GoldError.of("gold-texts", found=str(error), expected=", ".join(needing)) from None


def _require_slices(gold: LoadedGold, track: Track) -> None:
    """Raise GoldError if a metric needs slices that cannot be read."""
    report = Report()
    for name in slices_used(track.metrics):
        try:
            if name in gold.slice_columns:
                gold.slices(name)
            elif name in track.slices:
                raise TextsError("there is no table for this split")
        except TextsError as error:
            report.error("slices-unreadable", found=str(error), expected=name)
    if not report.ok:
        raise GoldError(report)


def named_bytes(files: Files | None, path: Path) -> bytes:
    """Return the content at a path: a file, a folder, or several files if the path contains the files' placeholder.

    Raises:
        GoldError: the content cannot be read.
    """
    try:
        if files is not None and files.field in str(path):
            return packed({packed_name(prefix, own): own.read_bytes() for prefix, own in each_file(files, path)})
        return packed_folder(path) if path.is_dir() else path.read_bytes()
    except OSError as error:
        name, why = str(error.filename or path), error.strerror or "unknown reason"
        raise GoldError.of("unreadable-file", file=name, found=why) from error


def accepted_gold(definition: Definition, track: str, gold: bytes, split: str) -> LoadedGold:
    """Read a previously accepted gold standard for the items of its split. Coverage is not checked again.

    Raises:
        GoldError: the gold standard or the items cannot be read. The scores depend on the items, so they are required.
    """
    standard = load_gold(definition, track, gold, split)
    report = Report()
    known = find_items(definition.track(track), None, split, report)
    if known is None:
        raise GoldError(report)
    return standard.covering(known.ids)


def _for_items(definition: Definition, track: str, split: str, standard: LoadedGold, known: Items) -> LoadedGold:
    covered = coverage(standard.answers.ids, known.ids)
    is_named = any((gold.track, gold.split) == (track, split) for gold in definition.gold)
    if covered.missing and is_named and not may_leave_out(definition, track, split):
        raise GoldError.of("gold-incomplete", **incomplete(covered))
    return standard.covering(known.ids)


def _with_items(gold: LoadedGold, track: Track, items: Iterable[str] | Path | None, split: str) -> LoadedGold:
    """Add missing items to a gold standard of spans or tuples. Return any other gold standard unchanged."""
    if items is None or not isinstance(gold.answers, Spans | Entities | Tuples):
        return gold
    known = find_items(track, items, split, Report())  # the run's report lists any problems
    return gold if known is None else gold.covering(known.ids)


def _viewed(answers: Answers, view: GoldView, track: Track) -> Answers:
    options = track.format.options
    try:
        return viewed(answers, view, answer_kind(track), options.get("classes") or options.get("columns", ()))
    except ViewError as error:
        raise GoldError.of("gold-view", found=str(error)) from None


def load_gold_and_items(
    definition: Definition, track: str, gold: Path, split: str, items: Path | None
) -> tuple[LoadedGold, Path | None]:
    """Read a gold file as `load_gold` does, and return the path of the items that runs must have, as in `score`."""
    standard = load_gold(definition, track, gold, split, items)
    items = items or default_items(definition, track, split, standard)
    return _with_items(standard, definition.track(track, split), items, split), items


def default_items(definition: Definition, track: str, split: str, gold: LoadedGold) -> Path | None:
    """Return the path of the split's items if the gold standard is declared to have only some of them.

    Return None if it is not, if the items cannot be read, or if the gold standard is for other items. Runs must then
    have the gold standard's items.
    """
    if not is_partial(definition, track, split):
        return None
    rules = definition.track(track, split)
    known = find_items(rules, None, split, Report())
    if known is None or not {*known.ids, *known.optional}.issuperset(gold.answers.ids):
        return None
    return rules.items[split]


def _find_items(
    track: Track, items: Iterable[str] | Path | None, gold: LoadedGold, split: str, report: Report
) -> Items | None:
    """Return the given items, or by default the gold standard's items, with the definition's optional items."""
    optional: Sequence[str] = ()
    if split in track.optional_items:
        own = find_items(track, None, split, Report())  # a definition without items files can still be used for scoring
        optional = own.optional if own else ()
    if items is None:
        left_out = set(optional).intersection(gold.index.ids) if optional else ()
        rest = ItemIndex([item for item in gold.index.ids if item not in left_out]) if left_out else gold.index
        annotators = _annotators(track, split, report)
        return Items(rest, optional, track.texts.get(split), track.files_in(split), annotators)
    given = find_items(track, items, split, report)
    index = gold.index if given is None or given.ids == gold.index.ids else given.index
    return given and replace(given, index=index, optional=optional)


def _result(track: Track, gold: LoadedGold, answers: Answers, report: Report) -> Result:
    comparison = compare(gold, answers, count_outside=track.items_outside_gold == "count")
    scores = {spec.key: compute(comparison, spec) for spec in track.metrics}
    praised = any(get(spec.name).flags_constant for spec in plain(track.metrics))
    flags = [CONSTANT] if praised and _is_constant(answers) else []
    ranking_first = sorted(track.metrics, key=lambda spec: spec.key != track.rank_by)
    undefined = [spec for spec in ranking_first if scores[spec.key] is None and spec.scorer_column is None]
    flags += notes_on_undefined(comparison, undefined, track.slices)
    return Result(scores, report, len(gold), flags, comparison)


def _fit(gold: LoadedGold, run: Answers, report: Report, lenient: bool) -> bool:
    """Return whether each sentence has as many tokens as in the gold standard, and report those that do not.

    Sentences missing from the gold standard are not checked.
    """
    if not isinstance(run, Entities):
        return True
    rows = gold.index.rows_of(run.ids)
    if run.lengths is None or gold.entities.lengths is None:
        return True
    expected = np.where(rows >= 0, gold.entities.lengths[rows], run.lengths)
    problems = Problems(report)
    report_lengths(run.ids, run.lengths.tolist(), expected.tolist(), problems, lenient)
    return not problems.report()


def _is_constant(answers: Answers) -> bool:
    """Return whether a run has the same label for all items."""
    if not isinstance(answers, Matrix):
        return False
    given = answers.values if answers.absent is None else answers.values[~answers.absent]
    return len(distinct(given)) == 1
