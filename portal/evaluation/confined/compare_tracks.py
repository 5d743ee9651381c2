"""Comparing teams over several tracks: intervals and ranks of mean scores."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from portal.evaluation.confined.compare import (
    LEVEL,
    ROUNDS,
    SEED,
    BoardRules,
    BoardRun,
    compared_with_gold,
    groups,
    ranking,
)
from scoring.significance import MeanScore, TrackRuns, mean_tests, sampled_means

METHOD = 2  # version of the methods and results; rankings compared with an earlier version are compared again


@dataclass(frozen=True, slots=True)
class TrackOfTeams:
    """A track in an overall ranking, with the teams' runs."""

    rules: BoardRules
    runs: Mapping[str, BoardRun]  # by team


def compare_tracks(
    tracks: Sequence[TrackOfTeams | None], teams: Sequence[str], mean: MeanScore, higher_is_better: bool
) -> dict[str, Any]:
    """Return bounds of mean scores and ranks by team as JSON values. All are empty if they cannot be computed."""
    found = sampled_means(map(_loaded, tracks), teams, mean, seed=SEED, rounds=ROUNDS, level=LEVEL)
    bounds = {} if found is None else found.intervals(LEVEL)
    tests = None if found is None else mean_tests(found, higher_is_better=higher_is_better)
    return {
        "rounds": ROUNDS,
        "seed": SEED,
        "level": LEVEL,
        "intervals": {team: [interval.low, interval.high] for team, interval in bounds.items()},
        "items": 0 if found is None else found.items,
        "groups": {} if tests is None else groups(tests),
        "ranking": {} if tests is None else ranking(tests),
    }


def _loaded(track: TrackOfTeams | None) -> TrackRuns | None:
    """Read the runs of a track. Return None if it has none.

    Raises:
        ValueError: a run cannot be read.
    """
    if track is None or not track.runs:
        return None
    compared = compared_with_gold(track.rules, track.runs.values())
    if len(compared) < len(track.runs):
        raise ValueError("scored, but can no longer be read")
    runs = {team: compared[run.key] for team, run in track.runs.items()}
    return TrackRuns(runs, track.rules.track.ranking_metric)
