"""Announcements on a task's page and in its feed."""

from typing import Annotated

from django.utils.translation import gettext_lazy as _

from portal.actions.base.action import ActionCall, action
from portal.actions.base.input import column
from portal.actions.base.roles import ORGANIZERS
from portal.models import Announcement, SharedTask


@action(who=ORGANIZERS, says=_("published an announcement"))
def publish_announcement(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    title: Annotated[str, column(Announcement, "title", required=True)],
    text: Annotated[str, column(Announcement, "text", required=True)],
) -> Announcement:
    """Publish an announcement immediately. `text` is Markdown."""
    published = Announcement.objects.create(shared_task=shared_task, title=title, text=text, by=call.user, at=call.at)
    call.record(subject=published.audit_subject)
    return published


@action(name="take_back_announcement", who=ORGANIZERS, says=_("deleted an announcement"))
def delete_announcement(call: ActionCall, announcement: Announcement) -> None:
    """Delete an announcement. Its text is kept in the audit log."""
    announcement.delete()
    call.record(text=announcement.text)
