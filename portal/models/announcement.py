"""Announcements by organizers."""

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.task import SharedTask


class Announcement(models.Model):
    """A short text in Markdown. Rows are never changed, only deleted."""

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="announcements")
    title = models.CharField(_("Title"), max_length=120)
    text = models.TextField(_("Text"), max_length=4000, validators=[MaxLengthValidator(4000)])
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return self.title

    @property
    def audit_subject(self) -> str:
        return f"announcement {self.title}"
