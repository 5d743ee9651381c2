"""Fixtures for the portal's tests. Helper functions are in `tests.portal.world`."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import redis
from django.conf import settings as portal_settings
from django.db import connection

from portal.actions.base.action import Action
from portal.actions.base.errors import ActionError
from portal.actions.base.input import INPUT_ERRORS
from portal.actions.base.roles import TOKEN_ERRORS
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.evaluation.limits import CHILD_MEMORY
from portal.models import Run, SharedTask, Team
from portal.objects.bucket import Bucket
from portal.objects.interface import data_objects
from portal.storage import stored_name
from tests.portal.remembered import remembered
from tests.portal.world import EVALUATION, new_team
from tests.services import S3, Broker, MailServer


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect tests that would prove nothing with the current database.

    SQLite has one writer at a time, so it leaves out tests of overlapping writers. With PostgreSQL, only tests with
    several transactions run, and those of modules that are marked `postgres`.
    """
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    if connection.vendor == "sqlite":
        left_out = {item for item in here if "overlapping" in getattr(item, "fixturenames", ())}
    else:
        left_out = {item for item in here if not _runs_on_postgres(item)}
    config.hook.pytest_deselected(items=list(left_out))
    items[:] = [item for item in items if item not in left_out]


def _runs_on_postgres(item: pytest.Item) -> bool:
    fixtures, database = getattr(item, "fixturenames", ()), item.get_closest_marker("django_db")
    if "transactional_db" in fixtures or (database is not None and database.kwargs.get("transaction")):
        return True
    asks_for_the_database = database is not None or "db" in fixtures
    return asks_for_the_database and item.get_closest_marker("postgres") is not None


@pytest.fixture
def overlapping() -> Iterator[None]:
    """A database with parallel writers. Waiting for a lock fails after 30 seconds."""
    with connection.cursor() as cursor:
        cursor.execute("SET lock_timeout = '30s'")
        yield
        cursor.execute("RESET lock_timeout")


@pytest.fixture
def tiny_folder(tmp_path: Path) -> Path:
    """A copy of the tiny task's folder. Tests may change it."""
    return shutil.copytree(Path(__file__).parent / "tiny_task", tmp_path / "tiny_task")


GATE = """
agreement: {version: "1", file: pages/terms.md}
datasets:
  - {slug: sample, title: Sample, file: data/sample.tsv, access: public, licence: CC0-1.0}
  - {slug: training, title: Training, file: data/training.tsv, access: registered, licence: CC-BY-4.0}
  - {slug: development, title: Development, file: data/development.tsv, access: approved}
  - {slug: test, title: Test, file: data/test.tsv, access: password}
  - {slug: later, title: Later, file: data/later.tsv, access: registered, released: "2024-05-24 10:00 UTC"}
"""
TEAMS = """approval: manual, closes_with: post, questions: [
  {key: use, label: "What will you use the data for?", required: true},
  {key: kind, label: "What are you?", choices: [university, company]}]"""


@pytest.fixture
def gated_folder(tmp_path: Path) -> Path:
    """The folder of a task like the tiny one, but with every possible step between newcomers and the data."""
    folder = shutil.copytree(Path(__file__).parent / "tiny_task", tmp_path / "gated_task")
    path = folder / "task.yaml"
    text = path.read_text().replace("slug: tiny", "slug: gated").replace('title: "Tiny"', 'title: "Gated"')
    path.write_text(text.replace("approval: automatic", TEAMS) + GATE)
    (folder / "pages/terms.md").write_text("# Terms\n\nUse the data for research.\n")
    for name in ("sample", "training", "development", "test", "later"):
        (folder / f"data/{name}.tsv").write_text(f"{name}\t0123456789\n" * 100)
    return folder


@remembered
def gated(db: None, gated_folder: Path) -> SharedTask:
    """A shared task with manual approval, questions, an agreement, and data of every access level."""
    return import_shared_task(None, gated_folder, EVALUATION).shared_task


@remembered
def tiny(db: None, tiny_folder: Path) -> SharedTask:
    """The tiny shared task, just imported. Its baselines are waiting to be scored."""
    return import_shared_task(None, tiny_folder, EVALUATION).shared_task


@remembered
def meltemi(tiny: SharedTask) -> Team:
    """An approved team in the tiny task."""
    return new_team(tiny, "Meltemi")


@pytest.fixture
def poison() -> Iterator[Callable[[Run], Run]]:
    """A function that replaces a run's stored file with a sparse file larger than a child's memory."""
    name = stored_name("f" * 64)

    def poison(run: Run) -> Run:
        hole = data_objects().drafts() / "hole"
        with hole.open("wb") as file:
            file.truncate(2 * CHILD_MEMORY)
        data_objects().put(hole, name)
        run.file_sha256 = "f" * 64
        run.save(update_fields=["file_sha256"])
        return run

    yield poison
    data_objects().delete(name)


@pytest.fixture
def queue(broker: Broker) -> Iterator[redis.Redis]:
    """A real broker with empty queues, at the portal's broker URL.

    Without this fixture, nothing listens there.
    """
    with redis.Redis.from_url(portal_settings.CELERY_BROKER_URL) as client:
        client.flushall()
        yield client


@pytest.fixture
def smtp(settings: Any) -> Iterator[MailServer]:
    """A real mail server to which the portal sends its emails."""
    server = MailServer()
    for name, value in server.settings.items():
        setattr(settings, name, value)
    yield server
    server.stop()


@pytest.fixture(scope="session")
def s3() -> Iterator[S3]:
    """An S3 server in a separate process."""
    s3 = S3()
    s3.start()
    yield s3
    s3.kill()


@pytest.fixture
def bucket(s3: S3, settings: Any, tmp_path: Path) -> Bucket:
    """A new bucket for the portal's data."""
    options = {**s3.new_bucket(), "scratch": tmp_path / "scratch"}
    place = {"BACKEND": "portal.objects.bucket.Bucket", "OPTIONS": options}
    settings.STORAGES = {**settings.STORAGES, "data": place}
    return Bucket(**options)


@pytest.fixture(autouse=True)
def errors_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fail every test in which an action raises an error that it does not declare."""
    call = Action.__call__

    def checked(self: Action, *args: Any, **given: Any) -> Any:
        try:
            return call(self, *args, **given)
        except ActionError as error:
            if error.code not in {one.code for one in (*self.errors, *INPUT_ERRORS, *TOKEN_ERRORS)}:
                raise AssertionError(f"{self.name} does not declare {error.code}") from error
            raise

    monkeypatch.setattr(Action, "__call__", checked)
