"""Telling everybody something on the task's page and in its feed, and taking it back."""

from datetime import datetime

from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.organizing import require_organizer
from portal.actions.refusal import NotAcceptable
from portal.actions.texts import checked_field
from portal.models import Announcement, AuditEntry, SharedTask, User


@transaction.atomic
def publish_announcement(user: User, shared_task: SharedTask, title: str, text: str, at: datetime) -> Announcement:
    """Say it from now on.

    Raises:
        NotAllowed: the user does not organize the task.
        NotAcceptable: title or text are empty, or too long.
    """
    require_organizer(user, shared_task)
    title = checked_field(title, Announcement._meta.get_field("title"))
    text = checked_field(text, Announcement._meta.get_field("text"))
    announcement = Announcement(shared_task=shared_task, title=title, text=text, by=user, at=at)
    try:
        announcement.clean_fields()
    except ValidationError:
        message = _("An announcement has a title of at most 120 characters and a text of at most 4,000.")
        raise NotAcceptable("announcement", message) from None
    announcement.save()
    _audit(user, announcement, "publish_announcement", at)
    return announcement


@transaction.atomic
def take_back_announcement(user: User, announcement: Announcement, at: datetime) -> None:
    """Say it no more; the audit keeps it.

    Raises:
        NotAllowed: the user does not organize the task.
    """
    require_organizer(user, announcement.shared_task)
    _audit(user, announcement, "take_back_announcement", at, text=announcement.text)
    announcement.delete()


def _audit(user: User, announcement: Announcement, verb: str, at: datetime, **detail: str) -> None:
    AuditEntry.objects.create(
        actor=user,
        shared_task=announcement.shared_task,
        verb=verb,
        subject=f"announcement {announcement.title}",
        detail=detail,
        at=at,
    )
