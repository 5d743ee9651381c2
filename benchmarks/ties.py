"""Simulate tests of all pairs and intervals to check their nominal rates: `python benchmarks/ties.py`.

`--json` prints JSON as the last line, and `--write` writes the page of the docs.

The simulations have a fixed seed, so the figures are the same each time. They show how often equally good runs are
found to differ at the 0.05 level, how often all 0.95 intervals of ranks contain the true ranks, and how often a 0.95
interval of a score contains the true value. They also show how many pairs of different runs are found to differ, both
with the correction used for ranks and with Holm's correction for all pairs.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import astuple, dataclass
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # one thread per process, because one process per core is faster

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path[0] = str(ROOT)  # replaces this folder, in which `scoring` is a different file

from benchmarks.simulated import equal_runs, graded_runs, one_run, spec_of, true_value  # noqa: E402
from scoring.metrics.metric import Numbers  # noqa: E402
from scoring.reports.tables import TextTable  # noqa: E402
from scoring.significance import interval, pair_tests, tie_groups  # noqa: E402
from scoring.significance.all_pairs import p_values  # noqa: E402
from scoring.significance.paired_tests import paired_p_values  # noqa: E402
from scoring.significance.ranking import found_better, rank_intervals  # noqa: E402
from scoring.significance.resampling import field_of  # noqa: E402

SPLIT_FIELDS = 2000  # simulated sets of runs per setting
COVERED_RUNS = 2000  # simulated runs per setting
RANKED_FIELDS = 400  # simulated sets of runs per setting
POWER_FIELDS = 60
POWER_ROUNDS = 4999  # Holm's correction for 190 pairs needs at least 3,799 rounds
ROUNDS = 599  # resamples in each simulation
ALPHA, LEVEL = 0.05, 0.95


@dataclass(frozen=True)
class Split:
    """Equally good runs that all give the same answer on a fraction `shared` of the items."""

    runs: int
    items: int
    shared: float
    key: str = "accuracy"


@dataclass(frozen=True)
class Cover:
    """A run that is correct on each item with a fixed probability."""

    key: str
    items: int
    right: float


@dataclass(frozen=True)
class Ranked:
    """Runs that are `equal`, one of them better (`one better`), all different (`graded`), or `correlated`.

    Correlated runs all give the same answer on 70% of the items. Half of them are equally good and better than the
    others, which are equally good, too.
    """

    kind: str
    runs: int
    items: int

    @property
    def rights(self) -> list[float]:
        """The probabilities that the runs are correct on items without a common answer, best first."""
        half = self.runs // 2
        rights: dict[str, list[float]] = {
            "equal": [0.7] * self.runs,
            "one better": [0.8] + [0.7] * (self.runs - 1),
            "graded": np.linspace(0.85, 0.6, self.runs).tolist(),
            "correlated": [0.75] * half + [0.65] * (self.runs - half),
        }
        return rights[self.kind]


SPLITS = [
    *(Split(runs, 200, shared) for runs in (2, 10, 20, 50) for shared in (0.0, 0.7)),
    Split(10, 50, 0.0),
    Split(10, 200, 0.0, "f1_macro"),
    Split(10, 200, 0.0, "icm"),
]
RANKINGS = [
    Ranked(kind, runs, items)
    for kind in ("equal", "one better", "graded", "correlated")
    for runs, items in ((2, 30), (10, 30), (10, 200), (50, 200), (20, 2000))
]
COVERS = [
    Cover("accuracy", 50, 0.97),
    Cover("accuracy", 50, 0.8),
    Cover("accuracy", 1000, 0.9),
    Cover("f1_macro", 50, 0.97),
    Cover("f1_macro", 200, 0.8),
    Cover("f1:b", 200, 0.9),
    Cover("kappa", 100, 0.9),
    Cover("mcc", 200, 0.7),
    Cover("icm", 100, 0.7),
    Cover("icm", 200, 0.7),
    Cover("icm", 200, 0.95),
    Cover("icm_norm", 200, 0.8),
]


def split_rate(setting: Split) -> float:
    """Return how often equally good runs are split into groups."""
    rng = np.random.default_rng([1, SPLITS.index(setting)])
    found = 0
    for seed in range(SPLIT_FIELDS):
        runs = equal_runs(rng, setting.runs, setting.items, 0.7, setting.shared)
        lines = tie_groups(runs, spec_of(setting.key), seed=seed, rounds=ROUNDS, alpha=ALPHA)
        found += lines[-1].group != 1
    return found / SPLIT_FIELDS


def coverage(setting: Cover) -> float:
    """Return how often the interval contains the run's score on a very large number of items."""
    rng = np.random.default_rng([2, COVERS.index(setting)])
    truth, found = true_value(setting.key, setting.right), 0
    for seed in range(COVERED_RUNS):
        run = one_run(rng, setting.items, setting.right)
        bounds = interval(run, spec_of(setting.key), seed=seed, rounds=ROUNDS, level=LEVEL)
        found += bounds is not None and bounds.low <= truth <= bounds.high
    return found / COVERED_RUNS


def rank_rates(setting: Ranked) -> tuple[float, float, float]:
    """Return how often all intervals contain the true ranks, and how often any equally good runs are found to differ.

    The last value is the share of pairs of different runs that are found to differ.
    """
    rng = np.random.default_rng([4, RANKINGS.index(setting)])
    rights = np.array(setting.rights)
    lowest = 1 + (rights[:, None] > rights).sum(axis=0)
    highest = (rights[:, None] >= rights).sum(axis=0)
    covered = false = pairs = 0
    for seed in range(RANKED_FIELDS):
        shared = 0.7 if setting.kind == "correlated" else 0.0
        runs = graded_runs(rng, rights.tolist(), setting.items, 0.7, shared)
        tests = pair_tests(runs, spec_of("accuracy"), seed=seed, rounds=ROUNDS, alpha=ALPHA)
        order = [list(runs).index(name) for name in tests.names]
        better = found_better(tests.values, tests.p_values, ALPHA)
        low, high = rank_intervals(better)
        covered += bool((low <= lowest[order]).all() and (high >= highest[order]).all())
        differ = rights[order][:, None] != rights[order]
        false += bool(better[~differ].any())
        pairs += int(np.count_nonzero(better & differ))
    different = np.count_nonzero(np.triu(rights[:, None] != rights)) * RANKED_FIELDS
    return covered / RANKED_FIELDS, false / RANKED_FIELDS, pairs / different if different else np.nan


def power(shared: float) -> tuple[float, float]:
    """Return the shares of pairs that max-T and Holm find to differ, for 20 runs of different quality on 500 items."""
    rng = np.random.default_rng([3, int(10 * shared)])
    first, second = np.triu_indices(20, 1)
    found = np.zeros(2)
    for _ in range(POWER_FIELDS):
        runs = graded_runs(rng, np.linspace(0.6, 0.85, 20).tolist(), 500, 0.7, shared)
        field = field_of(list(runs.values()), spec_of("accuracy"))
        samples = field.resampled(rng, POWER_ROUNDS)
        corrected = p_values(field.observed, samples - field.observed[:, None], field.items)[first, second]
        plain = paired_p_values(samples[first] - samples[second], field.observed[first] - field.observed[second])
        found += [np.mean(corrected <= ALPHA), np.mean(holm(plain) <= ALPHA)]
    by_max_t, by_holm = (found / POWER_FIELDS).tolist()
    return by_max_t, by_holm


def holm(p_values: Numbers) -> Numbers:
    """Correct p-values for the number of tests.

    The i-th smallest of m p-values is multiplied by m − i + 1, and is made at least as large as the ones before it.

    Source: Holm (1979), A simple sequentially rejective multiple test procedure.
    """
    order = np.argsort(p_values, kind="stable")
    result = np.empty(len(order))
    result[order] = np.minimum(1.0, np.maximum.accumulate(p_values[order] * np.arange(len(order), 0, -1)))
    return result


def main() -> None:
    """Simulate and print tables, and JSON as the last line if requested."""
    parser = argparse.ArgumentParser(description="Nominal rates of ranks, tests and intervals, by simulation.")
    parser.add_argument("--json", action="store_true", help="print the figures as one JSON object, as the last line")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/ties.md")
    options = parser.parse_args()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        largest_first = sorted(SPLITS, key=lambda setting: -setting.runs)
        splits = dict(zip(largest_first, pool.map(split_rate, largest_first), strict=True))
        covered = list(pool.map(coverage, COVERS))
        ranked = list(pool.map(rank_rates, RANKINGS))
        powers = list(pool.map(power, (0.0, 0.7)))
    tables = _tables([splits[setting] for setting in SPLITS], ranked, covered, powers)
    print("\n\n".join(table.as_text() for table in tables))
    if options.write:
        page = "\n\n".join([_INTRODUCTION, *map(_markdown, tables)])
        (ROOT / "docs" / "benchmarks" / "ties.md").write_text(page + "\n", encoding="utf-8")
    if options.json:
        found = {"false_split_max": max(splits.values()), "coverage_min": min(covered), "coverage_max": max(covered)}
        found["rank_coverage_min"] = min(rates[0] for rates in ranked)
        print(json.dumps({name: round(value, 4) for name, value in found.items()}))


def _tables(
    splits: list[float],
    ranked: list[tuple[float, float, float]],
    covered: list[float],
    powers: list[tuple[float, float]],
) -> list[TextTable]:
    return [
        TextTable(
            f"Equal runs that are found to differ at {ALPHA:g}, in {SPLIT_FIELDS:,} sets of runs each",
            ("runs", "items", "items with a common answer", "metric", "sets with a split"),
            tuple((*astuple(one), f"{rate:.3f}") for one, rate in zip(SPLITS, splits, strict=True)),
        ),
        TextTable(
            f"Ranks: intervals at {LEVEL:g} that all contain the true ranks, in {RANKED_FIELDS:,} sets of runs each",
            ("runs are", "runs", "items", "all covered", "equal runs differ", "different pairs found"),
            tuple(
                (*astuple(one), *("–" if np.isnan(rate) else f"{rate:.3f}" for rate in rates))
                for one, rates in zip(RANKINGS, ranked, strict=True)
            ),
        ),
        TextTable(
            f"Intervals at {LEVEL:g} that contain the true value, for {COVERED_RUNS:,} runs each",
            ("metric", "items", "share of correct items", "covered"),
            tuple((*astuple(one), f"{rate:.3f}") for one, rate in zip(COVERS, covered, strict=True)),
        ),
        TextTable(
            "Pairs of 20 runs (0.60 to 0.85 correct, 500 items) that are found to differ",
            ("items with a common answer", "max-T", "Holm"),
            tuple(
                (f"{shared:g}", *(f"{found:.3f}" for found in pair))
                for shared, pair in zip((0.0, 0.7), powers, strict=True)
            ),
        ),
    ]


_INTRODUCTION = """# Do ranks, tests and intervals maintain their nominal rates?

This page was generated by `python benchmarks/ties.py --write` from simulations with a fixed seed.
[scoring.md](../scoring.md#significance) explains how ranks and intervals are computed."""


def _markdown(table: TextTable) -> str:
    rows = [table.head, ["---"] * len(table.head), *table.rows]
    return "\n".join([f"## {table.title}", "", *("| " + " | ".join(map(str, row)) + " |" for row in rows)])


if __name__ == "__main__":
    main()
