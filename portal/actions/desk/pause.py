"""Pausing a task's uploads, for example during an outage on a deadline day, and resuming them."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict
from portal.actions.base.input import column
from portal.actions.base.roles import ORGANIZERS
from portal.models import SharedTask

NOT_PAUSED = Conflict.declare("not_paused", _("Uploads are not paused."))


@action(who=ORGANIZERS, says=_("paused uploads"), locks=True)
def pause_uploads(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    message: Annotated[str, column(SharedTask, "uploads_paused", required=True, title="Message")],
) -> None:
    """Accept no more uploads until they are resumed. Teams read the message. A second call replaces it.

    Files can still be validated. Deadlines don't move by themselves.
    """
    shared_task.uploads_paused = message
    shared_task.save(update_fields=["uploads_paused"])
    call.record(message=message)


@action(who=ORGANIZERS, says=_("resumed uploads"), errors=[NOT_PAUSED], locks=True)
def resume_uploads(call: ActionCall, shared_task: SharedTask) -> None:
    """Accept uploads again."""
    if not shared_task.uploads_paused:
        raise NOT_PAUSED()
    shared_task.uploads_paused = ""
    shared_task.save(update_fields=["uploads_paused"])
    call.record()
