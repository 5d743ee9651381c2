"""Comparison of a board's runs with its gold and with each other: intervals, tie groups, results analysis."""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring import Definition
from scoring.analysis.details import field_details
from scoring.analysis.slices import by_slice, names_of_slices
from scoring.definition import MetricSpec
from scoring.definition import Track as TrackDefinition
from scoring.metrics import Comparison, LoadedGold, compare
from scoring.score import run_answers
from scoring.significance import intervals, leads, rank_ranges, slice_gaps, tie_groups
from scoring.uploads.inspection import read_run

ROUNDS = 10_000
LEVEL = 0.95
SEED = 1  # any value, but fixed
FIELD = 30  # best runs that can be shown next to each other
METHOD = 2  # version of the methods for intervals and tie groups; 1: percentiles, and tests against the best run alone


@dataclass(frozen=True, slots=True)
class BoardRun:
    """A run of a board: the key of its evaluation, and its file."""

    key: str
    file: Path
    entry: str
    is_baseline: bool
    is_teams: bool


@dataclass(frozen=True, slots=True)
class BoardRules:
    """What is needed to read and compare a board's runs; `gold` is a pickled `LoadedGold`."""

    definition: Definition
    slug: str  # the track's slug
    split: str
    gold: bytes

    @property
    def track(self) -> TrackDefinition:
        return self.definition.track(self.slug)


def compare_runs(
    rules: BoardRules, runs: Sequence[BoardRun], further: Sequence[BoardRun], reference: str | None
) -> dict[str, Any]:
    """Bounds, groups and ranges of ranks by evaluation, and the results analysis, as plain values.

    Args:
        further: ranked by slices of the items only.
        reference: the evaluation of the gold against itself, if it is on the board.
    """
    spec = rules.track.ranking_metric
    found = compared_with_gold(rules, [*runs, *further])
    compared = {run.key: found[run.key] for run in runs}
    teams = {run.key: compared[run.key] for run in runs if run.is_teams}
    best = dict(list(teams.items())[:FIELD])
    bounds = intervals(compared, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        "method": METHOD,
        "rounds": ROUNDS,
        "seed": SEED,
        "level": LEVEL,
        "intervals": {key: [found.low, found.high] for key, found in bounds.items() if found is not None},
        "groups": _groups(teams, spec),
        "ranks": rank_ranges(teams, spec, seed=SEED, rounds=ROUNDS, level=LEVEL),
        "leads": _leads(best, spec),
        "field": field_details(best),
        "slices": _slices(rules, found, reference),
        "gaps": _gaps(best, spec),
    }


def group_runs(rules: BoardRules, runs: Sequence[BoardRun]) -> dict[str, int]:
    """Tie groups of teams' runs by their keys, as in a board's comparison."""
    return _groups(compared_with_gold(rules, runs), rules.track.ranking_metric)


def compared_with_gold(rules: BoardRules, runs: Iterable[BoardRun]) -> dict[str, Comparison]:
    """Comparisons by evaluation, without runs that cannot be read."""
    gold: LoadedGold = pickle.loads(rules.gold)  # noqa: S301 - from the worker
    items = rules.track.items.get(rules.split)
    compared = {}
    for run in runs:
        try:
            body = read_run(run.file, run.entry)
            answers, _report = run_answers(
                rules.definition, rules.slug, body, gold, items, run.is_baseline, rules.split
            )
            if answers is None:
                raise ValueError("scored, and not to be read any more")
        except Exception:
            continue
        compared[run.key] = compare(gold, answers, count_outside=rules.track.items_outside_gold == "count")
    return compared


def _slices(rules: BoardRules, compared: Mapping[str, Comparison], reference: str | None) -> dict[str, Any]:
    if not rules.track.slices or not compared:
        return {}
    gold = next(iter(compared.values())).gold
    itself = {} if reference is None else {reference: compare(gold, gold.answers)}
    return by_slice({**compared, **itself}, rules.track.metrics)


def _gaps(best: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, dict[str, Any]]:
    """Each gap of each run, by name of the slices: slice, the better one, size, and bounds."""
    names = names_of_slices(next(iter(best.values())).gold) if best else []
    if not names:
        return {}
    found = slice_gaps(best, spec, names, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        run: {
            name: [[gap.value, gap.behind, gap.gap, gap.low, gap.high] for gap in one.gaps] for name, one in by.items()
        }
        for run, by in found.items()
    }


def _leads(best: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, dict[str, list[float]]]:
    """Each run's lead over each later one: lead, lower bound, upper bound, p-value."""
    found = leads(best, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        name: {other: [one.lead, one.low, one.high, one.p_value] for other, one in others.items()}
        for name, others in found.items()
    }


def _groups(teams: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, int]:
    if len(teams) < 2:
        return {}
    groups = tie_groups(teams, spec, seed=SEED, rounds=ROUNDS, alpha=1 - LEVEL)
    return {one.name: one.group for one in groups if one.group is not None}
