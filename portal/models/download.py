"""Downloads of datasets. Each row is committed before the first byte is sent."""

from django.conf import settings
from django.db import models

from portal.models.task import SharedTask
from portal.models.team import Team


class Download(models.Model):
    """One download of a dataset. Downloads of public data have no user."""

    shared_task = models.ForeignKey(SharedTask, on_delete=models.PROTECT, related_name="downloads")
    dataset = models.CharField(max_length=80)  # the dataset's slug
    sha256 = models.CharField(max_length=64, blank=True)  # hash of the whole file
    first_byte = models.PositiveBigIntegerField(default=0)  # greater than 0 if a download was resumed
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="downloads")
    team = models.ForeignKey(Team, on_delete=models.PROTECT, null=True, related_name="downloads")
    address = models.GenericIPAddressField(null=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at",)

    def __str__(self) -> str:
        return f"{self.dataset} of {self.shared_task}, downloaded by {self.user or 'someone who was not signed in'}"

    @property
    def is_withdrawn(self) -> bool:
        """Whether the dataset is no longer available."""
        return self.shared_task.dataset(self.dataset) is None

    @property
    def is_replaced(self) -> bool:
        """Whether the dataset's file has been replaced since the download."""
        stored = self.shared_task.stored_dataset(self.dataset)
        return bool(self.sha256) and stored is not None and stored.sha256 != self.sha256
