"""A new version of a dataset that the shared task has, between two imports of its folder."""

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from portal.actions.errors import Conflict, Invalid
from portal.actions.organizing import require_organizer
from portal.models import AuditEntry, SharedTask, User
from portal.models.task import DatasetDefinition, StoredDataset
from portal.queries.records import times_taken
from portal.storage import StoredUpload

DATASET_BYTES = 1024**3


@transaction.atomic
def replace_dataset(
    user: User,
    shared_task: SharedTask,
    dataset: DatasetDefinition,
    stored: StoredUpload,
    at: datetime,
    *,
    is_sure: bool = False,
) -> StoredDataset:
    """Hand out another file from now on; who may have it stays as task.yaml says.

    Raises:
        NotAllowed: the user does not organize the task.
        Invalid: the file is empty, or the one that is handed out already; or `is_sure` is wanting where somebody
            has taken that one.
        Conflict: tracks go by the dataset's file, so that it is a rule and comes with the folder.
    """
    require_organizer(user, shared_task)
    if stored.size == 0:
        raise Invalid("empty", _("The file is empty."))
    if dataset.file in shared_task.definition.files_of_rules:
        message = _("Runs are checked by this file: change it in the task's folder and import that.")
        raise Conflict("file_of_rules", message)
    shared_task = SharedTask.objects.select_for_update(no_key=True).get(pk=shared_task.pk)
    before = shared_task.stored_dataset(dataset.slug)
    if before is not None and before.sha256 == stored.sha256:
        raise Invalid("same_file", _("This is the file that is handed out already."))
    if before and times_taken(shared_task, dataset, before) and not is_sure:
        raise Invalid("taken", _("Somebody has taken the file in use. Say that you are sure."))
    original = (before.instead_of or before.sha256) if before else ""
    now = StoredDataset(stored.sha256, stored.size, original, at.isoformat())
    shared_task.dataset_files[dataset.slug] = asdict(now)
    shared_task.save(update_fields=["dataset_files"])
    AuditEntry.objects.create(
        actor=user,
        shared_task=shared_task,
        verb="replace_dataset",
        subject=f"dataset {dataset.slug}",
        detail={"before": before.sha256 if before else "", "sha256": now.sha256, "size": now.size},
        at=at,
    )
    stored.keep()
    return now
