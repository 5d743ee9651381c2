"""Uploads of gold, by organizers or imports: sealed, so only a worker can check them."""

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
        """Uploads of tasks that the person organizes: `preview` has scores, whatever the phases say."""
        return self.filter(track__shared_task__in=SharedTask.objects.organized_by(viewer))


class GoldUpload(Evaluated):
    """Waits for a worker, and becomes the newest version if it is valid and new.

    An organizer's correction of a gold standard in use is previewed first: a worker computes all scores by it, and the
    file becomes a version once an organizer applies it.
    """

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("being checked")
        PREVIEWING = "previewing", _("its effect is being computed")
        READY = "ready", _("ready to apply")
        ACCEPTED = "accepted", _("accepted")
        UNCHANGED = "unchanged", _("the same as before")
        REJECTED = "rejected", _("rejected")
        CONFLICT = "conflict", _("changed in the folder and on the page")
        FAILED = "failed", _("failed on our side")

    UNDECIDED = (State.RECEIVED, State.CHECKING, State.PREVIEWING, State.READY)  # it may still become a version

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="gold_uploads")
    split = models.SlugField()
    sealed_sha256 = models.CharField(max_length=64, blank=True)  # empty once the file of a rejected upload was deleted
    is_imported = models.BooleanField(default=False)  # imported by a process without the key to compare it
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    received_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # each as `Problem.as_dict`, without content of the file
    gold = models.ForeignKey(GoldStandard, on_delete=models.SET_NULL, null=True, related_name="uploads")
    checked_at = models.DateTimeField(null=True)
    listed_items = models.PositiveIntegerField(null=True)  # see `GoldStandard`
    split_items = models.PositiveIntegerField(null=True)
    preview = models.JSONField(default=dict)  # see portal.evaluation.preview; read by `portal.queries.gold_preview`
    basis = models.CharField(max_length=64, blank=True)  # what the preview was computed from; see `basis_at`

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
        """Whether nothing more will happen by itself."""
        return self.state == self.State.READY or self.state not in self.UNDECIDED

    def basis_at(self, at: datetime) -> str:
        """Digest of all that a preview depends on; a preview with another one is stale.

        Gold, scorer and rules in use, and the runs of closed phases. While a phase is open, runs keep coming in, which
        changes nothing about those of the preview.
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
        """Number of items that the file lists, and of items that runs must have; None where not counted."""
        if self.listed_items is None or self.split_items is None:
            return None
        return self.listed_items, self.split_items
