"""What organizers did to the window of a phase, for everybody to read."""

from django.conf import settings
from django.db import models

from portal.models.phase import Phase


class PhaseChange(models.Model):
    """A window that was moved; rows are never changed."""

    phase = models.ForeignKey(Phase, on_delete=models.CASCADE, related_name="changes")
    opens_before = models.DateTimeField()
    opens_after = models.DateTimeField()
    closes_before = models.DateTimeField(null=True)
    closes_after = models.DateTimeField(null=True)
    note = models.CharField(max_length=300)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+"
    )  # None: an import
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.phase} moved"
