"""The first steps of every upload, submitted or only validated: receiving it, and checking the agreement and window."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import StringConstraints

from portal.actions.base.errors import ActionError, Conflict, NotAllowed, TooLarge
from portal.actions.base.input import column
from portal.models import Phase, Refusal, Submission, Team, User
from portal.permissions import has_signed
from portal.storage import StoredUpload, UploadTooLarge, store_upload
from scoring.limits import UPLOAD_BYTES

TOO_LARGE = TooLarge.declare("too_large", _("The file is too large. The limit is %(limit)d bytes."))
UNSIGNED = NotAllowed.declare("unsigned", _("Sign this task’s data agreement first, then upload the file again."))
PHASE_CLOSED = NotAllowed.declare("phase_closed", _("%(phase)s is not accepting runs at the moment."))

PAUSED = Conflict.declare(
    "uploads-paused", _("The organizers have paused uploads: %(message)s This upload used no quota.")
)

FileName = Annotated[  # not stripped, because names are checked exactly as given
    str, StringConstraints(strip_whitespace=False), column(Submission, "file_name", required=True, title="File name")
]


@dataclass(frozen=True, slots=True)
class Sending:
    """The user, team and phase of an upload, and when its whole body was received. `slot` is a `Run.Slot` or empty.

    `fields` has the values of the task's run fields for all runs of the upload.
    """

    user: User
    team: Team
    phase: Phase
    at: datetime
    slot: str
    fields: Mapping[str, str] = field(default_factory=dict)


def receive(content: Iterable[bytes], name: str) -> StoredUpload:
    """Write the content to a temporary file, hash it and sync it to disk.

    The result is a context manager that deletes the file on exit unless the file was kept.

    Raises:
        ActionError: TOO_LARGE.
    """
    try:
        return store_upload(content, name, UPLOAD_BYTES)
    except UploadTooLarge as error:
        raise too_large(limit=error.limit) from None


def too_large(limit: int) -> ActionError:
    """Count an upload whose body exceeds the limit, and return the error for the caller to raise."""
    Refusal.objects.count_one([TOO_LARGE.code])
    return TOO_LARGE(limit=limit)


def require_signature(given: Sending) -> None:
    """Check that no agreement is left to sign. Signatures are never withdrawn, so each upload is checked only once."""
    if not has_signed(given.user, given.phase.shared_task):
        raise UNSIGNED()


def require_not_paused(message: str) -> None:
    """Check that organizers have not paused the task's uploads: `message` is `SharedTask.uploads_paused`."""
    if message:
        raise PAUSED(message=message)


def require_open(given: Sending) -> None:
    """Check that the phase is open, for uploads that reserve no quota. Reserving quota includes this check.

    The phase may have been loaded some time ago, so it is read again if it seems closed.
    """
    phase, at, team_id = given.phase, given.at, given.team.pk
    if not phase.is_open(at, team_id) and not Phase.objects.open(at, team_id).filter(pk=phase.pk).exists():
        raise PHASE_CLOSED(phase=phase.title)
