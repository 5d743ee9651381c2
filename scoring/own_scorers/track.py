"""What an own scorer reads and computes for a track: the names of its files, and the metrics of its columns."""

from collections.abc import Mapping

from scoring.definition import Definition, Scorer, Track
from scoring.formats import suffix


def run_file(scorer: Scorer, track: Track) -> str:
    """Return the name under which the scorer finds a run."""
    return scorer.run_file or f"run{suffix(track)}"


def gold_file(scorer: Scorer, definition: Definition, track: str, split: str) -> str:
    """Return the name under which the scorer finds the gold of a track and split."""
    named = next((gold.file for gold in definition.gold if (gold.track, gold.split) == (track, split)), None)
    return scorer.gold_file or (named.name if named else "gold")


def of_metrics(track: Track, scores: Mapping[str, float | None]) -> dict[str, float | None]:
    """Return the values of the track's metrics by key. `scores` are the scorer's values by column."""
    return {spec.key: scores[str(spec.part)] for spec in track.scorer_metrics}
