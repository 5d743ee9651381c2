"""A shared task, a team that uploads runs, and a real worker, for tests that inject faults."""

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from portal.actions.agreement import sign_agreement
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.actions.uploads.submit import submit
from portal.management.programs import worker_command
from portal.models import SharedTask, Submission, User
from portal.models.clock import database_now
from portal.models.signature import text_sha256
from portal.storage import stored_name
from tasks import build
from tests.canary import mark_gold
from tests.services import Program, children

TEAM = "Meltemi"


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of SSA 2023, the smallest of the five shared tasks, for fixtures and tests that copy it."""
    return build("ssa2023", tmp_path_factory.mktemp("built") / "ssa2023")


@pytest.fixture
def folder(built: Path, tmp_path: Path) -> Path:
    """The folder of the shared task, with marked gold."""
    folder = shutil.copytree(built, tmp_path / "ssa2023")
    mark_gold(folder)
    return folder


@pytest.fixture
def shared_task(transactional_db: None, folder: Path) -> SharedTask:
    return import_shared_task(None, folder, database_now()).shared_task


@pytest.fixture
def send(shared_task: SharedTask, folder: Path) -> Callable[[int], Submission]:
    """A function that submits a run with the given number, as the upload page does."""
    captain = User.objects.create_user("captain@agon.example", name="Cleo")
    register_team(captain, shared_task, database_now(), name=TEAM)
    sha256 = text_sha256((folder / "pages/terms.md").read_text())
    sign_agreement(captain, shared_task, database_now(), typed_name="Cleo", sha256=sha256)
    body = (folder / "baselines/en/random.csv").read_bytes()

    def send(number: int) -> Submission:
        name, phase = f"en_{TEAM}_{number}.csv", shared_task.phases.get()
        return submit(captain, phase, database_now(), content=[body], file_name=name)

    return send


@pytest.fixture
def slow_items(shared_task: SharedTask) -> Iterator[Callable[[bool], None]]:
    """Return a function that replaces the item lists with pipes that have no writer, so that checks and scoring wait.

    Called with False, it restores the lists.
    """
    paths = {track.items["test"] for track in shared_task.definition.tracks}

    def be_slow(slow: bool) -> None:
        for path in paths:
            kept = path.with_suffix(".kept")
            if slow:
                path.rename(kept)
                os.mkfifo(path)
            elif kept.exists():
                kept.replace(path)

    yield be_slow
    be_slow(False)


@pytest.fixture
def slow_runs(folder: Path) -> Iterator[Callable[[bool], Path]]:
    """Return a function that replaces the runs' stored file with a pipe, so that children that read it wait."""
    body = (folder / "baselines/en/random.csv").read_bytes()
    path = Path(settings.DATA_ROOT) / stored_name(hashlib.sha256(body).hexdigest())

    def be_slow(slow: bool) -> Path:
        if slow:
            path.unlink()
            os.mkfifo(path)
        elif path.is_fifo():
            draft = path.with_name("draft")
            draft.write_bytes(body)
            draft.replace(path)
        return path

    yield be_slow
    be_slow(False)


class Worker(Program):
    """A Celery worker with beat, using the test's database and broker."""

    def __init__(self, log: Path) -> None:
        super().__init__([*worker_command("worker"), "--beat"], own_environment(), log)

    @property
    def busy(self) -> list[int]:
        """Return the pool processes that are waiting for a confined child."""
        return [pid for pid, _, _ in self._at_work()]

    @property
    def fork_servers(self) -> list[int]:
        """Return the fork servers of the busy processes."""
        return [pid for _, servers, _ in self._at_work() for pid in servers]

    @property
    def scorers(self) -> list[int]:
        """Return the confined processes that are scoring runs."""
        return [pid for _, _, scorers in self._at_work() for pid in scorers]

    def _at_work(self) -> Iterator[tuple[int, list[int], list[int]]]:
        """Yield each busy process with its fork servers and their confined processes."""
        for pid in children(self.pid):
            servers = children(pid)
            if scorers := [scorer for server in servers for scorer in children(server)]:
                yield pid, servers, scorers


@pytest.fixture
def worker(tmp_path: Path, transactional_db: None) -> Iterator[Worker]:
    """A worker that is not started yet and is killed at the end. If the test fails, its log is shown."""
    log = tmp_path / "worker.log"
    log.touch()
    worker = Worker(log)
    yield worker
    worker.kill()
    print(log.read_text())  # printed, so that it is also searched for gold


def own_environment() -> dict[str, str]:
    """Return the environment for programs that work on the test's data."""
    return os.environ | {"DJANGO_SETTINGS_MODULE": "portal.settings", "DATABASE_URL": _database_url()}


def _database_url() -> str:
    """Return the URL of the test database, which is not the one in the settings."""
    database = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{database['NAME']}"
    return f"postgres://{database['USER']}@{database['HOST']}:{database['PORT']}/{database['NAME']}"
