"""Task folders pushed by organizers: sealed on receipt, checked by a worker, and applied on request."""

import uuid
from datetime import datetime, timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from portal.models.account import User, Viewer
from portal.models.lease import Leased, LeaseQuerySet
from portal.models.task import SharedTask, definition_name

WAITS = timedelta(hours=1)  # maximum time to wait for a worker before the push fails
KEPT = timedelta(days=7)  # time after which a push that was not applied expires


class TaskPushQuerySet(LeaseQuerySet["TaskPush"]):
    def visible_to(self, user: Viewer) -> Self:
        """Select pushes for tasks that the user organizes, and the user's own pushes that have no task.

        Empty without a second factor. A token for one task does not see pushes that have no task.
        """
        if not (isinstance(user, User) and user.is_active and User.objects.with_second_factor(user).exists()):
            return self.none()
        of_tasks = Q(shared_task__in=SharedTask.objects.organized_by(user))
        if user.token is not None and user.token.shared_task_id is not None:
            return self.filter(of_tasks)
        return self.filter(of_tasks | Q(shared_task__isnull=True, sent_by=user.pk))

    def unfinished(self) -> Self:
        """Select pushes that are waiting for a worker."""
        return self.filter(state__in=TaskPush.UNFINISHED)

    def being_checked(self, at: datetime) -> Self:
        """Select pushes that a worker is checking."""
        return self.filter(state=TaskPush.State.CHECKING, lease_ends__gt=at)

    def without_task(self) -> Self:
        """Select pushes that no task needs anymore: they can never be applied, or their draft was deleted."""
        is_over = Q(state__in=(TaskPush.State.REJECTED, TaskPush.State.EXPIRED, TaskPush.State.FAILED))
        return self.filter(is_over | Q(state=TaskPush.State.APPLIED, shared_task__isnull=True))


class TaskPush(Leased):
    """A pushed zip. The first push of a task creates its draft. Later pushes are compared with the task."""

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("being checked")
        REJECTED = "rejected", _("rejected")
        READY = "ready", _("ready to apply")
        EXPIRED = "expired", _("expired")  # not applied in time
        APPLIED = "applied", _("applied")
        FAILED = "failed", _("failed on our side")

    UNFINISHED = (State.RECEIVED, State.CHECKING)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    shared_task = models.ForeignKey(SharedTask, on_delete=models.SET_NULL, null=True, related_name="pushes")
    is_first = models.BooleanField()  # whether the push creates a task
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    size = models.PositiveBigIntegerField()  # bytes of the sealed zip and, for a valid push, of its unpacked files
    # Hash of the sealed zip; empty after the zip is deleted.
    sealed_sha256 = models.CharField(max_length=64, blank=True)
    state = models.CharField(max_length=8, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # list of `Problem.as_dict` values that quote nothing from gold files
    changes = models.JSONField(default=list)  # one sentence per change
    effects = models.JSONField(default=list)  # effects on runs, deadlines and people
    difference = models.TextField(blank=True)  # unified diff of task.yaml
    touches_runs = models.BooleanField(default=False)  # whether applying the push needs a confirmation
    prepared = models.JSONField(
        default=dict
    )  # from `portal.actions.task_folder.pushed_folder`; emptied when the push is applied
    # names of the push's public files in storage; emptied when they are deleted
    files = models.JSONField(default=list, db_default=[])
    base = models.CharField(max_length=64, blank=True)  # digest of the task's state when the push was compared with it
    received_at = models.DateTimeField()
    checked_at = models.DateTimeField(null=True)
    applied_at = models.DateTimeField(null=True)

    objects = TaskPushQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("sent_by",), condition=Q(state__in=("received", "checking")), name="one_push_at_a_time"
            )
        ]
        indexes = [models.Index(fields=("state", "lease_ends"), name="push_work")]

    def __str__(self) -> str:
        return f"push {self.pk}"

    @property
    def audit_subject(self) -> str:
        return f"push {self.pk}"

    @property
    def is_finished(self) -> bool:
        """Whether the push's state changes only if an organizer acts."""
        return self.state not in self.UNFINISHED

    @property
    def definition_name(self) -> str:
        """The name of the pushed folder in storage. Empty if it is not stored."""
        return next((name for name in self.files if name.startswith(definition_name(""))), "")
