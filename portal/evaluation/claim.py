"""Claiming uploads, runs and gold files. A worker whose scorer is not the task's claims only checks of gold."""

from datetime import datetime
from typing import Any
from uuid import UUID

import structlog
from django.db.models import Case, F, Q, When

from portal.evaluation.limits import ATTEMPTS, LEASE_SECONDS, LEASES_LOST
from portal.models import GoldUpload, Run, SharedTask, Submission
from portal.models.lease import LeaseQuerySet
from portal.models.task import engine_of
from scoring import __version__ as scorer_version

log = structlog.get_logger("portal.evaluation")


def claim_submission(submission_id: UUID, at: datetime) -> UUID | None:
    """Claim the upload for its check and return the token, or None if it is already claimed, finished or abandoned."""
    waiting = Submission.objects.unchecked().filter(pk=submission_id)
    return _claim(waiting, Submission.State.CHECKING, at, started_at=at)


def claim_run(run_id: UUID, at: datetime) -> UUID | None:
    """Claim the run for scoring and return the token, or None if it is already claimed, finished or abandoned."""
    return _claim(Run.objects.unfinished().filter(pk=run_id), Run.State.VALID, at, started_at=at)


def claim_gold(upload_id: UUID, at: datetime) -> UUID | None:
    """Claim the gold standard for its check and return the token.

    Return None if it is already claimed, finished or abandoned.
    """
    waiting = GoldUpload.objects.filter(pk=upload_id, state__in=(GoldUpload.State.RECEIVED, GoldUpload.State.CHECKING))
    return _claim(waiting, GoldUpload.State.CHECKING, at)


def claim_preview(upload_id: UUID, at: datetime) -> UUID | None:
    """Claim the gold standard for its preview and return the token, or None as in `claim_gold`."""
    waiting = GoldUpload.objects.filter(pk=upload_id, state=GoldUpload.State.PREVIEWING)
    return _claim(waiting, GoldUpload.State.PREVIEWING, at)


def goes_by_this_scorer(shared_task: SharedTask) -> bool:
    """Return whether this worker has the shared task's scorer version. If it does not, other workers claim the work."""
    if engine_of(shared_task.scorer) == scorer_version:
        return True
    log.warning(
        "not claimed: the task uses another scorer",
        task=shared_task.slug,
        scorer=shared_task.scorer,
        own=scorer_version,
    )
    return False


def _claim(rows: LeaseQuerySet[Any], busy: str, at: datetime, **changes: object) -> UUID | None:
    """Claim one of these rows, which are waiting or held. An earlier claim whose lease has ended counts as lost."""
    # Rows on which too many workers died are left to the sweep, which quarantines them.
    is_hopeful = Q(token__isnull=True) | Q(leases_lost__lt=LEASES_LOST)
    waiting = rows.filter(is_hopeful, attempts__lt=ATTEMPTS)
    lost = F("leases_lost") + Case(When(token__isnull=False, then=1), default=0)
    return waiting.claim(at, LEASE_SECONDS, state=busy, leases_lost=lost, **changes)
