"""Scoring one run against the newest gold standard of its track and split."""

from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog

from portal.evaluation.child import Child
from portal.evaluation.claim import claim_run, goes_by_this_scorer
from portal.evaluation.confined.runs import PIECE, Runs
from portal.evaluation.limits import CHILD_SECONDS, SCORED_BY_SCORER_SECONDS
from portal.evaluation.opened_gold import opened_gold
from portal.evaluation.own_scorers.scores import has_approved_scorer, has_own_columns, own_scores
from portal.evaluation.record import Scored, record_error, record_score
from portal.models import GoldStandard, GoldUpload, Run
from portal.models.clock import running_from
from portal.models.run import RunQuerySet
from portal.storage import stored_file

log = structlog.get_logger("portal.evaluation")


@dataclass(frozen=True, slots=True)
class Reader:
    """A child that has read an upload's runs, their entries, and the digest of the definition that it used."""

    child: Child
    entries: frozenset[str]
    definition_sha256: str

    def has(self, run: Run) -> bool:
        """Return whether the child can score the run without reading it again."""
        is_same = run.track.shared_task.definition_sha256 == self.definition_sha256
        return self.child.is_alive and run.entry in self.entries and is_same


def score_run(run_id: UUID, at: datetime) -> bool:
    """Claim the run, score it and record the result. Return True if an evaluation was written.

    The run is skipped if its upload is not accepted yet or its track has no gold.
    """
    run = scorable_runs().filter(pk=run_id).first()
    return run is not None and score(run, at)


def scorable_runs() -> RunQuerySet:
    """Return the runs that can be scored, with the related rows that `score` reads."""
    return Run.objects.scorable().exclude(state=Run.State.SCORED).select_related("track__shared_task", "phase")


def score(run: Run, at: datetime, reader: Reader | None = None) -> bool:
    """Score one of `scorable_runs`. The reader is used if it has read the run under the current rules."""
    shared_task = run.track.shared_task
    if not goes_by_this_scorer(shared_task):
        return False
    now = running_from(at)
    token = claim_run(run.pk, at)
    if token is None:
        return False
    # The rules, gold and scorer must be read after the claim; see `ask_again`.
    shared_task.refresh_from_db(fields=["scorer", "definition_sha256", "own_scorer_sha256"])
    gold = GoldStandard.objects.newest(run.track, run.phase.split)
    if gold is None or not goes_by_this_scorer(shared_task) or not has_approved_scorer(shared_task):
        return False
    logger = log.bind(run=str(run.pk), name=run.name, track=str(run.track))
    try:
        scored = compute(run, gold, reader)
    except Exception as error:
        record_error(run, token, error, now())
        return False
    if not record_score(run, token, gold, shared_task.scorer, scored, now()):
        logger.warning("scores arrived too late")
        return False
    logger.info("scored", gold=gold.version)
    return True


def compute(run: Run, gold: GoldStandard | GoldUpload, reader: Reader | None = None) -> Scored:
    """Return the run's scores, computed by the reader or by a new child that reads the run now.

    Raises:
        ChildError: the content crashes the child.
        OSError: storage or the machine failed, or the gold standard cannot be decrypted.
    """
    shared_task = run.track.shared_task
    standard = opened_gold(gold, shared_task.definition, shared_task.definition_sha256)
    if has_own_columns(run):
        return _with_own_scores(run, gold, standard)
    with _child_with(run, reader) as child:
        return Scored(**child.ask("score", run.entry, run.track.slug, standard))


def _with_own_scores(run: Run, gold: GoldStandard | GoldUpload, standard: bytes) -> Scored:
    """Return the run's scores, some of which the organizers' own scorer computes in another process.

    Only children open uploads, so one of them reads the run's content.
    """
    with _child_with(run, None, SCORED_BY_SCORER_SECONDS) as child:
        size = child.ask("size", run.entry)
        pieces = (b64decode(child.ask("piece", start)) for start in range(0, max(size, 1), PIECE))
        own = own_scores(run, gold, b"".join(pieces))
        child.grant(SCORED_BY_SCORER_SECONDS)
        scored = Scored(**child.ask("score", run.entry, run.track.slug, standard))
    return replace(scored, scores=scored.scores | own)


@contextmanager
def _child_with(run: Run, reader: Reader | None, seconds: float = CHILD_SECONDS) -> Iterator[Child]:
    """Yield a child that has read the run and has enough time left to score it."""
    if reader is not None and reader.has(run):
        # The check may have used most of the child's time.
        reader.child.grant(CHILD_SECONDS)
        yield reader.child
        return
    definition = run.track.shared_task.definition
    with stored_file(run.file_sha256) if run.file_sha256 else nullcontext() as file:
        runs = Runs(definition, run.phase.split, file)
        with Child(runs, [definition.folder, *([file] if file else [])], seconds) as child:
            # Only the gold standard, which is scored like a run, has no file.
            if file:
                child.ask("read", run.entry, run.track.slug, run.kind == Run.Kind.BASELINE)
            yield child
