"""Comparing a board's runs with its gold and with each other: intervals, tie groups and results analysis."""

import pickle
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scoring import Definition
from scoring.analysis.details import field_details
from scoring.analysis.examples import examples
from scoring.analysis.slices import by_slice, names_of_slices
from scoring.definition import MetricSpec
from scoring.definition import Track as TrackDefinition
from scoring.metrics import Comparison, LoadedGold, compare
from scoring.score import run_answers
from scoring.significance import intervals, leads, rank_ranges, slice_gaps, tie_groups
from scoring.uploads.inspection import read_run

ROUNDS = 10_000
LEVEL = 0.95
SEED = 1  # arbitrary but fixed
FIELD = 30  # how many of the best runs can be shown side by side
METHOD = 3  # version of the methods and results; boards compared with an earlier version are compared again


@dataclass(frozen=True, slots=True)
class BoardRun:
    """A run on a board: its evaluation's key and its file."""

    key: str
    file: Path
    entry: str
    is_baseline: bool
    is_teams: bool


@dataclass(frozen=True, slots=True)
class BoardRules:
    """The data that a child needs to read and compare a board's runs. `gold` is a pickled `LoadedGold`."""

    definition: Definition
    slug: str  # the track's slug
    split: str
    gold: bytes

    @property
    def track(self) -> TrackDefinition:
        return self.definition.track(self.slug, self.split)


def compare_runs(
    rules: BoardRules, runs: Sequence[BoardRun], further: Sequence[BoardRun], reference: str | None
) -> dict[str, Any]:
    """Return bounds, tie groups and rank ranges by evaluation, and the results analysis, as JSON values.

    Args:
        further: more runs, which are ranked only by item slices.
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
        "examples": examples(rules.track, rules.split, compared),
        "gaps": _gaps(best, spec),
    }


def group_runs(rules: BoardRules, runs: Sequence[BoardRun]) -> dict[str, int]:
    """Return the tie groups of teams' runs by run key, computed in the same way as for a board."""
    return _groups(compared_with_gold(rules, runs), rules.track.ranking_metric)


def compared_with_gold(rules: BoardRules, runs: Iterable[BoardRun]) -> dict[str, Comparison]:
    """Map evaluations to comparisons with the gold. Runs that cannot be read are left out."""
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
                raise ValueError("scored, but can no longer be read")
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
    """Return each run's gaps by slicing: the slice, the better slice, the size of the gap, and its bounds."""
    names = names_of_slices(next(iter(best.values())).gold) if best else []
    if not names:
        return {}
    found = slice_gaps(best, spec, names, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        run: {
            name: [[gap.value, gap.behind, gap.gap, gap.low, gap.high] for gap in slicing.gaps]
            for name, slicing in by.items()
        }
        for run, by in found.items()
    }


def _leads(best: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, dict[str, list[float]]]:
    """Return each run's lead over each later run: lead, lower bound, upper bound and p-value."""
    found = leads(best, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    return {
        name: {other: [lead.lead, lead.low, lead.high, lead.p_value] for other, lead in others.items()}
        for name, others in found.items()
    }


def _groups(teams: Mapping[str, Comparison], spec: MetricSpec) -> dict[str, int]:
    if len(teams) < 2:
        return {}
    groups = tie_groups(teams, spec, seed=SEED, rounds=ROUNDS, alpha=1 - LEVEL)
    return {run.name: run.group for run in groups if run.group is not None}
