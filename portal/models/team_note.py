"""Organizers' notes about teams. No one else sees them."""

from django.conf import settings
from django.core.validators import MaxLengthValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.task import SharedTask
from portal.models.team import Team


class TeamNote(models.Model):
    """A note. Rows are never changed, only deleted."""

    team = models.ForeignKey(Team, on_delete=models.CASCADE, related_name="+")
    text = models.TextField(_("Note"), max_length=2000, validators=[MaxLengthValidator(2000)])
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"note about {self.team}"

    @property
    def shared_task(self) -> SharedTask:
        return self.team.shared_task

    @property
    def audit_subject(self) -> str:
        return self.team.audit_subject
