"""Uploads to a real web server: incorrect lengths, broken connections, a full disk, and a broker that hangs."""

import http.client
import os
import resource
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from portal.evaluation.lanes import Lane
from portal.evaluation.limits import BROKER_SECONDS
from portal.management.programs import web_command, worker_command
from portal.management.valkey import HOST, free_port
from portal.models import Run, Submission, User, Validation
from portal.web.bodies import BODY_BYTES
from tests.faults.conftest import TEAM, own_environment
from tests.services import PATIENCE, Broker, Program, answers, children, wait_until

TOKEN, BOUNDARY = "a" * 32, "boundary"
PIECE = b"x" * 65536


class Web(Program):
    """A Granian server on the test's database, and a signed-in captain."""

    def __init__(self, log: Path) -> None:
        self.port = free_port()
        super().__init__(web_command(self.port), own_environment(), log)
        client = Client()
        client.force_login(User.objects.get(email="captain@agon.example"))
        self.cookie = f"sessionid={client.cookies['sessionid'].value}; csrftoken={TOKEN}"

    def post(self, body: bytes | Iterator[bytes], number: int = 1, key: str = "", page: str = "submit") -> int:
        """Upload a body and return the status. An iterator is sent in chunks, without a length."""
        connection = http.client.HTTPConnection(HOST, self.port, timeout=PATIENCE)
        form = self.form(body, number, key) if isinstance(body, bytes) else self._in_pieces(body, number, key)
        try:
            connection.request("POST", f"/tasks/ssa2023/{page}/", form, self.headers, encode_chunked=True)
            return connection.getresponse().status
        finally:
            connection.close()

    @property
    def headers(self) -> dict[str, str]:
        return {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}", "Cookie": self.cookie}

    def head(self, length: int) -> bytes:
        """Return the head of a request with a body of this length."""
        lines = ["POST /tasks/ssa2023/submit/ HTTP/1.1", f"Host: {HOST}", f"Content-Length: {length}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        return "\r\n".join([*lines, "", ""]).encode()

    def form(self, body: bytes, number: int, key: str) -> bytes:
        return b"".join(self._in_pieces(iter([body]), number, key))

    def _in_pieces(self, body: Iterator[bytes], number: int, key: str) -> Iterator[bytes]:
        phase = "post-evaluation"
        for name, value in {"csrfmiddlewaretoken": TOKEN, "phase": phase, "key": key}.items():
            yield f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        name = f'name="file"; filename="en_{TEAM}_{number}.csv"'
        yield f"--{BOUNDARY}\r\nContent-Disposition: form-data; {name}\r\n\r\n".encode()
        yield from body
        yield f"\r\n--{BOUNDARY}--\r\n".encode()


@pytest.fixture
def run_bytes(folder: Path) -> bytes:
    return (folder / "baselines/en/random.csv").read_bytes()


@pytest.fixture
def web(send: Callable[[int], Submission], tmp_path: Path) -> Iterator[Web]:
    web = Web(tmp_path / "web.log")
    web.start()
    wait_until(lambda: answers(web.port), "the web server answers")
    yield web
    web.kill()


def drafts() -> list[str]:
    """Return the temporary files of uploads."""
    files = [path.name for path in Path(settings.DATA_ROOT).rglob("*") if path.is_file()]
    return [name for name in files if name.startswith("tmp")]


def sent() -> int:
    return Submission.objects.count()


def test_a_body_beyond_the_limit_is_rejected_with_and_without_its_length(web: Web, run_bytes: bytes) -> None:
    missing = BODY_BYTES + 1 - len(web.form(b"", 1, ""))
    assert web.post(PIECE[: min(len(PIECE), missing - at)] for at in range(0, missing, len(PIECE))) == 413
    with socket.create_connection((HOST, web.port)) as hasty:  # rejected because of the stated length alone
        hasty.sendall(web.head(BODY_BYTES + 1))
        assert b" 413 " in hasty.recv(100)
    assert (sent(), drafts()) == (0, [])
    assert web.post(iter([run_bytes])) == 303  # sent in chunks, and small enough
    assert Run.objects.filter(kind="team").count() == 1


def test_who_was_cut_off_gets_the_same_receipt_at_the_retry(web: Web, run_bytes: bytes) -> None:
    form = web.form(run_bytes, 1, "cut")
    with socket.create_connection((HOST, web.port)) as cut:
        cut.sendall(web.head(len(form)) + form)
        wait_until(lambda: sent() == 1, "the upload is committed")
    web.kill()
    web.start()

    def again() -> int:
        with suppress(OSError):
            return web.post(run_bytes, key="cut")
        return 0

    wait_until(lambda: again() == 303, "the retry gets its receipt")
    assert sent() == 1


@pytest.mark.skipif(sys.platform != "linux", reason="the worker is looked for in /proc")
def test_a_server_that_still_loads_ends_at_a_signal(tmp_path: Path, transactional_db: None) -> None:
    # With a revision given, the server's first child is its worker instead of git.
    environment = own_environment() | {"AGON_REVISION": "test"}
    web = Program(web_command(free_port()), environment, tmp_path / "web.log")
    web.start()
    assert web.process
    try:
        wait_until(lambda: children(web.pid), "its worker has begun")
        web.process.terminate()
        assert web.process.wait(PATIENCE) == 0
    finally:
        web.kill()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux limits another process's files")
def test_a_full_disk_leaves_no_row_and_no_file(web: Web, run_bytes: bytes) -> None:
    processes = [web.pid, *children(web.pid)]
    body = run_bytes + b"\n" * 100_000

    def allow(size: int) -> None:
        for pid in processes:
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

    allow(64 * 1024)
    assert web.post(body) == 503
    assert (sent(), drafts()) == (0, [])
    allow(resource.RLIM_INFINITY)
    assert web.post(body) == 303


def test_a_hanging_broker_delays_one_upload_briefly_and_not_the_next(
    broker: Broker, web: Web, run_bytes: bytes
) -> None:

    def seconds_of(number: int) -> float:
        started = time.monotonic()
        assert web.post(run_bytes, number) == 303
        return time.monotonic() - started

    os.kill(broker.pid, signal.SIGSTOP)
    try:
        first, *others = [seconds_of(number) for number in (1, 2, 3)]
    finally:
        os.kill(broker.pid, signal.SIGCONT)
    assert sent() == 3
    assert BROKER_SECONDS <= first < 30  # without a time limit, it would wait forever
    assert min(others) < BROKER_SECONDS  # the fastest upload, because the machine may be busy


def test_the_web_server_checks_no_file_itself(web: Web, run_bytes: bytes, slow_items: Callable[[bool], None]) -> None:
    """No worker is running, and a check would never end. The server still answers every request."""
    slow_items(True)
    assert web.post(run_bytes, page="validate") == 303
    assert web.post(run_bytes, page="validate") == 303  # replaces the first
    assert web.post(run_bytes) == 303  # the same file can still be uploaded
    assert Validation.objects.unfinished().get().state == Validation.State.WAITING


def test_uploads_go_before_files_that_are_validated_only(
    web: Web,
    broker: Broker,
    run_bytes: bytes,
    tmp_path: Path,
) -> None:
    assert web.post(run_bytes, page="validate") == 303
    assert [web.post(run_bytes, number) for number in (1, 2)] == [303, 303]
    worker = Program([*worker_command("worker", [Lane.SCORING], 1)], own_environment(), tmp_path / "worker.log")
    worker.start()
    try:
        wait_until(lambda: Validation.objects.get().is_finished, "the file is validated")
    finally:
        worker.kill()
    validation = Validation.objects.get()
    assert (validation.state, validation.report["ok"]) == (Validation.State.DONE, True)
    runs = Run.objects.filter(kind=Run.Kind.TEAM)
    assert {run.state for run in runs} == {Run.State.SCORED}
    assert all(run.finished_at < validation.finished_at for run in runs)
