"""Previews of gold: all scores with an uploaded gold standard, which are stored with the upload and not published.

`GoldUpload.preview` is {"changes": as in `check_gold_file`, "boards": [{"phase", "gold", "scorer", "runs": {run:
scores, or None if the run cannot be scored}, "groups", "groups_before": {run: tie group}}]}. All keys are primary keys.
"""

from collections.abc import Callable
from contextlib import ExitStack
from datetime import datetime
from typing import Any
from uuid import UUID

import structlog

from portal.evaluation.child import run_limited
from portal.evaluation.claim import claim_preview, goes_by_this_scorer
from portal.evaluation.compare import RUNS
from portal.evaluation.confined.compare import BoardRules, BoardRun, group_runs
from portal.evaluation.errors import ChildError
from portal.evaluation.limits import COMPARE_JOB_SECONDS, COMPARE_SECONDS, LEASE_SECONDS
from portal.evaluation.opened_gold import opened_gold
from portal.evaluation.record import record_error
from portal.evaluation.score import compute
from portal.models import Board, Evaluation, GoldStandard, GoldUpload, Run
from portal.models.clock import running_from
from portal.models.official import official_runs_of_teams
from portal.storage import stored_file

log = structlog.get_logger("portal.evaluation")

Renew = Callable[[float], None]


class _LeaseLostError(Exception):
    """Another worker has claimed the upload."""


def preview_gold(upload_id: UUID, at: datetime) -> bool:
    """Claim the upload, compute its preview and save it. Return True if the preview was written."""
    upload = GoldUpload.objects.select_related("track__shared_task").filter(pk=upload_id).first()
    if upload is None or not goes_by_this_scorer(upload.shared_task):
        return False
    now = running_from(at)
    token = claim_preview(upload_id, at)
    if token is None:
        return False
    mine = GoldUpload.objects.held(upload, token)

    def renew(seconds: float) -> None:
        if not mine.renew(now(), seconds):
            raise _LeaseLostError

    # Read before the first score, so that every later change makes the preview stale.
    basis = upload.basis_at(now())
    try:
        boards = [_board(upload, board, renew) for board in _boards(upload)]
    except _LeaseLostError:
        return False
    except Exception as error:
        record_error(upload, token, error, now())
        return False
    log.info("gold previewed", gold=str(upload.pk), boards=len(boards))
    ready = {"state": GoldUpload.State.READY, "preview": upload.preview | {"boards": boards}, "basis": basis}
    return bool(mine.release(postponed=0, **ready))


def _boards(upload: GoldUpload) -> list[Board]:
    found = Board.objects.filter(track=upload.track_id, phase__split=upload.split, gold__isnull=False)
    return list(found.select_related("phase", "gold", "track__shared_task").defer("comparison").order_by("phase"))


def _board(upload: GoldUpload, board: Board, renew: Renew) -> dict[str, Any]:
    assert board.gold is not None
    pair = board.phase, board.gold, board.scorer
    shown = list(Evaluation.objects.on_board(*pair).select_related("run", "run__track", "run__phase").defer("details"))
    runs = {evaluation.run_id: evaluation.run for evaluation in shown}
    scores = {}
    for run in runs.values():
        # All runs together may take longer than a lease.
        renew(LEASE_SECONDS)
        run.track = upload.track  # already loaded together with the shared task
        scores[run.pk] = _scores(run, upload)
    keys = {key: None if found is None else upload.track.rank_key(found) for key, found in scores.items()}
    official = set(Evaluation.objects.official(*pair).values_list("run", flat=True))
    before = {evaluation.run_id: evaluation.rank_key for evaluation in shown if evaluation.run_id in official}
    after = {run.pk: keys[run.pk] for run in official_runs_of_teams(board.phase.official, runs.values(), keys)}
    return {
        "phase": board.phase_id,
        "gold": board.gold_id,
        "scorer": board.scorer,
        "runs": {str(key): found for key, found in scores.items()},
        "groups": _groups(upload, upload, [runs[key] for key in _best(after)], renew),
        "groups_before": _groups(upload, board.gold, [runs[key] for key in _best(before)], renew),
    }


def _scores(run: Run, upload: GoldUpload) -> dict[str, float | None] | None:
    """Return the run's scores, or None if its content crashes the child. It would also crash after the change."""
    try:
        return compute(run, upload).scores
    except ChildError as error:
        log.warning("run not scored in a preview", run=str(run.pk), error=str(error))
        return None


def _best(keys: dict[UUID, float | None]) -> list[UUID]:
    ranked = [(value, key) for key, value in keys.items() if value is not None]
    return [key for _value, key in sorted(ranked)[:RUNS]]


def _groups(upload: GoldUpload, gold: GoldStandard | GoldUpload, runs: list[Run], renew: Renew) -> dict[str, int]:
    """Return the tie group of each run. Empty if the groups cannot be computed in time."""
    if len(runs) < 2:
        return {}
    renew(COMPARE_JOB_SECONDS)
    task = upload.shared_task
    opened = opened_gold(gold, task.definition, task.definition_sha256)
    rules = BoardRules(task.definition, upload.track.slug, upload.split, opened)
    with ExitStack() as files:
        here = [_as_compared(run, files) for run in runs]
        readable = [task.definition.folder, *(run.file for run in here)]
        try:
            found: dict[str, int] = run_limited(group_runs, rules, here, readable=readable, seconds=COMPARE_SECONDS)
        except ChildError as error:
            log.warning("tie groups not computed in a preview", gold=str(upload.pk), error=str(error))
            return {}
    return found


def _as_compared(run: Run, files: ExitStack) -> BoardRun:
    file = files.enter_context(stored_file(run.file_sha256))
    return BoardRun(str(run.pk), file, run.entry, is_baseline=False, is_teams=True)
