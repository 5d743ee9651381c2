"""Receipts for uploads, signed with the portal's key, and their verification."""

from datetime import UTC
from functools import lru_cache
from typing import Any

from django.conf import settings

from portal.models import Submission
from portal.secret import kept_secret
from scoring import receipts
from scoring.receipts import Verdict, new_private_key


def receipt(submission: Submission) -> dict[str, Any]:
    """Return the signed receipt, which says who sent which bytes and when they were received. It never changes."""
    runs = submission.runs.select_related("track").order_by("track__position", "number", "name")
    content = {
        "number": str(submission.pk),
        "shared_task": submission.shared_task.slug,
        "phase": submission.phase.slug,
        "team": submission.team.name,
        "file_name": submission.file_name,
        "size": submission.size,
        "sha256": submission.sha256,
        "runs": [{"id": str(run.pk), "name": run.name, "track": run.track.slug, "number": run.number} for run in runs],
        "received_at": submission.received_at.astimezone(UTC).isoformat(),
        "definition_sha256": submission.definition_sha256,
        "scorer": submission.scorer,
    }
    return receipts.sign(content, _private_key())


def verify(text: bytes) -> Verdict:
    """Check that this portal signed exactly this text."""
    return receipts.verify(text, public_key())


def public_key() -> str:
    """Return the public key for verifying receipts, in PEM format."""
    return receipts.public_key(_private_key())


def key_id() -> str:
    """Return the id of the key that signs receipts."""
    return _id_of(_private_key())


@lru_cache(maxsize=1)
def _id_of(private_key: str) -> str:
    return receipts.key_id(private_key)


def _private_key() -> str:
    given: str = settings.RECEIPT_KEY
    return given or kept_secret(settings.STATE_ROOT / "receipt-key.pem", new_private_key)
