"""How often uploads were refused, and for what."""

from collections.abc import Iterable

from django.db import models
from django.db.models import F


class RefusalQuerySet(models.QuerySet["Refusal"]):
    def count_one(self, codes: Iterable[str]) -> None:
        """One refused upload more for each of these codes; in one order, so that no two wait for each other."""
        wanted = sorted(set(codes))
        Refusal.objects.bulk_create([Refusal(code=code) for code in wanted], ignore_conflicts=True)
        for code in wanted:
            self.filter(code=code).update(uploads=F("uploads") + 1)


class Refusal(models.Model):
    """One row a code, e.g. `missing-item` of the check or `no_runs_left` of the upload page."""

    code = models.CharField(max_length=60, unique=True)
    uploads = models.PositiveBigIntegerField(default=0)

    objects = RefusalQuerySet.as_manager()

    class Meta:
        ordering = ("code",)

    def __str__(self) -> str:
        return f"{self.code}: {self.uploads}"
