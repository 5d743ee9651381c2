"""Public files of pushes: deleted when no row needs them, but never while another process is storing them again."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.db import connection

from portal.actions.task_folder.drafts import delete_draft
from portal.actions.task_folder.folder import PublicFiles
from portal.actions.task_folder.pushed_folder import check_push
from portal.actions.task_folder.pushes import apply_push, push_task
from portal.evaluation.pushes import expire, forget_leftovers
from portal.models import SharedTask, TaskPush, User
from portal.models.push import KEPT
from portal.models.task import definition_name
from portal.objects.bucket import Bucket
from portal.objects.folder import Folder
from portal.objects.interface import data_objects
from portal.storage import UNUSED, file_sha256, forget_unused, store_definition, store_upload, stored_name
from tests.portal.test_import import edit
from tests.portal.test_pushes import creator as creator
from tests.portal.test_pushes import organizer as organizer
from tests.portal.test_pushes import packed, pushed
from tests.portal.world import EVALUATION, GOOD, new_team, run_file, sealed_file, send_run
from tests.services import wait_until

LATER = datetime.now(UTC) + UNUSED + timedelta(days=1)  # storage uses the real time, not the tests' time
CONTENT = run_file(GOOD)


@pytest.fixture(params=["folder", "bucket"])
def place(request: pytest.FixtureRequest, settings: Any, tmp_path: Path) -> type[Folder | Bucket]:
    """A new storage for the portal's data: a folder or an S3 bucket."""
    if request.param == "folder":
        empty = {"BACKEND": "portal.objects.folder.Folder", "OPTIONS": {"location": tmp_path / "data"}}
        settings.STORAGES = {**settings.STORAGES, "data": empty}
        return Folder
    request.getfixturevalue("bucket")
    return Bucket


def names() -> set[str]:
    """Return the names of all stored files and definitions."""
    found = data_objects().names()
    return {name if name.startswith("files/") else "/".join(name.removesuffix(".zip").split("/")[:2]) for name in found}


def changed(folder: Path) -> set[str]:
    """Change a page and a baseline in the folder, and return the name under which the baseline will be stored."""
    (folder / "pages/overview.md").write_text("# Another text\n")
    path = folder / "baselines/one_yes.json"
    path.write_text(path.read_text() + "\n")
    return {stored_name(file_sha256(path))}


@pytest.mark.slow
def test_files_of_a_rejected_push_are_deleted_after_some_days(
    place: type, tiny: SharedTask, organizer: User, tiny_folder: Path
) -> None:
    before, new = names(), changed(tiny_folder)
    edit(tiny_folder, 'closes: "2024-05-16 00:00 UTC"', 'closes: "2024-05-02 12:30 UTC"')
    push = pushed(organizer, packed(tiny_folder), tiny)
    assert push.state == "rejected"
    added = names() - before
    assert new < added
    assert set(push.files) >= added
    assert forget_leftovers(datetime.now(UTC)) == 0  # too recent: a row for them may still be written
    assert names() - before == added
    assert forget_leftovers(LATER) == len(added)
    push.refresh_from_db()
    assert (names(), push.files) == (before, [])


@pytest.mark.slow
def test_files_that_a_row_needs_are_kept(place: type, tiny: SharedTask, organizer: User, tiny_folder: Path) -> None:
    (new,) = changed(tiny_folder)
    rejected, ready = (pushed(organizer, packed(tiny_folder), tiny, LATER) for _ in range(2))
    TaskPush.objects.filter(pk=rejected.pk).update(state="rejected")
    stored = names()
    forget_leftovers(LATER)
    assert names() == stored
    apply_push(organizer, ready, LATER, is_sure=True)
    forget_leftovers(LATER + KEPT)
    assert names() == stored
    assert new in stored


@pytest.mark.slow
def test_a_run_with_the_same_content_keeps_the_file(
    place: type, tiny: SharedTask, organizer: User, tiny_folder: Path
) -> None:
    (tiny_folder / "baselines/one_yes.json").write_bytes(run_file(GOOD))
    push = pushed(organizer, packed(tiny_folder), tiny)
    run = send_run(new_team(tiny, "Meltemi"), GOOD, 1, EVALUATION)
    TaskPush.objects.filter(pk=push.pk).update(state="rejected")
    assert stored_name(run.file_sha256) in push.files
    assert forget_leftovers(LATER) > 0
    assert stored_name(run.file_sha256) in names()
    assert definition_name(push.prepared["sha256"]) not in names()


@pytest.mark.slow
def test_a_deleted_draft_leaves_no_files(place: type, creator: User, tiny_folder: Path) -> None:
    before = names()
    task = pushed(creator, packed(tiny_folder)).shared_task
    assert task is not None
    assert names() > before
    delete_draft(creator, task, EVALUATION)
    forget_leftovers(LATER)
    assert names() == before


@pytest.mark.slow
def test_files_of_a_push_that_is_killed_while_it_stores_them_are_deleted_too(
    place: type, tiny: SharedTask, organizer: User, tiny_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, new = names(), changed(tiny_folder)
    push = push_task(organizer, tiny, EVALUATION, sealed=sealed_file(packed(tiny_folder)))
    with monkeypatch.context() as patch:
        patch.setattr("portal.actions.task_folder.folder.store_definition", _killed)
        with suppress(KeyboardInterrupt):
            check_push(push.pk, EVALUATION)
    assert names() - before == new
    expire(LATER)
    assert forget_leftovers(LATER) == len(new) + 2  # includes the sealed zip, and the definition that was never stored
    assert names() == before


def _killed(*_args: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.slow
def test_a_definition_that_is_stored_again_is_recent(place: type, tiny: SharedTask) -> None:
    files = PublicFiles.of(tiny.definition)
    name = definition_name(files.sha256)
    first = data_objects().folder_stored_at(name)
    store_definition(files.sha256, {"task.yaml": tiny.definition.folder / "task.yaml"}, LATER)
    again = data_objects().folder_stored_at(name)
    assert first is not None
    assert again is not None
    assert again > first if place is Folder else again >= first  # in a bucket, times are whole seconds
    assert not forget_unused(name, first + UNUSED - timedelta(seconds=1))
    assert data_objects().has_folder(name)


@contextmanager
def meanwhile(action: Callable[[], Any]) -> Iterator[Future[Any]]:
    """Run the action on a separate connection in parallel with this context, and yield its future."""

    def do() -> Any:
        try:
            return action()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(do)


def someone_waits() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
        return bool(cursor.fetchone()[0])


@pytest.mark.django_db(transaction=True)
def test_an_upload_of_the_same_content_waits_for_the_deletion(
    place: type, overlapping: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    is_checked, may_delete = Event(), Event()
    ask = place.stored_at

    def stored_at(objects: Any, name: str) -> datetime | None:
        found: datetime | None = ask(objects, name)
        is_checked.set()
        may_delete.wait()
        return found

    with store_upload([CONTENT], "run.json", 1000) as old:
        old.keep()
    name = stored_name(old.sha256)
    with store_upload([CONTENT], "run.json", 1000) as new, monkeypatch.context() as patch:
        patch.setattr(place, "stored_at", stored_at)
        with meanwhile(lambda: forget_unused(name, LATER)) as deleting:
            is_checked.wait()
            with meanwhile(new.keep) as keeping:
                try:
                    wait_until(someone_waits, "the upload waits for the deletion")
                finally:
                    may_delete.set()
        assert deleting.result()
        keeping.result()
    assert data_objects().has(name)
