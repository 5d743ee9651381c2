"""The latest report from the worker on each machine: whether it can work, and how far its clock is off."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.db import models


class WorkerHostQuerySet(models.QuerySet["WorkerHost"]):
    def report(self, host: str, lane: str, at: datetime, clock_offset: float, missing: Sequence[str] = ()) -> None:
        """Save a worker's report. A worker that lacks something claims no work and reports again every few seconds."""
        said = {"at": at, "clock_offset": clock_offset, "missing": list(missing)}
        self.update_or_create(host=host[:255], lane=lane, defaults=said)

    def forget(self, at: datetime) -> None:
        """Delete machines that have not reported for a day. Containers get a new name each time they start."""
        self.filter(at__lt=at - timedelta(days=1)).delete()


class WorkerHost(models.Model):
    host = models.CharField(max_length=255)
    lane = models.CharField(max_length=20)
    at = models.DateTimeField()  # according to the database's clock
    clock_offset = models.FloatField()  # by how many seconds the machine's clock is ahead of the database's
    missing = models.JSONField(default=list, blank=True)  # one sentence for each missing requirement

    objects = WorkerHostQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("host", "lane"), name="worker_host_once_a_lane")]

    def __str__(self) -> str:
        return f"{self.lane} on {self.host}"
