"""Replacing a dataset's file on the website between imports of the task's folder."""

from collections.abc import Iterable
from dataclasses import asdict

from django.utils.translation import gettext_lazy as _
from pydantic import SkipValidation

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import Conflict, Invalid
from portal.actions.base.roles import ORGANIZERS
from portal.actions.uploads.intake import TOO_LARGE
from portal.models import SharedTask
from portal.models.task import DatasetDefinition, StoredDataset
from portal.queries.records import download_count
from portal.storage import UploadTooLarge, store_upload

DATASET_BYTES = 1024**3

EMPTY = Invalid.declare("empty", _("The file is empty."))
FILE_OF_RULES = Conflict.declare(
    "file_of_rules",
    _("The portal uses this file to check runs. Change the file in the task folder and import the folder."),
)
SAME_FILE = Invalid.declare("same_file", _("This file is identical to the current version. Choose a different file."))
ALREADY_DOWNLOADED = Invalid.declare(
    "already_downloaded",
    _("Someone has already downloaded the current file. Confirm that you want to replace it."),
)


@action(
    who=ORGANIZERS,
    says=_("replaced a dataset"),
    errors=[TOO_LARGE, EMPTY, FILE_OF_RULES, SAME_FILE, ALREADY_DOWNLOADED],
    locks=True,
    atomic=False,
)
def replace_dataset(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    dataset: SkipValidation[DatasetDefinition],
    content: SkipValidation[Iterable[bytes]],
    is_sure: bool = False,
) -> StoredDataset:
    """Replace the file that people download. The access rules are still those of task.yaml."""
    try:
        received = store_upload(content, dataset.slug, DATASET_BYTES)
    except UploadTooLarge as error:
        raise TOO_LARGE(limit=error.limit) from None
    with received as stored, call.transaction() as shared_task:
        if stored.size == 0:
            raise EMPTY()
        if dataset.file in shared_task.definition.files_of_rules:
            raise FILE_OF_RULES()
        before = shared_task.stored_dataset(dataset.slug)
        if before is not None and before.sha256 == stored.sha256:
            raise SAME_FILE()
        if before and download_count(shared_task, dataset, before) and not is_sure:
            raise ALREADY_DOWNLOADED()
        original = (before.instead_of or before.sha256) if before else ""
        now = StoredDataset(stored.sha256, stored.size, original, call.at.isoformat())
        shared_task.dataset_files[dataset.slug] = asdict(now)
        shared_task.save(update_fields=["dataset_files"])
        digests = {"before": before.sha256 if before else "", "sha256": now.sha256}
        call.record(subject=f"dataset {dataset.slug}", **digests, size=now.size)
        stored.keep()
        return now
