"""Uploads that are only validated. They use no quota, and their row and file are kept only briefly."""

import uuid
from datetime import timedelta
from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import Q

from portal.models.account import Viewer
from portal.models.lease import Leased, LeaseQuerySet
from portal.models.phase import Phase
from portal.models.team import Team

WAITS = timedelta(hours=1)  # maximum time to wait for a worker; after that, the validation fails
KEPT = timedelta(days=1)  # how long the report and its row are kept


class ValidationQuerySet(LeaseQuerySet["Validation"]):
    def visible_to(self, user: Viewer) -> Self:
        """Select the user's validations. No one else can see them, not even organizers."""
        return self.filter(user=user.pk) if user.is_active else self.none()

    def unfinished(self) -> Self:
        """Select validations that have not finished. Their files are still stored."""
        return self.filter(state__in=(Validation.State.WAITING, Validation.State.RUNNING))

    def rejected_or_fatal(self) -> Self:
        """Select validations of invalid files, and of files that crashed the child that read them.

        Outages do not count.
        """
        return self.filter(Q(report__ok=False) | Q(killed_check=True))


class Validation(Leased):
    """A file to validate. Each person can have only one at a time, so a new one replaces an unfinished one."""

    class State(models.TextChoices):
        WAITING = "waiting"
        RUNNING = "running"
        DONE = "done"
        REPLACED = "replaced"  # by another of the person's validations
        FAILED = "failed"  # because of an internal error, or because the check took too long

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="validations")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    slot = models.CharField(max_length=12, blank=True)  # the Run.Slot chosen on the page, or empty
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    sha256 = models.CharField(max_length=64)
    state = models.CharField(max_length=8, choices=State, default=State.WAITING)
    report = models.JSONField(default=dict)  # `portal.evaluation.validate.Report`; empty until the validation is done
    # Whether the portal started the validation because the names of an upload were rejected.
    for_rejected_upload = models.BooleanField(default=False, db_default=False)
    replaced_by = models.ForeignKey("self", on_delete=models.SET_NULL, null=True, related_name="+")
    killed_check = models.BooleanField(default=False)  # whether the child that checked the file died
    received_at = models.DateTimeField(db_index=True)
    finished_at = models.DateTimeField(null=True)

    objects = ValidationQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        constraints = [
            models.UniqueConstraint(
                fields=("user",), condition=Q(state__in=("waiting", "running")), name="one_validation_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"{self.file_name} of {self.user}"

    @property
    def is_finished(self) -> bool:
        return self.state not in (self.State.WAITING, self.State.RUNNING)
