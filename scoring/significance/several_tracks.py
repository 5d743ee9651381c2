"""Intervals, ranks and tie groups for mean scores over several tracks.

Tracks with the same items are scored on the same samples, so the correlation between a team's scores in these tracks
counts. Tracks without any common items are sampled independently. If tracks share only some of their items, there is no
valid way to draw them here, so there are no results.

The interval of a mean score combines the intervals of the team's scores in the tracks, which `score_intervals`
computes. With weights w that add up to 1, values v, lower ends l and the correlations r between the team's values on
samples, the lower end is Σ w·v − √(Σᵢⱼ rᵢⱼ · wᵢ(vᵢ − lᵢ) · wⱼ(vⱼ − lⱼ)), and the upper end accordingly: the method of
variance estimates recovery (Zou and Donner 2008, Statistics in Medicine 27). For a single track, it is the interval
from the track's leaderboard.

A sample on which a team's value in a track is undefined counts like a track without a run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np

from scoring.answers import Rows
from scoring.definition import MetricSpec
from scoring.metrics import LoadedGold
from scoring.metrics.combination import Combination
from scoring.metrics.comparison import Comparison
from scoring.metrics.metric import Numbers
from scoring.metrics.registry import contributions
from scoring.significance.confidence_intervals import Interval
from scoring.significance.inputs import ROUNDS, defined_values, require_valid
from scoring.significance.resampling import field_of
from scoring.significance.score_intervals import score_interval
from scoring.significance.tie_grouping import PairTests, pair_tests_on_samples

Missing = Literal["unranked", "zero", "skip"]


@dataclass(frozen=True, slots=True)
class TrackRuns:
    """The teams' runs in a track, all compared with the same gold standard, and the ranking metric."""

    runs: Mapping[str, Comparison]
    spec: MetricSpec


@dataclass(frozen=True, slots=True)
class MeanScore:
    """How scores are averaged: the tracks' weights, and how a track without a score counts."""

    weights: Sequence[float]
    missing: Missing

    def value(self, values: Sequence[float | None]) -> float | None:
        """Return the mean of one team's values, or None if the team is not ranked."""
        mean = float(self.of(np.array([np.nan if value is None else value for value in values])))
        return None if np.isnan(mean) else mean

    def of(self, values: Numbers) -> Numbers:
        """Return the means (…) of the values (…, tracks), NaN where undefined."""
        means = Combination.mean(self.weights, skips=self.missing == "skip")(values)
        left_out = np.isnan(values).any(axis=-1) if self.missing == "unranked" else np.isnan(values).all(axis=-1)
        return np.where(left_out, np.nan, means)

    def shares(self, values: Numbers) -> Numbers:
        """Return each track's weight in the mean of these values (tracks,). Undefined values have the weight 0."""
        has_value = ~np.isnan(values)
        weights = np.array(self.weights, np.float64)
        shares: Numbers = weights * has_value / (weights[has_value] if self.missing == "skip" else weights).sum()
        return shares


@dataclass(frozen=True, slots=True)
class SampledMeans:
    """The teams' mean scores, and their values on the samples.

    `values`, `lows` and `highs` have shape (teams, tracks) and are NaN where a team has no value. `samples` has shape
    (tracks, teams, rounds). Tracks with the same number in `groups` have the same items.
    """

    teams: Sequence[str]
    mean: MeanScore
    values: Numbers
    lows: Numbers
    highs: Numbers
    samples: Numbers
    groups: Sequence[int]
    items: int  # number of items in the track with the fewest

    def means(self) -> Numbers:
        """Return the teams' mean scores (teams,)."""
        return self.mean.of(self.values)

    def on_samples(self) -> Numbers:
        """Return the teams' mean scores on the samples (teams, rounds)."""
        return np.array([self.mean.of(own.T) for own in np.moveaxis(self.samples, 1, 0)])

    def intervals(self, level: float) -> dict[str, Interval]:
        """Return an interval for each team with a mean score. `level` must be the level of `lows` and `highs`."""
        found = {}
        for place, (team, value) in enumerate(zip(self.teams, self.means().tolist(), strict=True)):
            if not np.isnan(value):
                below, above = self._reaches(place)
                undefined = np.isnan(self.mean.of(self.samples[:, place].T))
                found[team] = Interval(value, value - below, value + above, level, int(undefined.sum()))
        return found

    def _reaches(self, place: int) -> tuple[float, float]:
        """Return how far the interval of a team reaches below and above its mean score."""
        values = self.values[place]
        present = np.flatnonzero(~np.isnan(values))
        shares = self.mean.shares(values)[present]
        correlations = np.array(
            [[self._correlation(place, track, other) for other in present.tolist()] for track in present.tolist()]
        )
        below = shares * np.maximum(0.0, values - self.lows[place])[present]
        above = shares * np.maximum(0.0, self.highs[place] - values)[present]
        return _length(below, correlations), _length(above, correlations)

    def _correlation(self, place: int, track: int, other: int) -> float:
        """Return the correlation between a team's values in two tracks.

        If the values in a track are the same on all samples, they are treated as fully correlated, to be safe.
        """
        if self.groups[track] != self.groups[other]:
            return 0.0
        first, second = self.samples[track, place], self.samples[other, place]
        defined = ~np.isnan(first + second)
        first, second = first[defined], second[defined]
        if track == other or not (len(first) and np.ptp(first) > 0 and np.ptp(second) > 0):
            return 1.0
        return float(np.corrcoef(first, second)[0, 1])


def sampled_means(
    tracks: Iterable[TrackRuns | None],
    teams: Sequence[str],
    mean: MeanScore,
    *,
    seed: int,
    rounds: int = ROUNDS,
    level: float = 0.95,
) -> SampledMeans | None:
    """Score the teams' runs on samples of the items.

    Only one track's runs are needed at a time, so `tracks` may be an iterator. A track without runs may be None. Memory
    use is 8 bytes × tracks × teams × rounds, plus that of one track.

    Returns:
        The values, or None if tracks share only some of their items or a metric cannot be broken down by item.
    """
    require_valid(rounds, "level", level)
    shape = (len(teams), len(mean.weights))
    values, lows, highs = (np.full(shape, np.nan) for _ in range(3))
    samples = np.full((shape[1], shape[0], rounds), np.nan)
    known: list[LoadedGold] = []  # one for each group of tracks with the same items
    groups: list[int] = []
    sizes: list[int] = []
    for at, track in enumerate(tracks):
        given = {} if track is None else {team: track.runs[team] for team in teams if team in track.runs}
        defined = {} if track is None else defined_values(given, track.spec)
        if track is None or not defined:
            groups.append(-1 - at)  # no other track has this number
            continue
        runs = [given[team] for team in defined]
        gold = runs[0].gold
        group = _group_of(gold, known)
        if group is None or any(contributions(run, track.spec) is None for run in runs):
            return None
        strata = _in_order_of(known[group], gold)
        drawn = field_of(runs, track.spec, strata).resampled(np.random.default_rng([seed, group]), rounds)
        for place, run, sample in zip(map(teams.index, defined), runs, drawn, strict=True):
            values[place, at] = defined[teams[place]]
            lows[place, at], highs[place, at] = score_interval(run, track.spec, values[place, at], sample, level)
            samples[at, place] = sample
        groups.append(group)
        sizes.append(len(gold))
    return SampledMeans(teams, mean, values, lows, highs, samples, groups, min(sizes, default=0))


def mean_tests(sampled: SampledMeans, *, higher_is_better: bool) -> PairTests:
    """Sort the teams by mean score and test all pairs, as `pair_tests` does for runs."""
    means, samples = sampled.means(), sampled.on_samples()
    places = np.flatnonzero(~np.isnan(means)).tolist()
    return pair_tests_on_samples(
        {sampled.teams[place]: float(means[place]) for place in places},
        samples[places],
        sampled.items,
        higher_is_better=higher_is_better,
    )


def _group_of(gold: LoadedGold, known: list[LoadedGold]) -> int | None:
    """Return the number of the group of tracks with the same items, starting a new one if there are no common items.

    Return None if only some items are the same.
    """
    ids = set(gold.answers.ids)
    for group, other in enumerate(known):
        common = len(ids.intersection(other.answers.ids))
        if common == len(ids) == len(other):
            return group
        if common:
            return None
    known.append(gold)
    return len(known) - 1


def _in_order_of(first: LoadedGold, gold: LoadedGold) -> list[Rows]:
    """Return the rows of each stratum, so that a sample contains the same items as for the group's first track."""
    if first.answers.ids == gold.answers.ids:
        return first.strata
    rows = gold.index.rows_of(first.answers.ids)
    return [rows[stratum] for stratum in first.strata]


def _length(reaches: Numbers, correlations: Numbers) -> float:
    return sqrt(max(0.0, float(reaches @ correlations @ reaches)))
