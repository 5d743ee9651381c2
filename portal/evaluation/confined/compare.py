"""Comparing a board's runs with its gold and with each other: intervals, ranks and results analysis."""

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
from scoring.significance import PairTests, intervals, leads, pair_tests, slice_gaps
from scoring.uploads.inspection import read_run

ROUNDS = 10_000
LEVEL = 0.95
SEED = 1  # arbitrary but fixed
FIELD = 30  # how many of the best runs can be shown side by side
METHOD = 4  # version of the methods and results; boards compared with an earlier version are compared again


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
    """Return bounds of scores and ranks by evaluation, and the results analysis, as JSON values.

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
    tests = pair_tests(teams, spec, seed=SEED, rounds=ROUNDS, alpha=1 - LEVEL)
    return {
        "method": METHOD,
        "rounds": ROUNDS,
        "seed": SEED,
        "level": LEVEL,
        "intervals": {key: [found.low, found.high] for key, found in bounds.items() if found is not None},
        "items": len(next(iter(compared.values())).gold) if compared else 0,
        "groups": groups(tests),
        "ranking": ranking(tests),
        "leads": _leads(best, spec, tests),
        "field": field_details(best),
        "slices": _slices(rules, found, reference),
        "examples": examples(rules.track, rules.split, compared),
        "gaps": _gaps(best, spec),
    }


def group_runs(rules: BoardRules, runs: Sequence[BoardRun]) -> dict[str, int]:
    """Return the tie groups of teams' runs by run key, computed in the same way as for a board."""
    compared = compared_with_gold(rules, runs)
    return groups(pair_tests(compared, rules.track.ranking_metric, seed=SEED, rounds=ROUNDS, alpha=1 - LEVEL))


def groups(tests: PairTests) -> dict[str, int]:
    """Return the tie group of each tested run. Empty if there are fewer than two runs."""
    found = tests.grouped(1 - LEVEL) if len(tests.names) > 1 else []
    return {run.name: run.group for run in found if run.group is not None}


def ranking(tests: PairTests) -> dict[str, list[Any]]:
    """Return what `portal.queries.boards.rank_bounds` shows, by run. Empty if there are fewer than two runs.

    If an alphabet is not enough for the letters, they are left out, because a table of so many would not be readable.
    """
    found = tests.ranked(1 - LEVEL) if len(tests.names) > 1 else []
    is_readable = all(len(letter) == 1 for run in found for letter in run.letters)
    return {
        run.name: [
            run.low,
            run.high,
            run.is_like_best,
            run.is_ahead_of_next,
            "".join(run.letters) if is_readable else "",
        ]
        for run in found
    }


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


def _leads(best: Mapping[str, Comparison], spec: MetricSpec, tests: PairTests) -> dict[str, dict[str, list[float]]]:
    """Return each run's lead over each later run: lead, lower bound, upper bound, p-value and corrected p-value."""
    found = leads(best, spec, seed=SEED, rounds=ROUNDS, level=LEVEL)
    places = {name: place for place, name in enumerate(tests.names)}
    return {
        name: {
            other: [lead.lead, lead.low, lead.high, lead.p_value, float(tests.p_values[places[name], places[other]])]
            for other, lead in others.items()
        }
        for name, others in found.items()
    }
