"""Downloads of datasets: checking access and recording each download."""

from typing import Annotated

from django.db import transaction
from pydantic import Field, SkipValidation

from portal.actions.action import Act, action
from portal.actions.errors import NotAllowed
from portal.actions.roles import ANYONE
from portal.models import Download, SharedTask
from portal.models.task import DatasetDefinition, StoredDataset
from portal.permissions import DataAccess, Obstacle

OBSTACLES = {obstacle: NotAllowed.declare(obstacle.value, obstacle.label) for obstacle in Obstacle}


@action(who=ANYONE, errors=OBSTACLES.values(), atomic=False)
def record_download(
    act: Act,
    shared_task: SharedTask,
    *,
    own: SkipValidation[DataAccess],
    dataset: SkipValidation[DatasetDefinition],
    stored: SkipValidation[StoredDataset],
    address: str | None,
    first_byte: Annotated[int, Field(ge=0)] = 0,
) -> Download:
    """Record a download before its first byte is sent, if the person is allowed to download the file.

    The transaction is committed before the function returns.

    `own` is the user's `permissions.data_access`, with the value for the password if one was given.
    """
    if own.user != act.viewer:
        raise ValueError("the access of someone else")
    for obstacle in own.obstacles(dataset.access, dataset.released, act.at):
        raise OBSTACLES[obstacle]()
    with transaction.atomic(durable=True):
        return Download.objects.create(
            shared_task=shared_task,
            dataset=dataset.slug,
            sha256=stored.sha256,
            first_byte=first_byte,
            user=act.actor,
            team=own.team,
            address=address,
            at=act.at,
        )
