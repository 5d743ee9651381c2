"""The scores that a task's own scorer gives a run, if an administrator has approved the scorer."""

from collections.abc import Mapping

from portal.evaluation.errors import ChildError, HostError
from portal.evaluation.limits import SCORER_WALL_SECONDS
from portal.evaluation.own_scorers.confined import run_confined
from portal.models import GoldStandard, GoldUpload, OwnScorer, OwnScorerMessage, Run, SharedTask
from portal.models.clock import database_now
from portal.models.task import engine_of, with_own_scorer
from portal.storage import open_gold
from scoring import limits
from scoring.own_scorers.process import Job
from scoring.own_scorers.program import Program, ScorerError
from scoring.own_scorers.track import gold_file, of_metrics, run_file


def has_own_columns(run: Run) -> bool:
    """Return whether the task's own scorer computes some of the run's scores. It never scores the gold itself."""
    return run.kind != Run.Kind.GOLD and bool(run.track.definition_in(run.phase.split).scorer_metrics)


def has_approved_scorer(shared_task: SharedTask) -> bool:
    """Return whether the task has no own scorer, or goes by one that an administrator has approved."""
    sha256 = shared_task.own_scorer_sha256
    if not sha256:
        return True
    goes_by_it = shared_task.scorer == with_own_scorer(engine_of(shared_task.scorer), sha256)
    return goes_by_it and OwnScorer.objects.of(shared_task).approved().exists()


def approved_program(shared_task: SharedTask) -> Program:
    """Return the program of the task's own scorer.

    This is the only way to a scorer's files that runs them, so it checks again what `RunQuerySet.scorable` selects by.

    Raises:
        HostError: no administrator has approved these files and this call.
    """
    row = OwnScorer.objects.of(shared_task).approved().first()
    if row is None:
        raise HostError("the task's own scorer waits for an administrator's approval")
    program = row.program
    if program.sha256 != row.sha256:
        raise HostError("the files of the own scorer are not those that an administrator approved")
    return program


def own_scores(run: Run, gold: GoldStandard | GoldUpload, body: bytes) -> dict[str, float | None]:
    """Run the own scorer confined, and return the values of the track's metrics that it computes, by key.

    What it prints is kept for organizers.

    Raises:
        ChildError: the scorer fails on this run.
        OSError: the scorer is not approved, or this machine cannot confine it.
    """
    shared_task = run.track.shared_task
    definition, program = shared_task.definition, approved_program(shared_task)
    scorer, rules, split = definition.scorer, run.track.definition, run.phase.split
    assert scorer is not None  # a track has no columns of a scorer without one
    job = Job(
        program,
        run.track.slug,
        {gold_file(scorer, definition, run.track.slug, split): open_gold(gold.sealed_sha256)},
        {run_file(scorer, rules): body},
        scorer.limits.seconds,
        scorer.limits.memory * limits.MEBIBYTE,
        SCORER_WALL_SECONDS,
    )
    try:
        output = run_confined(job, scorer)
    except ScorerError as error:
        _keep(run, program, str(error), error.messages)
        raise ChildError(str(error)) from None
    _keep(run, program, "", output.messages)
    return of_metrics(rules, output.scores)


def _keep(run: Run, program: Program, error: str, printed: str) -> None:
    values: Mapping[str, object] = {
        "sha256": program.sha256,
        "error": error.replace("\0", "�").encode(errors="replace").decode(),
        "printed": printed,
        "at": database_now(),
    }
    OwnScorerMessage.objects.update_or_create(run=run, defaults=values)
