"""`analyze`: print tables on the gold standard, on each run compared with it, and on all runs together."""

import argparse
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from scoring.analysis.confusion import by_class, by_type, class_table, confusion, labels
from scoring.analysis.field import disagreement, missed_by_all, summary, summary_table
from scoring.answers import Matrix
from scoring.commands import VALID, UsageError, by_name, gold_in_folder, print_json, track_of_run
from scoring.definition import Definition, Track
from scoring.formats import answer_kind, read_run
from scoring.metrics import Comparison, LoadedGold, compare, compute, describe
from scoring.metrics.comparison import EntityComparison, MatrixComparison
from scoring.reports.problems import Report
from scoring.reports.tables import TextTable
from scoring.score import load_gold_and_items, named_bytes


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--track", metavar="SLUG", help="track of the runs (default: the track in the first run's file name)"
    )
    parser.add_argument("--gold", type=Path, metavar="FILE", help="gold file (default: the one in the task folder)")
    missed = "list the items that all of the top K runs get wrong (default: 3)"
    parser.add_argument("--best", type=int, default=3, metavar="K", help=missed)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run file")
    parser.set_defaults(command=run, inputs=lambda options: [options.gold, *options.runs])


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Print every table that applies to the track."""
    slug = options.track or track_of_run(definition, options.runs[0])
    track = definition.track(slug, options.split)
    gold_file = options.gold or gold_in_folder(definition, slug, options.split)
    gold, _items = load_gold_and_items(definition, slug, gold_file, options.split, options.items)
    comparisons = {name: _read(path, track, gold) for name, path in by_name(options.runs).items()}
    tables = list(_tables(track, gold, comparisons, options.best))
    if options.json:
        print_json({"tables": [{"title": table.title, "head": table.head, "rows": table.rows} for table in tables]})
    else:
        print("\n\n".join(table.as_text() for table in tables))
    return VALID


def _read(path: Path, track: Track, gold: LoadedGold) -> Comparison:
    """Compare a run with the gold standard. Ignore the run's errors if it can be read."""
    report = Report()
    answers = read_run(track, named_bytes(track.files, path), report, lenient=True)
    if answers is None:
        raise UsageError(f"Cannot read the run {path}.", report)
    return compare(gold, answers, count_outside=track.items_outside_gold == "count")


def _tables(track: Track, gold: LoadedGold, runs: Mapping[str, Comparison], best: int) -> Iterator[TextTable]:
    columns: tuple[str | None, ...] = (None,)
    if isinstance(gold.answers, Matrix):
        yield labels(gold.answers).table()
        yield labels(gold.answers).cooccurrence()
        columns = gold.answers.columns if answer_kind(track) == "table" else columns
    for name, comparison in runs.items():
        if isinstance(comparison, EntityComparison):
            types = class_table(by_type(comparison))
            yield replace(types, title=f"{name} · {types.title}")
        if isinstance(comparison, MatrixComparison):
            for column in columns:
                yield from _of_run(comparison, column, name if column is None else f"{name}, {column}")
    scores = {spec.key: [compute(comparison, spec) for comparison in runs.values()] for spec in track.metrics}
    yield summary_table({key: summary(values) for key, values in scores.items()})
    ranked = sorted(runs, key=_rank(track, dict(zip(runs, scores[track.rank_by], strict=True))))
    with suppress(ValueError):  # raised for weights and rankings
        yield disagreement(runs)
        yield missed_by_all({name: runs[name] for name in ranked[:best]}).table()


def _of_run(comparison: MatrixComparison, column: str | None, name: str) -> Iterator[TextTable]:
    # Raised for weights, because they have no classes, and for several labels, because they have no confusion matrix.
    with suppress(ValueError):
        classes = class_table(by_class(comparison, column))
        yield replace(classes, title=f"{name} · {classes.title}")
        matrix = confusion(comparison, column).table()
        yield replace(matrix, title=f"{name} · {matrix.title}")


def _rank(track: Track, scores: Mapping[str, float | None]) -> Callable[[str], float]:
    """Return a sort key for runs: best first, runs without a score last."""
    sign = -1 if describe(track.ranking_metric).higher_is_better else 1

    def key(name: str) -> float:
        score = scores[name]
        return math.inf if score is None else sign * score

    return key
