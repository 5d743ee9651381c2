"""Uploads rejected when they were received, because of their names or structure. They have no runs and no file."""

import uuid

from django.conf import settings
from django.db import models

from portal.models.phase import Phase
from portal.models.task import SharedTask
from portal.models.team import Team

PROBLEMS = 100  # most problems kept for an upload


class RejectedUpload(models.Model):
    """An upload that was rejected before it was stored. Organizers see it next to the stored ones.

    A person can only have a limited number of these per hour (`portal.actions.uploads.rejections`).
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="rejected_uploads")
    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="+")
    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="rejected_uploads")
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    file_name = models.CharField(max_length=255)
    size = models.PositiveBigIntegerField()
    problems = models.JSONField(default=list)
    problem_codes = models.TextField(default="")  # see `Submission.problem_codes`
    received_at = models.DateTimeField()

    class Meta:
        ordering = ("-received_at",)
        indexes = [models.Index(fields=("shared_task", "-received_at"), name="rejected_upload_of_task")]

    def __str__(self) -> str:
        return f"{self.file_name} of {self.team}"
