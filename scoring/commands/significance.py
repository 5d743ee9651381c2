"""`significance`: print runs and their ranks with confidence intervals."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

from scoring.commands import INVALID, VALID, UsageError, by_name, gold_in_folder, print_json, track_of_run
from scoring.definition import Definition, MetricSpec, Track
from scoring.metrics import Comparison, compare, describe
from scoring.reports.printing import report_text
from scoring.reports.problems import Report
from scoring.reports.tables import TextTable
from scoring.score import load_gold_and_items, run_answers
from scoring.significance import ROUNDS, GroupedRun, Interval, RankedRun, intervals, pair_tests
from scoring.significance.paired_tests import Method


def add_options(parser: argparse.ArgumentParser) -> None:
    add_sampling_options(parser, "metric of the track to test (default: the ranking metric)")
    method = "statistical test to use (default: bootstrap)"
    parser.add_argument("--method", type=_method, choices=get_args(Method), default="bootstrap", help=method)
    level = "confidence level (default: 0.95); pairs of runs are tested at 1 − LEVEL"
    parser.add_argument("--level", type=float, default=0.95, help=level)
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run file")
    parser.set_defaults(command=run, inputs=lambda options: [options.gold, *options.runs])


def add_sampling_options(parser: argparse.ArgumentParser, metric: str) -> None:
    """Add the options for runs that are evaluated on samples of the items. `metric` is the help text for `--metric`."""
    parser.add_argument(
        "--track", metavar="SLUG", help="track of the runs (default: the track in the first run's file name)"
    )
    parser.add_argument("--gold", type=Path, metavar="FILE", help="gold file (default: the one in the task folder)")
    parser.add_argument("--metric", metavar="KEY", help=metric)
    parser.add_argument("--seed", type=int, default=0, help="random seed (default: 0)")
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, metavar="N", help=f"number of samples (default: {ROUNDS})"
    )
    parser.add_argument(
        "--lenient", action="store_true", help="also accept runs that the official evaluator accepts despite errors"
    )


def _method(text: str) -> str:
    """Return the method's name. `randomisation`, its name in earlier versions, is accepted too."""
    return "randomization" if text == "randomisation" else text


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Print the table. If a run is invalid, print the problems instead."""
    check_sampling(options)
    track = complete_track(options, definition)
    spec = chosen_metric(track, options.metric or track.rank_by)
    runs, report = read_runs(options, definition)
    if not report.ok:
        return print_problems(report, options.json)
    drawn = {"seed": options.seed, "rounds": options.rounds}
    try:
        found = intervals(runs, spec, level=options.level, **drawn)
        tests = pair_tests(runs, spec, method=options.method, alpha=1 - options.level, **drawn)
    except (TypeError, ValueError) as error:
        raise UsageError(f"Cannot test significance: {error}.") from None
    grouped, ranked = tests.grouped(1 - options.level), {line.name: line for line in tests.ranked(1 - options.level)}
    if options.json:
        lines = [_as_json(line, ranked.get(line.name), found[line.name]) for line in grouped]
        print_json({"metric": spec.key, "method": options.method, **drawn, "level": options.level, "runs": lines})
    else:
        metric = describe(spec, definition.track(options.track).slices)
        title = f"{metric.title}: {options.rounds} samples, seed {options.seed}"
        print(_table(title, grouped, ranked, found).as_text())
    return VALID


def check_sampling(options: argparse.Namespace) -> None:
    if options.rounds < 1 or options.seed < 0 or not 0 < options.level < 1:
        raise UsageError("--rounds must be at least 1, --seed must be at least 0, and --level must be between 0 and 1.")


def complete_track(options: argparse.Namespace, definition: Definition) -> Track:
    """Set `track` and `gold` in the options if they are omitted. Return the track."""
    options.track = options.track or track_of_run(definition, options.runs[0])
    options.gold = options.gold or gold_in_folder(definition, options.track, options.split)
    return definition.track(options.track, options.split)


def chosen_metric(track: Track, wanted: str) -> MetricSpec:
    specs = {spec.key: spec for spec in track.metrics}
    if wanted not in specs:
        raise UsageError(f"The track does not use the metric {wanted}; its metrics are {', '.join(specs)}.")
    return specs[wanted]


def read_runs(options: argparse.Namespace, definition: Definition) -> tuple[dict[str, Comparison], Report]:
    """Return the runs compared with the gold standard, by name, and their problems."""
    gold, items = load_gold_and_items(definition, options.track, options.gold, options.split, options.items)
    count_outside = definition.track(options.track).items_outside_gold == "count"
    report, runs = Report(), {}
    for name, path in by_name(options.runs).items():
        answers, own = run_answers(definition, options.track, path, gold, items, options.lenient, options.split)
        report.extend(own)
        if answers is not None:
            runs[name] = compare(gold, answers, count_outside=count_outside)
    return runs, report


def print_problems(report: Report, as_json: bool) -> int:
    """Print why runs are invalid. Return the exit code."""
    if as_json:
        print_json(report.as_dict())
    else:
        print(report_text(report))
    return INVALID


def _table(
    title: str,
    grouped: list[GroupedRun],
    ranked: Mapping[str, RankedRun],
    found: Mapping[str, Interval | None],
) -> TextTable:
    rows = []
    for line in grouped:
        bounds, own = found[line.name], ranked.get(line.name)
        low, high = (bounds.low, bounds.high) if bounds else (None, None)
        rank, letters = (f"{own.rank} ({own.low}–{own.high})", ",".join(own.letters)) if own else (None, None)
        rows.append((line.name, line.value, low, high, rank, letters, line.group, line.p_value))
    return TextTable(title, ("run", "value", "low", "high", "rank", "letters", "group", "p"), tuple(rows))


def _as_json(line: GroupedRun, ranked: RankedRun | None, bounds: Interval | None) -> dict[str, Any]:
    """Return a run's results. `rank_low` and `rank_high` are the ends of the interval of its rank."""
    ranks = {name: ranked and getattr(ranked, name) for name in ("rank", "letters", "cluster")}
    ends = {"rank_low": ranked and ranked.low, "rank_high": ranked and ranked.high}
    return {**asdict(line), **ranks, **ends, "interval": _as_dict(bounds)}


def _as_dict(bounds: Interval | None) -> dict[str, float] | None:
    return None if bounds is None else {"low": bounds.low, "high": bounds.high, "undefined": bounds.undefined}
