"""What every action of an organizer begins and ends with: the permission, and an audit row."""

from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from portal.actions.errors import NotAllowed
from portal.models import AuditEntry, Phase, SharedTask, User
from portal.permissions import may_organize, organizes


def require_organizer(user: User, shared_task: SharedTask) -> None:
    """Refuse everyone who may not organize that task.

    Raises:
        NotAllowed: the user does not organize the task, or has no second factor.
    """
    if may_organize(user, shared_task):
        return
    if organizes(user, shared_task):
        raise NotAllowed("no_second_factor", _("Set up a second factor first: organizers need more than a password."))
    raise NotAllowed("no_organizer", _("Only the organizers of the task may do that."))


def locked_phase(user: User, phase: Phase) -> Phase:
    """The phase as it is now, for its organizer to change until the transaction ends; uploads go on."""
    require_organizer(user, phase.shared_task)
    return Phase.objects.select_for_update(of=("self",), no_key=True).select_related("shared_task").get(pk=phase.pk)


def audit_phase(user: User, phase: Phase, verb: str, at: datetime, **detail: Any) -> None:
    AuditEntry.objects.create(
        actor=user, shared_task=phase.shared_task, verb=verb, subject=f"phase {phase.slug}", detail=detail, at=at
    )
