"""Scores one run against the newest gold standard of its track and split."""

from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

import structlog

from portal.evaluation.child import run_limited
from portal.evaluation.claim import claim_run, goes_by_this_scorer
from portal.evaluation.opened_gold import opened_gold
from portal.evaluation.readable import require_readable
from portal.evaluation.record import Scored, record_error, record_score
from portal.models import GoldStandard, Run
from portal.models.clock import running_from
from portal.storage import stored_file
from scoring import Definition
from scoring import __version__ as scorer_version
from scoring.analysis.details import details
from scoring.metrics import LoadedGold
from scoring.score import score, score_gold
from scoring.uploads.inspection import read_run

log = structlog.get_logger("portal.evaluation")


def score_run(run_id: UUID, at: datetime) -> bool:
    """Claim, score and record; True when an evaluation was written.

    A run whose upload is not accepted yet, or whose track has no gold standard, stays as it is.
    """
    run = _scorable(run_id)
    if run is None or not goes_by_this_scorer(run.track.shared_task):
        return False
    now = running_from(at)
    token = claim_run(run_id, at)
    # Which pair counts is asked after the claim: see `ask_again`.
    gold = GoldStandard.objects.newest(run.track, run.phase.split)
    run.track.shared_task.refresh_from_db(fields=["scorer"])
    if token is None or gold is None or not goes_by_this_scorer(run.track.shared_task):
        return False
    logger = log.bind(run=str(run.pk), name=run.name, track=str(run.track))
    try:
        scored = compute(run, gold)
    except Exception as error:
        record_error(run, token, error, now())
        return False
    if not record_score(run, token, gold, scorer_version, scored, now()):
        logger.warning("scores came too late")
        return False
    logger.info("scored", gold=gold.version)
    return True


def compute(run: Run, gold: GoldStandard) -> Scored:
    """The scores, from a child with limits.

    Raises:
        ChildError: the content kills the child.
        OSError: storage or machine failed, or the gold standard cannot be opened.
    """
    definition = run.track.shared_task.definition  # read here, where it is kept for the next one
    standard = opened_gold(gold, definition, run.track.shared_task.definition_sha256)
    with stored_file(run.file_sha256) if run.file_sha256 else nullcontext() as file:
        readable = [definition.folder, *([file] if file else [])]
        return Scored(**run_limited(lambda: _score(run, file, standard, definition), readable))


def _scorable(run_id: UUID) -> Run | None:
    runs = Run.objects.scorable().select_related("track__shared_task", "phase")
    return runs.filter(pk=run_id).exclude(state=Run.State.SCORED).first()


def _score(run: Run, file: Path | None, standard: LoadedGold, definition: Definition) -> dict[str, Any]:
    """In the child: the scores as plain values. A baseline is scored as the official evaluators would, unjudged."""
    track, split = run.track.slug, run.phase.split
    if file is None:  # the gold standard, against itself
        result = score_gold(definition, track, standard, split)
    else:
        result = score(
            definition,
            track,
            read_run(file, run.entry),
            gold=standard,
            items=definition.track(track).items.get(split),
            lenient=run.kind == Run.Kind.BASELINE,
            split=split,
        )
    require_readable(result.report)
    if result.comparison is None:
        # Its upload was found to be right: then the gold standard and the public items do not belong together.
        raise ValueError("accepted by the check, rejected by the scorer")
    return {"scores": result.scores, "flags": result.flags, "details": details(result.comparison)}
