"""Who did what, when: rows are added in the transaction of the deed and never changed."""

from django.conf import settings
from django.db import models

from portal.models.task import SharedTask


class AuditEntry(models.Model):
    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, null=True, related_name="audit_entries")
    verb = models.CharField(max_length=40)  # the action's name, e.g. "submit"
    subject = models.CharField(max_length=255)  # what it was done to, e.g. "submission 0f3c…"
    detail = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at",)
        verbose_name_plural = "audit entries"

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor or 'system'}: {self.verb} {self.subject}"
