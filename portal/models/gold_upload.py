"""A gold standard from an organizer or an import: sealed, so that only a worker can say whether it is a good one."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.gold import GoldStandard
from portal.models.lease import LeaseQuerySet
from portal.models.run import Evaluated
from portal.models.task import Track


class GoldUpload(Evaluated):
    """Waits for a worker, and becomes the newest version if it is sound and new."""

    class State(models.TextChoices):
        RECEIVED = "received", _("received")
        CHECKING = "checking", _("being checked")
        ACCEPTED = "accepted", _("accepted")
        UNCHANGED = "unchanged", _("the same as before")
        REJECTED = "rejected", _("rejected")
        CONFLICT = "conflict", _("changed in the folder and on the page")
        FAILED = "failed", _("failed on our side")

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    track = models.ForeignKey(Track, on_delete=models.CASCADE, related_name="gold_uploads")
    split = models.SlugField()
    sealed_sha256 = models.CharField(max_length=64, blank=True)  # empty once the file of a rejected upload is deleted
    is_imported = models.BooleanField(default=False)  # by a process without the key to compare it
    sent_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    received_at = models.DateTimeField()
    state = models.CharField(max_length=10, choices=State, default=State.RECEIVED)
    problems = models.JSONField(default=list)  # each as `Problem.as_dict`, without anything that the file holds
    gold = models.ForeignKey(GoldStandard, on_delete=models.SET_NULL, null=True, related_name="uploads")
    checked_at = models.DateTimeField(null=True)

    objects = LeaseQuerySet["GoldUpload"].as_manager()

    class Meta:
        ordering = ("-received_at",)
        indexes = [models.Index(fields=("state", "lease_ends"), name="gold_work")]

    def __str__(self) -> str:
        return f"gold of {self.track}, {self.split}"
