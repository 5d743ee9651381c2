"""Claims: who works on a row is decided by one conditional UPDATE, whose row count is the answer.

The condition names columns of the row alone. A joined one would become a subquery, which PostgreSQL does not look at
again when it has waited for another claim on the same row.
"""

from datetime import datetime, timedelta
from uuid import UUID, uuid4

import structlog
from django.db.models import Case, F, Q, QuerySet, When

from portal.evaluation.limits import ATTEMPTS, LEASE_SECONDS, LEASES_LOST
from portal.models import GoldUpload, Run, SharedTask, Submission
from scoring import __version__ as scorer_version

log = structlog.get_logger("portal.evaluation")


def claim_submission(submission_id: UUID, at: datetime) -> UUID | None:
    """The token of the one that may check this upload now; None when it is taken, done or given up."""
    mine = Submission.objects.filter(_free(Submission.State.CHECKING, at), pk=submission_id)
    return _claim(mine, at, state=Submission.State.CHECKING)


def claim_run(run_id: UUID, at: datetime) -> UUID | None:
    """The token of the one that may score this run now; None when it is taken, done or given up."""
    mine = Run.objects.filter(_free(Run.State.SCORING, at), pk=run_id)
    return _claim(mine, at, state=Run.State.SCORING, started_at=at)


def claim_gold(upload_id: UUID, at: datetime) -> UUID | None:
    """The token of the one that may judge this gold standard now; None when it is taken, done or given up."""
    mine = GoldUpload.objects.filter(_free(GoldUpload.State.CHECKING, at), pk=upload_id)
    return _claim(mine, at, state=GoldUpload.State.CHECKING)


def goes_by_this_scorer(shared_task: SharedTask) -> bool:
    """Whether this worker's scorer counts for the shared task; where it does not, other workers will take the work."""
    if shared_task.scorer == scorer_version:
        return True
    log.warning("refused: another scorer counts", task=shared_task.slug, scorer=shared_task.scorer, own=scorer_version)
    return False


def _free(busy: str, at: datetime) -> Q:
    lost = Q(state=busy, lease_ends__lte=at, leases_lost__lt=LEASES_LOST)
    return (Q(state=Run.State.RECEIVED) | lost) & Q(attempts__lt=ATTEMPTS)


def _claim(
    rows: QuerySet[Submission] | QuerySet[Run] | QuerySet[GoldUpload], at: datetime, state: str, **changes: object
) -> UUID | None:
    """Who claims a row that is claimed already counts a lost lease."""
    token = uuid4()
    lost = F("leases_lost") + Case(When(state=state, then=1), default=0)
    lease_ends = at + timedelta(seconds=LEASE_SECONDS)
    is_won = rows.update(token=token, lease_ends=lease_ends, leases_lost=lost, state=state, **changes)
    return token if is_won else None
