"""The rows that someone may see, with the related rows that pages, the API and exports show. They only filter them."""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import QuerySet

from portal.models import (
    Announcement,
    AuditEntry,
    ReleasedBoard,
    Run,
    SharedTask,
    Submission,
    TaskPush,
    Validation,
    Viewer,
)


def visible_runs(viewer: Viewer) -> QuerySet[Run]:
    return Run.objects.visible_to(viewer).select_related("track__shared_task", "phase", "team")


def visible_submissions(viewer: Viewer) -> QuerySet[Submission]:
    return Submission.objects.visible_to(viewer).select_related("phase", "team", "sent_by", "shared_task")


def visible_validations(viewer: Viewer) -> QuerySet[Validation]:
    return Validation.objects.visible_to(viewer).select_related(
        "phase__shared_task", "team", "user", "replaced_by__phase__shared_task"
    )


def visible_pushes(viewer: Viewer) -> QuerySet[TaskPush]:
    return TaskPush.objects.visible_to(viewer).select_related("shared_task", "sent_by")


def public_releases(at: datetime) -> QuerySet[ReleasedBoard]:
    """Return the released boards that everyone may see, newest first."""
    found = ReleasedBoard.objects.public(at).order_by("-at", "-pk")
    return found.select_related("track__shared_task", "phase__shared_task", "gold")


def announcements_of(shared_tasks: Iterable[SharedTask]) -> QuerySet[Announcement]:
    """Return the announcements of tasks that the viewer may see, newest first."""
    return Announcement.objects.filter(shared_task__in=shared_tasks).select_related("shared_task", "by")


def audit_log(shared_task: SharedTask, verb: str = "") -> QuerySet[AuditEntry]:
    """Return the task's audit log for its organizers, newest first, optionally for only one kind of event."""
    found = AuditEntry.objects.filter(shared_task=shared_task).select_related("actor").order_by("-at", "-pk")
    return found.filter(verb=verb) if verb else found
