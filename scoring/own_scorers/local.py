"""Running a task's own scorer on one's own computer, where nothing confines it."""

import tempfile
from pathlib import Path

from scoring import limits
from scoring.definition import Definition
from scoring.own_scorers.process import Job, run_scorer
from scoring.own_scorers.program import ScorerError, read_program
from scoring.own_scorers.track import of_metrics, run_file

_SLOWER = 6  # how many times as long a scorer may take here as its limit of CPU time

__all__ = ["ScorerError", "own_scores"]


def own_scores(definition: Definition, track: str, run: Path | bytes, gold: Path) -> dict[str, float | None]:
    """Run the scorer in the task's folder, and return the values of the track's metrics that it computes, by key.

    Raises:
        ScorerError: the scorer cannot be run, or fails.
        OSError: a file cannot be read, or no process can be started.
    """
    rules, scorer = definition.track(track), definition.scorer
    assert scorer is not None
    program = read_program(definition.folder, scorer)
    body = run if isinstance(run, bytes) else run.read_bytes()
    job = Job(
        program,
        track,
        {scorer.gold_file or gold.name: gold.read_bytes()},
        {run_file(scorer, rules): body},
        scorer.limits.seconds,
        scorer.limits.memory * limits.MEBIBYTE,
        scorer.limits.seconds * _SLOWER,
    )
    with tempfile.TemporaryDirectory(prefix="agon-scorer-") as work:
        found = run_scorer(job, scorer, Path(work).resolve())
    return of_metrics(rules, found.scores)
