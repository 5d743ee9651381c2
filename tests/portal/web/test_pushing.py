"""Pages for pushing, publishing, hiding and deleting tasks."""

from collections.abc import Callable
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from portal.actions.task_folder.pushed_folder import check_push
from portal.models import SharedTask, TaskPush, User
from portal.objects.interface import gold_objects
from tests.portal.test_import import edit
from tests.portal.test_pushes import creator, packed
from tests.portal.web.conftest import Clock
from tests.portal.world import EVALUATION, person, set_up_second_factor

__all__ = ["creator"]


@pytest.fixture
def page(creator: User, sign_in: Callable[[User], Client], at: Clock) -> Client:
    at(EVALUATION)
    return sign_in(creator)


def zip_of(folder: Path) -> SimpleUploadedFile:
    return SimpleUploadedFile("tiny.zip", packed(folder), "application/zip")


def judged() -> TaskPush:
    push = TaskPush.objects.unfinished().get()
    check_push(push.pk, EVALUATION)
    push.refresh_from_db()
    return push


@pytest.mark.slow
def test_from_a_zip_to_an_open_task(page: Client, tiny_folder: Path) -> None:
    assert "New task" in page.get("/").content.decode()
    answer = page.post("/organize/new/", {"file": zip_of(tiny_folder)})
    push = TaskPush.objects.get()
    assert answer.headers["Location"] == f"/organize/pushes/{push.pk}/"
    assert 'http-equiv="refresh"' in page.get(answer.headers["Location"]).content.decode()
    word = (tiny_folder / "gold/one.json").read_bytes()
    assert all(word not in gold_objects().open(name).read() for name in gold_objects().names())
    judged()
    shown = page.get(answer.headers["Location"]).content.decode()
    assert "Your draft is ready" in shown
    assert "This task is a draft" in page.get("/tasks/tiny/").content.decode()
    assert Client().get("/tasks/tiny/").status_code == 404
    edit(tiny_folder, 'title: "Track one"', 'title: "Track uno"')
    page.post("/tasks/tiny/organize/push/", {"file": zip_of(tiny_folder)})
    push = judged()
    shown = page.get(f"/organize/pushes/{push.pk}/").content.decode()
    assert "track one: title Track one → Track uno" in shown
    assert SharedTask.objects.get().tracks.get(slug="one").title == "Track one"
    page.post(f"/organize/pushes/{push.pk}/", {})
    assert SharedTask.objects.get().tracks.get(slug="one").title == "Track uno"
    assert page.get("/tasks/tiny/organize/open/").status_code == 200
    assert Client().get("/tasks/tiny/").status_code == 404
    page.post("/tasks/tiny/organize/open/")
    assert Client().get("/tasks/tiny/").status_code == 200
    assert page.post("/tasks/tiny/organize/delete/").status_code == 409
    rejected = page.get("/tasks/tiny/organize/delete/")
    assert rejected.status_code == 409
    assert "Only drafts can be opened or deleted" in rejected.content.decode()
    assert "undo this" not in rejected.content.decode()
    page.post("/tasks/tiny/organize/hide/")
    assert Client().get("/tasks/tiny/").status_code == 404
    assert "This task is hidden" in page.get("/tasks/tiny/organize/").content.decode()


def test_problems_are_listed_with_file_and_line(page: Client, tiny_folder: Path) -> None:
    edit(tiny_folder, "slug: tiny", "slug: tiny tiny")
    page.post("/organize/new/", {"file": zip_of(tiny_folder)})
    shown = page.get(f"/organize/pushes/{judged().pk}/").content.decode()
    assert "task.yaml" in shown
    assert "The folder has problems" in shown
    assert 'href="/organize/new/">Push folder again' in shown


@pytest.mark.slow
def test_a_rejected_push_leads_to_the_form_of_its_task(page: Client, tiny_folder: Path) -> None:
    page.post("/organize/new/", {"file": zip_of(tiny_folder)})
    address = f"/organize/pushes/{judged().pk}/"
    assert "Push folder again" not in page.get(address).content.decode()
    edit(tiny_folder, "slug: tiny", "slug: tiny tiny")
    page.post("/tasks/tiny/organize/push/", {"file": zip_of(tiny_folder)})
    shown = page.get(f"/organize/pushes/{judged().pk}/").content.decode()
    assert 'href="/tasks/tiny/organize/push/"' in shown
    assert 'href="/tasks/tiny/organize/folder/"' in shown


@pytest.mark.slow
def test_a_draft_is_deleted_after_a_question(page: Client, tiny_folder: Path) -> None:
    page.post("/organize/new/", {"file": zip_of(tiny_folder)})
    judged()
    assert "undo this" in page.get("/tasks/tiny/organize/delete/").content.decode()
    assert SharedTask.objects.exists()
    assert page.post("/tasks/tiny/organize/delete/").headers["Location"] == "/"
    assert not SharedTask.objects.exists()


@pytest.mark.slow
def test_organizers_are_listed_added_and_removed(page: Client, tiny_folder: Path, creator: User) -> None:
    page.post("/organize/new/", {"file": zip_of(tiny_folder)})
    judged()
    address = "/tasks/tiny/organize/organizers/"
    assert creator.email in page.get(address).content.decode()
    missing = page.post(address, {"address": "none@example.org"})
    assert (missing.status_code, "no account" in missing.content.decode()) == (422, True)
    other = person("Otto")
    page.post(address, {"address": other.email})
    assert set(SharedTask.objects.get().organizers.all()) == {creator, other}
    assert page.post(address, {"address": creator.email, "remove": ""}).headers["Location"] == "/"
    assert list(SharedTask.objects.get().organizers.all()) == [other]


@pytest.mark.slow
def test_the_form_for_new_tasks_is_for_those_who_may(sign_in: Callable[[User], Client], db: None) -> None:
    someone = person("Someone")
    set_up_second_factor(someone)
    assert sign_in(someone).get("/organize/new/").status_code == 404
    someone.may_create_tasks = True
    someone.save()
    assert sign_in(someone).get("/organize/new/").status_code == 200
    other = person("Other")
    other.may_create_tasks = True
    other.save()
    assert sign_in(other).get("/organize/new/").status_code == 403
    answer = sign_in(someone).post("/organize/new/", {"file": SimpleUploadedFile("x.zip", b"x" * (64 * 2**20 + 1))})
    assert answer.status_code == 413
    assert not TaskPush.objects.exists()
