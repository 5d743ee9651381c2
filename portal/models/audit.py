"""The audit log: who did what and when. Rows are written in the action's transaction and never changed."""

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from portal.models.account import User
from portal.models.task import SharedTask


class AuditEntryManager(models.Manager["AuditEntry"]):
    def record(
        self, actor: User | None, verb: str, target: models.Model, at: datetime, *, subject: str = "", **detail: Any
    ) -> "AuditEntry":
        """Add an entry. `actor` is None if the portal itself or a command on its server acted.

        `target` is the changed object. The entry refers to it by `subject` or, if that is empty, by the object's
        `audit_subject`.
        """
        return self.create(
            actor=actor,
            shared_task=target if isinstance(target, SharedTask) else getattr(target, "shared_task", None),
            verb=verb,
            subject=subject or target.audit_subject,  # type: ignore[attr-defined]
            detail=detail,
            at=at,
        )


class AuditEntry(models.Model):
    class Event(models.TextChoices):
        """Verbs, with their words, that code other than an action records or searches for.

        An action with the same name uses these words, too. All other verbs are declared by their actions.
        """

        ADD_GOLD_STANDARD = "add_gold_standard", _("started using a gold standard")
        ADMIN_CHANGE = "admin_change", _("changed on the administration site")
        ADMIN_DELETE = "admin_delete", _("deleted on the administration site")
        REPLACE_SUBMISSION = "replace_submission", _("replaced a submission with a newer one")
        RESCORE = "rescore", _("requested rescoring of all runs")
        REVOKE_TOKEN = "revoke_token", _("revoked a token")
        START_ROUND = "start_round", _("started the next round")
        SUBMIT = "submit", _("uploaded runs")

    actor = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")
    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, null=True, related_name="audit_entries")
    verb = models.CharField(max_length=40)  # the name of the action, such as "submit", or one of `Event`
    subject = models.CharField(max_length=255)  # the changed object, such as "submission 0f3c…"
    detail = models.JSONField(default=dict)
    at = models.DateTimeField()

    objects = AuditEntryManager()

    class Meta:
        ordering = ("-at",)
        verbose_name_plural = "audit entries"
        indexes = [models.Index(fields=("shared_task", "subject"), name="audit_of_subject")]

    def __str__(self) -> str:
        return f"{self.at:%Y-%m-%d %H:%M} {self.actor or 'system'}: {self.verb} {self.subject}"
