"""A portal that listens on a port, with a small shared task, and `agon` commands that run in this process."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from django.core.cache import caches
from django.db import connections

from agon.__main__ import main
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.task_folder.pushed_folder import check_push
from portal.models import GoldUpload, SharedTask, Submission, TaskPush, Team, User, Validation
from tests.agon.demo import Demo
from tests.portal.conftest import gated_folder, tiny_folder
from tests.portal.remembered import remembered
from tests.portal.script import token_of
from tests.portal.web.conftest import Clock, at
from tests.portal.world import EVALUATION, captain, judged, new_team, organizer_of, work_off
from tests.services import serving

__all__ = ["at", "gated_folder", "tiny_folder"]

DATA = """
datasets:
  - {slug: sample, title: Sample, file: data/sample.tsv, access: public, licence: CC0-1.0}
  - {slug: test, title: Test, file: data/test.tsv, access: password}
  - {slug: dev, title: Dev, file: data/dev.tsv, access: password}
  - {slug: later, title: Later, file: data/later.tsv, access: registered, released: "2024-05-24 10:00 UTC"}
"""
SAMPLE = "id\ttext\n" + "".join(f"{number}\ttext {number}\n" for number in range(20_000))


@pytest.fixture(scope="session")
def task_folders(pytestconfig: pytest.Config) -> Path:
    """Generated folders of the demo's tasks. They are kept between test runs, because generating them takes seconds."""
    return pytestconfig.cache.mkdir("demo-tasks")


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory, task_folders: Path) -> Iterator[Demo]:
    """The running demo, started once for all tests, which share its data.

    It has only the smallest tasks, because loading and scoring the others would take a minute of CPU time.
    """
    demo = Demo(tmp_path_factory.mktemp("demo"))
    demo.add_task_folders(task_folders)
    try:
        demo.start("Agon is ready", "--small")
        demo.keep_task_folders(task_folders)
        yield demo
    finally:
        demo.stop()


@pytest.fixture
def folder(tiny_folder: Path) -> Path:
    """The tiny task's folder, with additional data files."""
    with (tiny_folder / "task.yaml").open("a") as file:
        file.write(DATA)
    for name in ("sample", "test", "dev", "later"):
        (tiny_folder / f"data/{name}.tsv").write_text(SAMPLE)
    return tiny_folder


@pytest.fixture
def evaluation(at: Clock) -> None:
    """Set the clock to a time during the phase `evaluation`, and reset the rate limits."""
    at(EVALUATION)
    caches["rates"].clear()


@remembered
def task(transactional_db: None, evaluation: None, folder: Path) -> SharedTask:
    """The tiny task with data files, while its phase `evaluation` is open."""
    return import_shared_task(None, folder, EVALUATION).shared_task


@remembered
def team(task: SharedTask) -> Team:
    return new_team(task, "Meltemi")


@pytest.fixture
def portal(live_server: Any, team: Team, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The portal's address. The user is the captain of a team and works in an empty folder."""
    for name, value in {
        "AGON_URL": live_server.url,
        "AGON_TOKEN": token_of(captain(team)),
        "AGON_TASK": "tiny",
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return str(live_server.url)


@pytest.fixture
def organizer(task: SharedTask, portal: str, monkeypatch: pytest.MonkeyPatch) -> User:
    """An organizer of the tiny task, whose token the commands use."""
    user = organizer_of(task)
    monkeypatch.setenv("AGON_TOKEN", token_of(user, "organize"))
    return user


class Typed:
    """A terminal that runs commands and captures their output."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self.out = self.err = ""

    def __call__(self, *words: object, expect: int = 0) -> str:
        """Run a command, check its exit code, and return its standard output."""
        code = main([str(word) for word in words])
        self.out, self.err = self._capsys.readouterr()
        assert code == expect, (code, self.out, self.err)
        return self.out

    def json(self, *words: object, expect: int = 0) -> Any:
        """Run a command that prints only JSON, and return the parsed output."""
        return json.loads(self(*words, "--json", expect=expect))


@pytest.fixture
def agon(portal: str, capsys: pytest.CaptureFixture[str]) -> Typed:
    return Typed(capsys)


@pytest.fixture
def worker(task: SharedTask) -> Iterator[None]:
    """A worker that processes uploads, pushes and gold files until the test ends."""
    is_over = threading.Event()

    def work() -> None:
        try:
            while not is_over.wait(0.05):
                if Submission.objects.filter(state="received").exists() or Validation.objects.unfinished().exists():
                    work_off(EVALUATION)
                for push in TaskPush.objects.filter(state="received"):
                    check_push(push.pk, push.received_at)
                for upload in GoldUpload.objects.filter(state__in=("received", "previewing")):
                    judged(upload, upload.received_at)
        finally:
            connections.close_all()

    thread = threading.Thread(target=work)
    thread.start()
    yield
    is_over.set()
    thread.join()


class BadLine:
    """A proxy to the portal that breaks some connections.

    `breaks` maps the number of a connection, counting from 1, to the number of bytes that get through before it breaks.
    """

    def __init__(self, portal: str, breaks: dict[int, int]) -> None:
        self._portal, self._breaks = urlsplit(portal), breaks
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.connections = 0
        threading.Thread(target=self._listen, daemon=True).start()

    def close(self) -> None:
        self._listener.close()

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self.connections += 1
                left = self._breaks.get(self.connections)
                threading.Thread(target=self._carry, args=(client, left), daemon=True).start()

    def _carry(self, client: socket.socket, left: int | None) -> None:
        assert self._portal.hostname
        with suppress(OSError), client, socket.create_connection((self._portal.hostname, self._portal.port)) as server:
            threading.Thread(target=_pour, args=(client, server), daemon=True).start()
            while piece := server.recv(4096 if left is None else min(4096, left) or 1):
                if left is not None:
                    if left <= 0:
                        break
                    left -= len(piece)
                client.sendall(piece)
            client.shutdown(socket.SHUT_RDWR)


def _pour(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while piece := source.recv(4096):
            target.sendall(piece)


@contextmanager
def server(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    """Yield the address of a server that handles every GET and POST request with `answer`."""

    class Handler(BaseHTTPRequestHandler):
        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: Any) -> None:
            pass

    with serving(Handler) as address:
        yield f"http://{address}"


@pytest.fixture
def bad_line(portal: str, monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[int, int]], Any]:
    """A context in which connections to the portal break: `with bad_line({1: 0}) as line:`."""

    @contextmanager
    def bad_line(breaks: dict[int, int]) -> Iterator[BadLine]:
        line = BadLine(portal, breaks)
        with closing(line), monkeypatch.context() as patch:
            patch.setenv("AGON_URL", line.url)
            yield line

    return bad_line
