"""`compare`: print how much better one run is than another in each metric, with intervals and paired tests."""

import argparse
from collections.abc import Mapping
from dataclasses import asdict, astuple
from itertools import combinations
from pathlib import Path

from scoring.commands import VALID, UsageError, print_json
from scoring.commands.significance import (
    add_sampling_options,
    check_sampling,
    chosen_metric,
    complete_track,
    print_problems,
    read_runs,
)
from scoring.definition import Definition, MetricSpec
from scoring.metrics import Comparison, compute
from scoring.reports.tables import TextTable
from scoring.significance import Lead, leads

Pairs = Mapping[str, Mapping[str, Lead]]  # run → each later run → by how much the first of them is better


def add_options(parser: argparse.ArgumentParser) -> None:
    add_sampling_options(parser, "compare only this metric of the track (default: all metrics)")
    parser.add_argument("--level", type=float, default=0.95, help="confidence level (default: 0.95)")
    parser.add_argument("runs", type=Path, nargs="+", metavar="RUN", help="run file; specify at least two")
    parser.set_defaults(command=run, inputs=lambda options: [options.gold, *options.runs])


def run(options: argparse.Namespace, definition: Definition) -> int:
    """Print a table for each pair of runs. If a run is invalid, print the problems instead."""
    check_sampling(options)
    track = complete_track(options, definition)
    specs = [chosen_metric(track, options.metric)] if options.metric else list(track.metrics)
    if len(set(options.runs)) < 2:
        raise UsageError("Specify at least two different runs to compare.")
    runs, report = read_runs(options, definition)
    if not report.ok:
        return print_problems(report, options.json)
    drawn = {"seed": options.seed, "rounds": options.rounds, "level": options.level}
    try:
        found = {spec.key: leads(runs, spec, **drawn) for spec in specs}
    except (TypeError, ValueError) as error:
        raise UsageError(f"Cannot compare the runs: {error}.") from None
    if options.json:
        print_json({**drawn, "pairs": _as_dicts(found)})
    else:
        print("\n\n".join(table.as_text() for table in _tables(runs, specs, found, options)))
    return VALID


def _tables(
    runs: Mapping[str, Comparison], specs: list[MetricSpec], found: Mapping[str, Pairs], options: argparse.Namespace
) -> list[TextTable]:
    scores = {name: {spec.key: compute(comparison, spec) for spec in specs} for name, comparison in runs.items()}
    tables = []
    for first, second in combinations(runs, 2):
        rows = []
        for spec in specs:
            lead = found[spec.key].get(first, {}).get(second)
            bounds = astuple(lead) if lead else (None, None, None, None)
            rows.append((spec.key, scores[first][spec.key], scores[second][spec.key], *bounds))
        title = f"{first} and {second}: {options.rounds} samples, seed {options.seed}"
        head = ("metric", "first run", "second run", "lead", "low", "high", "p")
        tables.append(TextTable(title, head, tuple(rows)))
    return tables


def _as_dicts(found: Mapping[str, Pairs]) -> list[dict[str, object]]:
    return [
        {"metric": metric, "first": first, "second": second, **asdict(lead)}
        for metric, pairs in found.items()
        for first, others in pairs.items()
        for second, lead in others.items()
    ]
