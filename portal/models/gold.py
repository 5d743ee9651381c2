"""Versions of the hidden gold standard. Their files are sealed; see `portal.sealing`."""

from django.conf import settings
from django.db import models

from portal.models.task import SharedTask, Track


class GoldStandardQuerySet(models.QuerySet["GoldStandard"]):
    def newest(self, track: Track, split: str) -> "GoldStandard | None":
        """Return the newest version for a split of a track, if there is one."""
        return self.filter(track=track, split=split).order_by("-version").first()

    def last_imported(self, track: Track, split: str) -> "GoldStandard | None":
        """Return the version with the content of the last import, or None if gold was never imported."""
        return self.filter(track=track, split=split, is_imported=True).order_by("-version").first()


class GoldStandard(models.Model):
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="gold_standards")
    split = models.SlugField()
    version = models.PositiveIntegerField()
    # Hash of the encrypted file. Unlike a hash of the gold itself, it can't be used to confirm a guess.
    sealed_sha256 = models.CharField(max_length=64)
    is_imported = models.BooleanField(default=False)  # whether a task folder with this content was imported
    created_at = models.DateTimeField()
    listed_items = models.PositiveIntegerField(null=True)  # None if unknown
    split_items = models.PositiveIntegerField(null=True)
    # For a correction: the note shown on the leaderboards that it changes, and the person who applied it.
    note = models.CharField(max_length=300, blank=True, default="", db_default="")
    applied_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    objects = GoldStandardQuerySet.as_manager()

    class Meta:
        ordering = ("track", "split", "-version")
        constraints = [models.UniqueConstraint(fields=("track", "split", "version"), name="gold_version_once")]

    def __str__(self) -> str:
        return f"{self.track} {self.split} gold v{self.version}"

    @property
    def shared_task(self) -> SharedTask:
        return self.track.shared_task

    @property
    def counts(self) -> tuple[int, int] | None:
        """The number of items in the gold and the number of items that runs must have, or None if unknown."""
        if self.listed_items is None or self.split_items is None:
            return None
        return self.listed_items, self.split_items
