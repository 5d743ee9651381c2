"""Uploads of gold by organizers or imports. They are sealed, so only a worker can check them."""

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
        """Uploads of tasks that the user organizes. Their `preview` has scores, whatever the phase's embargo."""
        return self.filter(track__shared_task__in=SharedTask.objects.organized_by(viewer))


class GoldUpload(Evaluated):
    """A gold file that becomes the newest version if a worker finds it valid and new.

    If an organizer corrects gold that is in use, a worker first computes all scores with the file as a preview. The
    file becomes a version when an organizer applies it.
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

    UNDECIDED = (State.RECEIVED, State.CHECKING, State.PREVIEWING, State.READY)  # may still become a version

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="gold_uploads")
    split = models.SlugField()
    sealed_sha256 = models.CharField(max_length=64, blank=True)  # empty after the file of a rejected upload was deleted
    is_imported = models.BooleanField(default=False)  # imported by a process that lacks the key for comparing it
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    received_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # each from `Problem.as_dict`, without content of the file
    gold = models.ForeignKey(GoldStandard, on_delete=models.SET_NULL, null=True, related_name="uploads")
    checked_at = models.DateTimeField(null=True)
    listed_items = models.PositiveIntegerField(null=True)  # see `GoldStandard`
    split_items = models.PositiveIntegerField(null=True)
    preview = models.JSONField(default=dict)  # from portal.evaluation.preview, read by `portal.queries.gold_preview`
    basis = models.CharField(max_length=64, blank=True)  # state that the preview was computed from; see `basis_at`

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
        """Whether the upload's state no longer changes without an organizer."""
        return self.state == self.State.READY or self.state not in self.UNDECIDED

    def basis_at(self, at: datetime) -> str:
        """Return a digest of everything that a preview depends on. A preview with another digest is outdated.

        It covers the gold, scorer and rules in use, and the runs of closed phases. Open phases are left out: they get
        new runs, which do not change the runs in the preview.
        """
        task, newest = self.shared_task, GoldStandard.objects.newest(self.track, self.split)
        found: list[Any] = [newest and newest.pk, task.scorer, task.definition_sha256]
        for phase in task.phases.filter(split=self.split).prefetch_related("graces"):
            if phase.has_closed(at):
                runs = Run.objects.eligible().filter(phase=phase, track=self.track_id)
                counted = runs.exclude(team__in=Team.objects.shut_out(phase)).order_by("pk")
                found += [phase.slug, phase.official, *map(str, counted.values_list("pk", "chosen_at"))]
        return hashlib.sha256(json.dumps(found).encode()).hexdigest()

    @property
    def counts(self) -> tuple[int, int] | None:
        """Return the number of items listed and the number that runs must have, or None if unknown."""
        if self.listed_items is None or self.split_items is None:
            return None
        return self.listed_items, self.split_items
