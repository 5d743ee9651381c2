"""Signed data agreements. Each row contains everything needed to prove a signature."""

import hashlib

from django.conf import settings
from django.db import models

from portal.models.account import Viewer
from portal.models.prepared import PreparedQuery
from portal.models.task import SharedTask


class SignatureManager(models.Manager["Signature"]):
    def visible_to(self, user: Viewer) -> models.QuerySet["Signature"]:
        """Select the user's own signatures, and all signatures in tasks that the user organizes."""
        return self.filter(models.Q(user=user.pk) | models.Q(shared_task__in=SharedTask.objects.organized_by(user)))

    def is_missing(self, user: Viewer, shared_task: SharedTask) -> bool:
        """Return whether the task has an agreement whose current version the user has not signed."""
        return shared_task.definition.agreement is not None and self.current(user, shared_task) is None

    def current(self, user: Viewer, shared_task: SharedTask) -> "Signature | None":
        """Return the user's signature on the current version of the agreement, or None."""
        agreement = shared_task.definition.agreement
        if agreement is None or user.pk is None:
            return None
        return _signatures.first(user=user.pk, shared_task=shared_task.pk, version=agreement.version)


class Signature(models.Model):
    """A signature: who signed which text, when and from where."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="signatures")
    shared_task = models.ForeignKey(SharedTask, on_delete=models.PROTECT, related_name="signatures")
    version = models.CharField(max_length=40)
    text = models.TextField()
    sha256 = models.CharField(max_length=64)  # hash of the text in UTF-8
    typed_name = models.CharField(max_length=120)
    address = models.GenericIPAddressField(null=True)  # network address of the request
    signed_at = models.DateTimeField()

    objects = SignatureManager()

    class Meta:
        ordering = ("-signed_at",)
        constraints = [
            models.UniqueConstraint(fields=("user", "shared_task", "version"), name="one_signature_a_version")
        ]

    def __str__(self) -> str:
        return f"{self.typed_name}, agreement of {self.shared_task}, version {self.version}"


@PreparedQuery
def _signatures(user: int, shared_task: int, version: str) -> models.QuerySet[Signature]:
    return Signature.objects.filter(user=user, shared_task=shared_task, version=version)


def text_sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
