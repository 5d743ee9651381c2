"""Downloads of datasets: checking access and recording each download."""

from typing import Annotated

from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from pydantic import Field, SkipValidation

from portal.actions.base.action import ActionCall, action
from portal.actions.base.errors import NotAllowed
from portal.actions.base.roles import ANYONE
from portal.models import Download, SharedTask
from portal.models.task import DatasetDefinition, StoredDataset
from portal.permissions import Obstacle, data_access

OBSTACLES = {obstacle: NotAllowed.declare(obstacle.value, obstacle.label) for obstacle in Obstacle}


@action(who=ANYONE, errors=OBSTACLES.values(), atomic=False)
def record_download(
    call: ActionCall,
    shared_task: SharedTask,
    *,
    dataset: SkipValidation[DatasetDefinition],
    stored: SkipValidation[StoredDataset],
    address: str | None,
    stamp: str = "",
    first_byte: Annotated[int, Field(ge=0)] | None = 0,
) -> Download | None:
    """Record a download before its first byte is sent, if the person is allowed to download the file.

    The transaction is committed before the function returns.

    `stamp` is the value that `give_password` returned. If `first_byte` is None, no bytes are sent, so access is checked
    but nothing is recorded.
    """
    own = data_access(call.viewer or AnonymousUser(), shared_task, stamp)
    for obstacle in own.obstacles(dataset.access, dataset.released, call.at):
        raise OBSTACLES[obstacle]()
    if first_byte is None:
        return None
    with transaction.atomic(durable=True):
        return Download.objects.create(
            shared_task=shared_task,
            dataset=dataset.slug,
            sha256=stored.sha256,
            first_byte=first_byte,
            user=call.actor,
            team=own.team,
            address=address,
            at=call.at,
        )
