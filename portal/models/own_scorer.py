"""Organizers' own scorers: each version of a task's scoring program, and which of them administrators have approved."""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any, Self

from django.conf import settings
from django.db import models
from django.db.models import Exists, F, OuterRef, Q

from portal.models.task import SharedTask
from scoring.own_scorers.program import Entry, Program


class OwnScorerQuerySet(models.QuerySet["OwnScorer"]):
    def of(self, shared_task: SharedTask) -> Self:
        """Select the version that the task's folder has now."""
        return self.filter(shared_task=shared_task, sha256=shared_task.own_scorer_sha256)

    def approved(self) -> Self:
        return self.filter(approved_at__isnull=False)

    def current(self) -> Self:
        """Select the versions that their tasks' folders have now."""
        return self.filter(shared_task__own_scorer_sha256=F("sha256"))

    def waiting(self) -> Self:
        """Select the versions for whose approval runs wait."""
        return self.current().filter(approved_at__isnull=True)


class OwnScorer(models.Model):
    """One version of a task's own scorer. Its digest covers all of its files and how it is called.

    The files are never public. Rows are never changed, except that administrators approve them once.
    """

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="own_scorers")
    sha256 = models.CharField(max_length=64)  # `Program.sha256`
    entry = models.JSONField()  # `Entry.as_dict`
    files = models.JSONField()  # name → content in Base64
    findings = models.JSONField(default=list)  # `scoring.own_scorers.report.Finding` values as dicts
    added_at = models.DateTimeField()
    approved_at = models.DateTimeField(null=True)
    approved_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, related_name="+")

    objects = OwnScorerQuerySet.as_manager()

    class Meta:
        ordering = ("-added_at", "-pk")
        constraints = [models.UniqueConstraint(fields=("shared_task", "sha256"), name="own_scorer_once")]

    def __str__(self) -> str:
        return f"scorer {self.sha256[:12]} of {self.shared_task.slug}"

    @property
    def audit_subject(self) -> str:
        return f"scorer {self.sha256[:12]}"

    @property
    def program(self) -> Program:
        return program_of_row(self.files, self.entry)

    @property
    def call(self) -> str:
        return entry_of(self.entry).shown


class OwnScorerMessage(models.Model):
    """What the own scorer printed for a run when it last ran, and why it failed, if it did. Only for organizers."""

    run = models.OneToOneField("portal.Run", on_delete=models.CASCADE, related_name="scorer_message")
    sha256 = models.CharField(max_length=64)
    error = models.TextField(blank=True)
    printed = models.TextField(blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")

    def __str__(self) -> str:
        return f"{self.run} {self.sha256[:12]}"


def row_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return a program's files as `OwnScorer.files`."""
    return {name: b64encode(content).decode() for name, content in sorted(files.items())}


def program_of_row(files: Mapping[str, str], entry: Mapping[str, Any]) -> Program:
    return Program({name: b64decode(content) for name, content in files.items()}, entry_of(entry))


def entry_of(entry: Mapping[str, Any]) -> Entry:
    return Entry(entry["script"], tuple(entry["arguments"]), entry["function"])


def without_approval() -> Q:
    """Return the condition for runs of tasks whose own scorer no administrator has approved."""
    approved = OwnScorer.objects.approved().filter(
        shared_task=OuterRef("track__shared_task"), sha256=OuterRef("track__shared_task__own_scorer_sha256")
    )
    return ~Q(track__shared_task__own_scorer_sha256="") & Q(~Exists(approved))
