"""Gold that organizers uploaded or imported. Its files are sealed, so only a worker can check them."""

import hashlib
import json
import uuid
from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.account import Viewer
from portal.models.gold import GoldStandard
from portal.models.lease import LeaseQuerySet
from portal.models.run import Evaluated, Run
from portal.models.task import SharedTask, Track
from portal.models.team import Team


class GoldUploadQuerySet(LeaseQuerySet["GoldUpload"]):
    def visible_to(self, viewer: Viewer) -> Self:
        """Select uploads for tasks that the user organizes.

        No one else may see them: their `preview` contains scores, even during the embargo.
        """
        return self.filter(track__shared_task__in=SharedTask.objects.organized_by(viewer))


class GoldUpload(Evaluated):
    """A gold file that becomes the newest version if a worker finds that it is valid and new.

    If the file corrects gold that is in use, a worker first computes a preview of all scores. The file then becomes a
    version only when an organizer applies it.
    """

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("checking")
        PREVIEWING = "previewing", _("computing preview")
        READY = "ready", _("ready to apply")
        ACCEPTED = "accepted", _("accepted")
        UNCHANGED = "unchanged", _("unchanged")
        REJECTED = "rejected", _("rejected")
        CONFLICT = "conflict", _("changed in the folder and on the page")
        FAILED = "failed", _("failed on our side")

    # States in which the upload may still become a version.
    UNDECIDED = (State.RECEIVED, State.CHECKING, State.PREVIEWING, State.READY)

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="gold_uploads")
    split = models.SlugField()
    # Empty after the file of a rejected upload has been deleted.
    sealed_sha256 = models.CharField(max_length=64, blank=True)
    is_imported = models.BooleanField(default=False)  # imported by a process that had no key to compare its content
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    received_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # list of `Problem.as_dict` values that quote nothing from the file
    gold = models.ForeignKey(GoldStandard, on_delete=models.SET_NULL, null=True, related_name="uploads")
    checked_at = models.DateTimeField(null=True)
    listed_items = models.PositiveIntegerField(null=True)  # see `GoldStandard`
    split_items = models.PositiveIntegerField(null=True)
    # From portal.evaluation.preview, read by `portal.queries.gold_preview`.
    preview = models.JSONField(default=dict, db_default={})
    # Digest of the state from which the preview was computed; see `basis_at`.
    basis = models.CharField(max_length=64, blank=True, default="", db_default="")

    objects = GoldUploadQuerySet.as_manager()

    class Meta:
        ordering = ("-received_at",)
        indexes = [models.Index(fields=("state", "lease_ends"), name="gold_work")]

    def __str__(self) -> str:
        return f"gold of {self.track}, {self.split}"

    @property
    def shared_task(self) -> SharedTask:
        return self.track.shared_task

    @property
    def audit_subject(self) -> str:
        return f"gold {self.track.slug} {self.split}"

    @property
    def is_finished(self) -> bool:
        """Whether the upload's state changes only if an organizer acts."""
        return self.state == self.State.READY or self.state not in self.UNDECIDED

    def basis_at(self, at: datetime) -> str:
        """Return a digest of everything that a preview depends on. A preview with a different digest is outdated.

        The digest covers the gold, scorer and rules in use, and the runs of closed phases. Runs of open phases are left
        out, because new ones do not affect the runs in the preview.
        """
        task, newest = self.shared_task, GoldStandard.objects.newest(self.track, self.split)
        found: list[Any] = [newest and newest.pk, task.scorer, task.definition_sha256]
        for phase in task.phases.filter(split=self.split).prefetch_related("extra_times"):
            if phase.has_closed(at):
                runs = Run.objects.eligible().filter(phase=phase, track=self.track_id)
                counted = runs.exclude(team__in=Team.objects.shut_out(phase)).order_by("pk")
                found += [phase.slug, phase.official, *map(str, counted.values_list("pk", "chosen_at"))]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()

    @property
    def counts(self) -> tuple[int, int] | None:
        """The number of items in the gold and the number of items that runs must have, or None if unknown."""
        if self.listed_items is None or self.split_items is None:
            return None
        return self.listed_items, self.split_items
