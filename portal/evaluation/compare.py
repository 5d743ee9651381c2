"""Intervals of the scores and ranks of a board's runs, computed in the background and stored with the board."""

from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import structlog
from django.db.models import F, Q

from portal.evaluation.child import run_limited
from portal.evaluation.confined.compare import METHOD, BoardRules, BoardRun, compare_runs
from portal.evaluation.errors import ChildError
from portal.evaluation.limits import COMPARE_AGAIN_SECONDS, COMPARE_SECONDS
from portal.evaluation.opened_gold import opened_gold
from portal.models import Board, Evaluation, Phase, ReleasedBoard, Run
from portal.models.board import BoardQuerySet
from portal.models.task import by_engine, engine_of
from portal.storage import stored_file
from scoring import __version__ as scorer_version

log = structlog.get_logger("portal.evaluation")

RUNS = 300  # how many of the best runs to compare; comparing all pairs takes about ten seconds


def boards_to_refresh(among: BoardQuerySet, at: datetime) -> list[int]:
    """Select boards whose runs have changed, and released boards that are final but not saved yet.

    Hidden boards are not compared while their phase is open. A board that keeps changing is compared only at intervals.
    """
    boards = among.free(at).filter(gold__isnull=False).select_related("phase", "track__shared_task", "gold")
    boards = boards.defer("comparison")  # large if the board has many runs
    rested = Q(compared_at__isnull=True) | Q(compared_at__lte=at - timedelta(seconds=COMPARE_AGAIN_SECONDS))
    stale = boards.filter(rested, by_engine(scorer_version)).exclude(compared_revision=F("revision"))
    due = [board.pk for board in stale if board.phase.scores_are_public(at) or not board.phase.is_open(at)]
    return [*due, *(board.pk for board in boards.exclude(pk__in=due) if is_to_be_kept(board, at))]


def is_to_be_kept(board: Board, at: datetime) -> bool:
    """Return whether a released board is final but not saved yet."""
    phase = board.phase
    if phase.scores != Phase.Scores.ON_RELEASE or not phase.scores_are_public(at):
        return False
    if engine_of(board.scorer) == scorer_version and board.compared_revision != board.revision:
        return False  # scores from an older scorer are not compared again
    same = {"gold": board.gold, "scorer": board.scorer, "content__rank_by": board.track.definition.rank_by}
    kept = ReleasedBoard.objects.filter(track=board.track_id, phase=phase, **same)
    waiting = Run.objects.scorable().unfinished().filter(track=board.track_id, phase=phase)
    return not kept.exists() and not waiting.exists()


def compare_board(board: Board, at: datetime) -> None:
    """Update the comparison of the runs that the board shows now."""
    revision = board.revision
    evaluations = _compared_runs(board)
    further = _further_runs(board, evaluations) if board.slices_origin else []
    definition = board.track.shared_task.definition
    reference = _reference(board)
    comparison: dict[str, Any] = {
        "metric": definition.track(board.track.slug).rank_by,
        "evaluations": sorted(evaluation.pk for evaluation in evaluations),
        "reference": reference,
        "slices_origin": board.slices_origin,
        "examples_origin": board.examples_origin,
        "by_slice_alone": sorted(evaluation.pk for evaluation in further),
    }
    mine = Board.objects.filter(pk=board.pk)
    # Final boards keep the results of an earlier method.
    same_method = board.comparison.get("method", 1) == METHOD or board.keeps_scores(at)
    if same_method and all(board.comparison.get(key) == value for key, value in comparison.items()):
        mine.update(compared_revision=revision, compared_at=at)
        return
    try:
        with ExitStack() as files:
            runs, others = (
                [
                    board_run(evaluation, files.enter_context(stored_file(evaluation.run.file_sha256)))
                    for evaluation in some
                ]
                for some in (evaluations, further)
            )
            comparison |= run_limited(
                compare_runs,
                board_rules(board),
                runs,
                others,
                None if reference is None else str(reference),
                readable=[definition.folder, *(run.file for run in (*runs, *others))],
                seconds=COMPARE_SECONDS,
            )
    except OSError as error:
        log.warning("comparison failed and will be retried", board=str(board), error=str(error))
        # The revision is not recorded, so the board is compared again after a pause.
        mine.update(compared_at=at)
        return
    except ChildError as error:
        # Recorded without intervals, because the same runs would fail again.
        log.warning("no intervals", board=str(board), error=str(error))
    # The comparison changes the page, so the revision increases. If runs changed in the meantime, the two revisions
    # differ, and the board is compared again.
    mine.update(comparison=comparison, compared_at=at, compared_revision=revision + 1, revision=F("revision") + 1)
    log.info("compared", board=str(board), runs=len(evaluations))


def board_rules(board: Board) -> BoardRules:
    """Return the data that a child needs to compare the board's runs with its gold.

    Raises:
        OSError: as in `opened_gold`.
    """
    assert board.gold is not None
    shared_task = board.track.shared_task
    gold = opened_gold(board.gold, shared_task.definition, shared_task.definition_sha256)
    return BoardRules(shared_task.definition, board.track.slug, board.phase.split, gold)


def board_run(evaluation: Evaluation, file: Path) -> BoardRun:
    """Return the data that a child process needs to read the evaluated run from `file`."""
    run = evaluation.run
    return BoardRun(
        str(evaluation.pk), file, run.entry, run.kind == Run.Kind.BASELINE, is_teams=run.kind == Run.Kind.TEAM
    )


def _compared_runs(board: Board) -> list[Evaluation]:
    """Return the best official runs and the baselines for which the metric is defined."""
    assert board.gold is not None
    pair = (board.phase, board.gold, board.scorer)
    best = Evaluation.objects.official(*pair).filter(team__unranked_at__isnull=True).order_by("rank_key")
    others = Evaluation.objects.on_board(*pair).filter(run__kind=Run.Kind.BASELINE)
    found = [best.filter(rank_key__isnull=False)[:RUNS], others.filter(rank_key__isnull=False)]
    return [evaluation for part in found for evaluation in part.select_related("run").defer("details")]


def _further_runs(board: Board, compared: list[Evaluation]) -> list[Evaluation]:
    """Return the best of the other runs, because a board that lists all runs also ranks them by slice."""
    assert board.gold is not None
    here = Evaluation.objects.on_board(board.phase, board.gold, board.scorer)
    found = here.filter(team__isnull=False, rank_key__isnull=False).exclude(
        pk__in=[evaluation.pk for evaluation in compared]
    )
    return list(found.select_related("run").defer("details").order_by("rank_key", "pk")[:RUNS])


def _reference(board: Board) -> int | None:
    """Return the evaluation of the gold against itself, if it is on the board."""
    assert board.gold is not None
    here = Evaluation.objects.on_board(board.phase, board.gold, board.scorer)
    return here.filter(run__kind=Run.Kind.GOLD).values_list("pk", flat=True).first()
