"""Publishing, hiding and deleting tasks, and changing who organizes them."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from portal.actions.base.errors import ActionError
from portal.actions.organizers import ADDRESSES_AN_HOUR, add_organizer, remove_organizer
from portal.actions.task_folder.drafts import delete_draft, hide_task, open_task, show_task
from portal.actions.teams import register_team
from portal.models import AuditEntry, GoldStandard, Run, SharedTask, Team, User
from portal.objects.interface import gold_objects
from portal.queries.duties import to_do
from tests.portal.world import (
    EVALUATION,
    GOOD,
    STRANGER,
    organizer_of,
    person,
    send_run,
    set_up_second_factor,
    work_off,
)

pytestmark = pytest.mark.postgres


@pytest.fixture
def organizer(tiny: SharedTask) -> User:
    return organizer_of(tiny)


def state(task: SharedTask, state: str) -> SharedTask:
    SharedTask.objects.filter(pk=task.pk).update(state=state)
    task.refresh_from_db()
    return task


def test_a_draft_is_opened_once_and_then_only_hidden_and_shown(tiny: SharedTask, organizer: User) -> None:
    draft = state(tiny, "draft")
    for action in (hide_task, show_task):
        with pytest.raises(ActionError, match="not_"):
            action(organizer, draft, EVALUATION)
    assert not SharedTask.objects.visible_to(STRANGER).exists()
    opened = open_task(organizer, draft, EVALUATION)
    assert SharedTask.objects.visible_to(STRANGER).exists()
    for action in (open_task, delete_draft, show_task):
        with pytest.raises(ActionError, match="not_"):
            action(organizer, opened, EVALUATION)
    hide_task(organizer, opened, EVALUATION)
    assert not SharedTask.objects.visible_to(STRANGER).exists()
    assert SharedTask.objects.visible_to(organizer).exists()
    for action in (open_task, delete_draft, hide_task):
        with pytest.raises(ActionError, match="not_"):
            action(organizer, opened, EVALUATION)
    show_task(organizer, opened, EVALUATION)
    assert SharedTask.objects.visible_to(STRANGER).exists()
    verbs = ["open_task", "hide_task", "show_task"]
    assert list(AuditEntry.objects.filter(verb__in=verbs).order_by("pk").values_list("verb", flat=True)) == verbs


def test_a_draft_always_has_something_to_do(tiny: SharedTask, organizer: User) -> None:
    assert to_do(tiny, EVALUATION) == []
    draft = state(tiny, "draft")
    assert [(step.page, step.verb) for step in to_do(draft, EVALUATION)] == [("organize_state", "open")]
    client = Client()
    client.force_login(organizer)
    overview = client.get("/tasks/tiny/organize/").content.decode()
    assert "The task is a draft. Check its pages, then open it." in overview
    assert overview.count('href="/tasks/tiny/organize/open/"') == 2
    assert "Nothing to do right now" not in overview


@pytest.mark.slow
def test_a_draft_is_deleted_with_all_that_was_tried_in_it(tiny: SharedTask, organizer: User) -> None:
    team = register_team(organizer, state(tiny, "draft"), EVALUATION, name="Trial")
    send_run(team, GOOD, 1, EVALUATION)
    work_off(EVALUATION)
    assert Run.objects.filter(kind="team", state="scored").exists()
    delete_draft(organizer, tiny, EVALUATION)
    assert [model.objects.count() for model in (SharedTask, Team, Run, GoldStandard)] == [0, 0, 0, 0]
    entry = AuditEntry.objects.get(verb="delete_draft")
    assert (entry.actor, entry.subject) == (organizer, "shared task tiny")
    assert AuditEntry.objects.filter(verb="submit").exists()


def test_gold_of_a_deleted_draft_is_deleted_too(
    tiny: SharedTask, organizer: User, django_capture_on_commit_callbacks: Any
) -> None:
    sealed = set(GoldStandard.objects.values_list("sealed_sha256", flat=True))
    assert sealed <= set(gold_objects().names())
    with django_capture_on_commit_callbacks(execute=True):
        delete_draft(organizer, state(tiny, "draft"), EVALUATION)
    assert not sealed & set(gold_objects().names())


def test_organizers_are_added_and_removed_by_address(tiny: SharedTask, organizer: User) -> None:
    other = person("Otto")
    set_up_second_factor(other)
    assert not tiny.is_organized_by(other)
    add_organizer(organizer, tiny, EVALUATION, address="OTTO@example.org")
    assert tiny.is_organized_by(other)
    for address, code in (("otto@example.org", "is_organizer"), ("none@example.org", "no_account"), ("x", "address")):
        with pytest.raises(ActionError) as error:
            add_organizer(organizer, tiny, EVALUATION, address=address)
        assert code in (error.value.code, *getattr(error.value, "problems", ()))
    remove_organizer(other, tiny, EVALUATION, address=organizer.email)
    assert not tiny.is_organized_by(organizer)
    with pytest.raises(ActionError, match="last_organizer"):
        remove_organizer(other, tiny, EVALUATION, address=other.email)
    with pytest.raises(ActionError, match="no_such_organizer"):
        remove_organizer(other, tiny, EVALUATION, address="none@example.org")
    assert list(tiny.organizers.all()) == [other]


@pytest.mark.slow
def test_who_enters_many_addresses_has_to_wait(tiny: SharedTask, gated: SharedTask, organizer: User) -> None:
    gated.organizers.add(organizer)
    otto = person("Otto")

    def add(task: SharedTask, address: str, minutes: int = 0) -> str:
        try:
            add_organizer(organizer, task, EVALUATION + timedelta(minutes=minutes), address=address)
        except ActionError as error:
            return f"{error.code} {error.params.get('seconds', '')}".strip()
        return "added"

    assert add(tiny, otto.email) == "added"
    assert add(tiny, otto.email, 1) == "is_organizer"
    for number in range(ADDRESSES_AN_HOUR - 2):
        assert add((tiny, gated)[number % 2], f"none{number}@example.org", 2) == "no_account"
    assert add(tiny, "none@example.org", 10) == add(gated, otto.email, 10) == "too_many_addresses 3000"
    assert not gated.organizers.filter(pk=otto.pk).exists()
    set_up_second_factor(otto)
    with pytest.raises(ActionError, match="no_account"):  # each person has a separate limit
        add_organizer(otto, tiny, EVALUATION, address="none@example.org")
    assert add(gated, otto.email, 60) == "added"
