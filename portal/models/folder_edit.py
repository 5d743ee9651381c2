"""Edited files of tasks' folders that have not been pushed and applied yet."""

from django.conf import settings
from django.db import models

from portal.models.task import SharedTask


class FolderEdit(models.Model):
    """A file of the task's working copy: its new content, or None if the file is removed.

    The working copy is the imported folder with these files instead of its own.
    """

    shared_task = models.ForeignKey(SharedTask, on_delete=models.CASCADE, related_name="folder_edits")
    path = models.CharField(max_length=255)
    content = models.BinaryField(null=True)
    size = models.PositiveIntegerField()  # in bytes
    sha256 = models.CharField(max_length=64, blank=True)  # of the content; empty if the file is removed
    # SHA-256 of the imported folder's file when its first edit was saved; empty if there was none.
    instead_of = models.CharField(max_length=64, blank=True)
    edited_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+")
    edited_at = models.DateTimeField()

    class Meta:
        ordering = ("path",)
        constraints = [models.UniqueConstraint(fields=("shared_task", "path"), name="one_edit_of_each_file")]

    def __str__(self) -> str:
        return self.path

    @property
    def audit_subject(self) -> str:
        return f"file {self.path}"
