"""Data for monitoring: counters that never decrease, and the last results of regular work."""

from collections.abc import Mapping
from datetime import datetime

from django.db import models, transaction
from django.db.models import F


class TallyQuerySet(models.QuerySet["Tally"]):
    @transaction.atomic
    def add(self, counts: Mapping[tuple[str, str], float]) -> None:
        """Add to each counter, given by its name and label, in a fixed order to avoid deadlocks."""
        wanted = sorted(key for key, count in counts.items() if count)
        Tally.objects.bulk_create([Tally(name=name, label=label) for name, label in wanted], ignore_conflicts=True)
        for name, label in wanted:
            self.filter(name=name, label=label).update(value=F("value") + counts[name, label])


class Tally(models.Model):
    """One counter, e.g. `uploads` of a task."""

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
    """When a piece of regular work was last done, and its result."""

    BACKUP = "backup"  # value: files that were missing or damaged
    RESTORE = "restore"  # a backup was restored on trial; value: its problems
    RECONCILE = "reconcile"  # value: differences
    CERTIFICATE = "certificate"  # value: when it expires, in seconds since 1970
    COUNTED = "counted"  # the time up to which finished work is counted

    name = models.CharField(max_length=20, unique=True)
    at = models.DateTimeField()
    value = models.FloatField(default=0)

    objects = ReadingQuerySet.as_manager()

    def __str__(self) -> str:
        return f"{self.name} at {self.at:%Y-%m-%d %H:%M:%S}: {self.value:g}"
