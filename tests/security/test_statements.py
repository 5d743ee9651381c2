"""The number of SQL statements of a page does not depend on how many shared tasks there are, for anyone."""

import uuid
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from django.core.cache import caches
from django.db import connection, models

from portal.models import (
    Announcement,
    Board,
    Download,
    Evaluation,
    GoldStandard,
    GoldUpload,
    Membership,
    OutgoingMail,
    Phase,
    Run,
    SharedTask,
    Signature,
    Submission,
    TaskPush,
    Team,
    Track,
)
from tests.portal.web.conftest import Clock
from tests.portal.web.conftest import at as at
from tests.portal.world import EVALUATION, work_off
from tests.security import api
from tests.security.conftest import World
from tests.security.test_access import ADMIN, OWN_NAMES, answer

COPIES = 5
ROLES = ("anonymous", "captain", "organizer", "administrator")
# In the order of their foreign keys. Each row of the task `gated` is copied to each new task.
COPIED: tuple[type[models.Model], ...] = (
    Track, Phase, GoldStandard, Team, Membership, Signature, Announcement, Submission, Run, Evaluation, Board,
    GoldUpload, TaskPush, Download, OutgoingMail,
)  # fmt: skip
UNIQUE = {"invitation_code", "key", "occasion"}  # texts that must differ in each copy


@pytest.mark.slow
def test_no_page_runs_more_statements_if_there_are_more_tasks(world: World, at: Clock) -> None:
    at(EVALUATION)
    work_off(EVALUATION)
    few = statements(world)
    for number in range(COPIES):
        copy_task(world.task, number)
    many = statements(world)
    assert many["organizer", "home"] > 0
    assert {page: (few[page], count) for page, count in many.items() if count > few[page]} == {}


def statements(world: World) -> Counter[tuple[str, str]]:
    """Return the number of statements of each page for each role, and of each URL that the API can read."""
    found: Counter[tuple[str, str]] = Counter()
    for role in ROLES:
        for name in OWN_NAMES:
            found[role, name] = count(lambda role=role, name=name: answer(world, role, name, "GET"))
    administrator = world.client("administrator")
    for address in ADMIN:
        found["administrator", address] = count(lambda address=address: administrator.get(address))
    for token in ("member:submit", "organizer:organize"):
        for name in api.NAMES:
            found[token, name] = count(lambda token=token, name=name: api.answer(world, token, name, "GET"))
    return found


def count(request: Any) -> int:
    caches["boards"].clear()
    number = 0

    def counted(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        nonlocal number
        number += 1
        return execute(sql, params, many, context)

    with connection.execute_wrapper(counted):  # Django's log of statements needs as long as the statements themselves
        request()
    return number


def copy_task(task: SharedTask, number: int) -> None:
    """Copy the task with everything that belongs to it. The people are the same."""
    copies: dict[Any, Any] = {}
    new = SharedTask.objects.get(pk=task.pk)
    new.pk, new.slug = None, f"copy-{number}"
    new.save()
    new.organizers.set(task.organizers.all())
    copies[SharedTask, task.pk] = new
    for model in COPIED:
        for row in rows_of(model, task):
            old = row.pk
            row.pk = uuid.uuid4() if isinstance(row._meta.pk, models.UUIDField) else None
            row._state.adding = True
            for field in row._meta.concrete_fields:
                value = getattr(row, field.attname)
                if field.is_relation and (field.related_model, value) in copies:
                    setattr(row, field.attname, copies[field.related_model, value].pk)
                elif field.name in UNIQUE and value:
                    setattr(row, field.attname, f"{number}-{value}"[:60])
            model._base_manager.bulk_create([row])
            copies[model, old] = row


def rows_of(model: Any, task: SharedTask) -> Iterator[Any]:
    for path in ("shared_task", "track__shared_task", "team__shared_task", "run__track__shared_task"):
        first = path.split("__")[0]
        if first in {field.name for field in model._meta.fields}:
            yield from model._base_manager.filter(**{path: task})
            return
    raise AssertionError(model)
