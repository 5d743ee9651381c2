"""Pushed task folders: sent through the queue and a bucket, checked by a real worker, changed and applied."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as portal_settings

from agon.task_folder import packed_folder
from portal.actions.task_folder.pushes import apply_push, push_new_task, push_task
from portal.models import SharedTask, Submission, TaskPush, User
from portal.models.clock import database_now
from portal.objects.interface import data_objects, gold_objects
from portal.storage import open_gold
from tests.faults.conftest import Worker
from tests.portal.conftest import s3 as s3
from tests.portal.world import person, sealed_file, set_up_second_factor
from tests.services import S3, Broker, wait_until


@pytest.fixture
def buckets(s3: S3, settings: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Two new buckets, one for data and one for gold, used by this process and by the programs that it starts."""
    data, gold = s3.new_bucket(), s3.new_bucket()
    names = {"endpoint": "ENDPOINT", "region": "REGION", "key": "KEY", "secret": "SECRET", "name": "BUCKET"}
    for name, variable in names.items():
        monkeypatch.setenv(f"AGON_S3_{variable}", data[name])
    for name in ("key", "secret", "name"):
        monkeypatch.setenv(f"AGON_S3_GOLD_{names[name]}", gold[name])
    backend = "portal.objects.bucket.Bucket"
    settings.STORAGES = {
        **settings.STORAGES,
        "data": {"BACKEND": backend, "OPTIONS": {**data, "scratch": tmp_path / "data"}},
        "gold": {"BACKEND": backend, "OPTIONS": {**gold, "scratch": tmp_path / "gold"}},
    }


@pytest.fixture
def creator(transactional_db: None) -> User:
    user = person("Olga")
    user.may_create_tasks = True
    user.save()
    set_up_second_factor(user)
    return user


def packed(folder: Path, archive: Path) -> bytes:
    packed_folder(folder, archive)
    return archive.read_bytes()


def files_in(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.mark.slow
def test_a_push_through_the_queue_and_a_bucket(
    broker: Broker, buckets: None, creator: User, worker: Worker, built: Path, tmp_path: Path
) -> None:
    folder = shutil.copytree(built, tmp_path / "mine")
    local = Path(portal_settings.GOLD_ROOT)
    before = files_in(local)
    worker.start()

    def checked(task: SharedTask | None) -> TaskPush:
        sealed, at = sealed_file(packed(folder, tmp_path / "task.zip")), database_now()
        push = (
            push_task(creator, task, at, sealed=sealed) if task else push_new_task(creator, creator, at, sealed=sealed)
        )

        def is_finished() -> bool:
            push.refresh_from_db()
            return push.is_finished

        wait_until(is_finished, "a worker has checked the push")
        return push

    push = checked(None)
    assert (push.state, push.problems) == ("applied", [])
    task = SharedTask.objects.get(slug="ssa2023")
    assert (task.state, list(task.organizers.all())) == ("draft", [creator])
    for track in task.tracks.all():
        (gold,) = track.gold_standards.all()
        (file,) = [one.file for one in task.definition.gold if one.track == track.slug]
        assert open_gold(gold.sealed_sha256) == (folder / "gold" / file.name).read_bytes()
    assert task.definition_sha256 in " ".join(data_objects().names())
    wait_until(lambda: len(list(gold_objects().names())) == task.tracks.count(), "the sealed zip is deleted")
    assert files_in(local) == before
    page = folder / "pages/overview.md"
    page.write_text(page.read_text() + "\nMore.\n")
    push = checked(task)
    assert (push.state, push.changes[-1]) == ("ready", "pages/overview.md: changed")
    apply_push(creator, push, database_now(), is_sure=True)
    applied = SharedTask.objects.get(slug="ssa2023")
    assert applied.definition.pages["overview"].read_text().endswith("More.\n")
    worker.stop()  # it finishes its work, so that no temporary file is left behind


@pytest.mark.slow
def test_uploads_are_scored_while_a_push_is_checked(
    broker: Broker,
    send: Callable[[int], Submission],
    shared_task: SharedTask,
    worker: Worker,
    built: Path,
    tmp_path: Path,
) -> None:
    """One of the lane's processes stays free for uploads: a second push waits until the first is finished."""
    folder = shutil.copytree(built, tmp_path / "mine")
    pushes = []
    for name in ("Olga", "Otto"):
        user = person(name)
        shared_task.organizers.add(user)
        set_up_second_factor(user)
        sealed = sealed_file(packed(folder, tmp_path / "task.zip"))
        pushes.append(push_task(user, shared_task, database_now(), sealed=sealed))
    pipes = [Path(portal_settings.GOLD_ROOT) / push.sealed_sha256 for push in pushes]
    bodies = [pipe.read_bytes() for pipe in pipes]
    for pipe in pipes:
        pipe.unlink()
        os.mkfifo(pipe)  # opening it blocks

    def states() -> list[str]:
        return sorted(TaskPush.objects.values_list("state", flat=True))

    worker.start()
    wait_until(lambda: states() == ["checking", "received"], "a worker checks one of the pushes")
    submission = send(1)
    wait_until(lambda: set(submission.runs.values_list("state", flat=True)) == {"scored"}, "the run is scored")
    assert states() == ["checking", "received"]
    for push, pipe, body in zip(pushes, pipes, bodies, strict=True):
        with pipe.open("r+b", buffering=0) as waiting:
            draft = pipe.with_name("draft")
            draft.write_bytes(body)
            draft.replace(pipe)
            if TaskPush.objects.filter(pk=push.pk, state="checking").exists():
                waiting.write(body)
    wait_until(lambda: all(TaskPush.objects.get(pk=push.pk).is_finished for push in pushes), "both are checked")
    worker.stop()
