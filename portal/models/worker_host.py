"""The latest report from the worker on each machine: whether it can work, its version, and how far its clock is off."""

from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import models

from portal import __version__


class WorkerHostQuerySet(models.QuerySet["WorkerHost"]):
    def report(self, host: str, lane: str, at: datetime, clock_offset: float, missing: Sequence[str] = ()) -> None:
        """Save a worker's report. A worker that lacks something claims no work and reports again every few seconds."""
        said = {"at": at, "clock_offset": clock_offset, "missing": list(missing), "version": running_version()}
        self.update_or_create(host=host[:255], lane=lane, defaults=said)

    def forget(self, at: datetime) -> None:
        """Delete machines that have not reported for a day. Containers get a new name each time they start."""
        self.filter(at__lt=at - timedelta(days=1)).delete()


def running_version() -> str:
    """Return the version and the git revision of this process's code."""
    return f"{__version__} {settings.REVISION[:12]}".rstrip()


class WorkerHost(models.Model):
    host = models.CharField(max_length=255)
    lane = models.CharField(max_length=20)
    at = models.DateTimeField()  # according to the database's clock
    clock_offset = models.FloatField()  # by how many seconds the machine's clock is ahead of the database's
    missing = models.JSONField(default=list, blank=True)  # one sentence for each missing requirement
    version = models.CharField(max_length=60, blank=True, db_default="")  # of the worker's code, with the git revision

    objects = WorkerHostQuerySet.as_manager()

    class Meta:
        constraints = [models.UniqueConstraint(fields=("host", "lane"), name="worker_host_once_a_lane")]

    def __str__(self) -> str:
        return f"{self.lane} on {self.host}"
