"""Monitoring data: counters that never decrease, and the latest results of periodic jobs."""

from collections.abc import Mapping
from datetime import datetime

from django.db import connection, models, transaction
from django.db.models import F


class TallyQuerySet(models.QuerySet["Tally"]):
    @transaction.atomic
    def add(self, counts: Mapping[tuple[str, str], float]) -> None:
        """Add to these counters, given by name and label. They are updated in a fixed order to avoid deadlocks."""
        wanted = sorted(key for key, count in counts.items() if count)
        Tally.objects.bulk_create([Tally(name=name, label=label) for name, label in wanted], ignore_conflicts=True)
        for name, label in wanted:
            self.filter(name=name, label=label).update(value=F("value") + counts[name, label])

    def mark(self, name: str, label: str) -> None:
        """Create this counter with the value 0 unless it exists."""
        with connection.cursor() as cursor:  # called for each upload, and Django would compose the SQL each time
            row = "INSERT INTO portal_tally (name, label, value) VALUES (%s, %s, 0) ON CONFLICT DO NOTHING"
            cursor.execute(row, [name, label])


class Tally(models.Model):
    """A counter, such as `uploads`, for one label, such as a task."""

    RECEIPT_KEY = "receipt_key"  # label: the id of a key that has signed receipts; it counts nothing

    name = models.CharField(max_length=40)
    label = models.CharField(max_length=100, blank=True)
    value = models.FloatField(default=0)

    objects = TallyQuerySet.as_manager()

    class Meta:
        verbose_name_plural = "tallies"
        constraints = [models.UniqueConstraint(fields=("name", "label"), name="tally_once")]

    def __str__(self) -> str:
        return f"{self.name} {self.label}: {self.value:g}"


class ReadingQuerySet(models.QuerySet["Reading"]):
    def note(self, name: str, at: datetime, value: float = 0) -> None:
        self.update_or_create(name=name, defaults={"at": at, "value": value})


class Reading(models.Model):
    """When a periodic job last ran, and its result."""

    BACKUP = "backup"  # value: number of missing or damaged files
    RESTORE = "restore"  # trial restore of a backup; value: number of problems
    RECONCILE = "reconcile"  # value: number of differences
    CERTIFICATE = "certificate"  # value: expiry in seconds since 1970
    COUNTED = "counted"  # time up to which finished work has been counted

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()
    value = models.FloatField(default=0)

    objects = ReadingQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}: {self.value:g}"
