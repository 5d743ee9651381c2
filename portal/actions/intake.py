"""What every upload passes first, submitted or validated only: its body, its sender's signature, the window."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from django.utils.translation import gettext_lazy as _
from pydantic import StringConstraints

from portal.actions.errors import ActionError, NotAllowed, TooLarge
from portal.actions.input import column
from portal.actions.roles import NO_TEAM
from portal.models import Phase, Refusal, Submission, Team, User
from portal.permissions import has_signed, team_of
from portal.storage import StoredUpload, UploadTooLarge, store_upload
from scoring.limits import UPLOAD_BYTES

TOO_LARGE = TooLarge.declare("too_large", _("The file is too large. Use at most %(limit)d bytes."))
UNSIGNED = NotAllowed.declare("unsigned", _("Sign the data agreement of this task first, then upload the file again."))
PHASE_CLOSED = NotAllowed.declare("phase_closed", _("%(phase)s doesn’t accept runs now."))

FileName = Annotated[  # spaces at its ends are the sender's: names are judged as they are
    str, StringConstraints(strip_whitespace=False), column(Submission, "file_name", required=True, title="File name")
]


@dataclass(frozen=True, slots=True)
class Sending:
    """Who uploads for which team and phase, when the whole body was in; `slot` is one of Run.Slot or empty."""

    user: User
    team: Team
    phase: Phase
    at: datetime
    slot: str


def sending(user: User, phase: Phase, at: datetime, slot: str) -> Sending:
    """For the team that the person is in; whether that takes part is for the role TAKING_PART to say."""
    team = team_of(user, phase.shared_task)
    if team is None:
        raise NO_TEAM()
    return Sending(user, team, phase, at, slot)


def receive(content: Iterable[bytes], name: str) -> StoredUpload:
    """The body in a temporary file, hashed and synced; as a context manager it is deleted unless it was kept.

    Raises:
        ActionError: TOO_LARGE.
    """
    try:
        return store_upload(content, name, UPLOAD_BYTES)
    except UploadTooLarge:
        raise too_large() from None


def too_large() -> ActionError:
    """The error for a body over the limit, counted: to raise once its length is known, read or not."""
    Refusal.objects.count_one([TOO_LARGE.code])
    return TOO_LARGE(limit=UPLOAD_BYTES)


def require_signature(given: Sending) -> None:
    if not has_signed(given.user, given.team.shared_task):
        raise UNSIGNED()


def require_open(given: Sending) -> None:
    """For uploads that reserve no quota; for all others the statement that does so decides.

    The caller may have read the phase a while ago, so the database is asked about one that is closed.
    """
    phase, at, team_id = given.phase, given.at, given.team.pk
    if not phase.is_open(at, team_id) and not Phase.objects.open(at, team_id).filter(pk=phase.pk).exists():
        raise PHASE_CLOSED(phase=phase.title)
