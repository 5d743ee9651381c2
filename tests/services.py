"""Real servers for tests. Each uses a free port on this machine and is stopped when the test ends."""

import email
import email.policy
import logging
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from email.message import EmailMessage
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import boto3
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, Envelope, Session

from portal.management.valkey import HOST, free_port, valkey_command
from tests.signed_s3 import KEY, REGION, SECRET

ROOT = Path(__file__).resolve().parent.parent
PATIENCE = 300  # seconds until a test gives up, even on a slow, busy machine; waits end as soon as possible


def wait_until(condition: Callable[[], Any], what: str) -> None:
    """Wait until the condition holds. If it takes too long, raise a TimeoutError that says what did not happen.

    The longer it takes, the less often the condition is checked, because some checks request a page.
    """
    started = time.monotonic()
    while not condition():
        passed = time.monotonic() - started
        if passed > PATIENCE:
            raise TimeoutError(f"after {PATIENCE} s: {what}")
        time.sleep(min(max(0.05, passed / 20), 0.5))


def answers(port: int, host: str = HOST) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex((host, port)) == 0


def children(parent: int) -> list[int]:
    """Return the running child processes of the process `parent` (Linux).

    Only this process's entries in /proc are read, because tests ask many times while they wait.
    """
    found: list[int] = []
    for file in Path(f"/proc/{parent}/task").glob("*/children"):
        with suppress(FileNotFoundError, ProcessLookupError):  # the thread has just ended
            found += map(int, file.read_text().split())
    return [pid for pid in found if is_running(pid)]


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


class Broker:
    """A Valkey server with an append-only file. It can be killed, emptied and started again on its port."""

    def __init__(self, folder: Path, port: int, host: str = HOST) -> None:
        self._folder = folder
        self._port = port
        self._host = host

    def start(self) -> None:
        command = valkey_command(self._folder, self._port)
        if self._host != HOST:
            command += ["--bind", self._host, "--protected-mode", "no"]
        self._process = subprocess.Popen(command)
        wait_until(lambda: answers(self._port, self._host), "Valkey listens")

    @property
    def pid(self) -> int:
        return self._process.pid

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def lose_everything(self) -> None:
        """Delete the server's data, as a disk failure or FLUSHALL would. Call this between `kill` and `start`."""
        shutil.rmtree(self._folder)
        self._folder.mkdir()


def chromium() -> str | None:
    """Return the path of Chromium. Its headless shell comes first: without windows, it needs less CPU time."""
    names = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
    return next((path for path in map(shutil.which, names) if path), None)


def postgres_programs() -> Path | None:
    """Return the folder with the newest PostgreSQL server's programs, or None. On Debian, it is not on PATH."""
    debian = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[4]))
    found = debian[-1] if debian else shutil.which("initdb")
    return Path(found).resolve().parent if found else None


class Postgres:
    """A PostgreSQL server with its data in a folder. It can be stopped abruptly and started again on its port.

    If this process is root, the server runs as the user postgres.
    """

    def __init__(self, folder: Path, host: str = HOST) -> None:
        programs = postgres_programs()
        if programs is None:
            raise FileNotFoundError("no PostgreSQL server is installed")
        self._programs, self._folder, self._host, self._port = programs, folder, host, free_port()
        self._owner: dict[str, Any] = {}
        if os.geteuid() == 0:  # initdb does not run as root
            self._owner = {"user": "postgres", "group": "postgres", "extra_groups": []}
            shutil.chown(folder, "postgres", "postgres")
        initdb = [programs / "initdb", "--username=agon", "--auth=trust", "--encoding=UTF8", "--no-sync", folder]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=folder, **self._owner)
        if host != HOST:
            with (folder / "pg_hba.conf").open("a") as rules:
                rules.write("host all all samenet trust\n")
        self.url = f"postgres://agon@{host}:{self._port}/postgres"

    def start(self, fsync: bool = False) -> None:
        settings = [f"port={self._port}", f"listen_addresses={self._host}", f"unix_socket_directories={self._folder}"]
        if not fsync:
            settings += ["fsync=off", "full_page_writes=off", "synchronous_commit=off"]
        settings += ["max_connections=300"]  # some tests open 40 connections, and several processes share the server
        options = [f"-c{setting}" for setting in settings]
        command = [self._programs / "postgres", "-D", self._folder, *options]
        with (self._folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, cwd=self._folder, stderr=log, **self._owner)
        wait_until(self._accepts, "PostgreSQL accepts connections")

    def stop(self, how: signal.Signals = signal.SIGINT) -> None:
        """Stop the server. SIGINT does not wait for clients; SIGQUIT stops the server abruptly, as in a crash."""
        self.process.send_signal(how)
        self.process.wait()

    def _accepts(self) -> bool:
        command = [self._programs / "pg_isready", "--quiet", f"--host={self._host}", f"--port={self._port}"]
        return subprocess.run(command, check=False).returncode == 0


@contextmanager
def postgres(folder: Path) -> Iterator[str]:
    """Start a PostgreSQL server in `folder` and yield its DATABASE_URL."""
    server = Postgres(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


class Program:
    """One of Agon's programs in a separate process group. It can be killed and started again."""

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        log: Path,
        folder: Path = ROOT,
        cache: Path | None = None,
    ) -> None:
        self._command, self._environment, self._log, self._folder = command, environment, log, folder
        self.cache = cache or log.parent  # where its watchdog writes, if the environment says so
        self.process: subprocess.Popen[bytes] | None = None

    def __str__(self) -> str:
        return " ".join(map(str, self._command))

    def start(self) -> None:
        with self._log.open("ab") as log:
            self.process = subprocess.Popen(
                self._command, cwd=self._folder, env=self._environment, stdout=log, stderr=log, start_new_session=True
            )

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def kill(self) -> None:
        """Kill the program and all its children."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """Stop the program as a restart would: it has 20 seconds to finish its work before it is killed."""
        if self.process is not None and self.process.poll() is None:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(20)
        self.kill()


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Serve HTTP with `handler` in a thread and yield the host and port.

    Stopping takes 10 ms instead of the default 0.5 s.
    """
    with ThreadingHTTPServer((HOST, 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"{HOST}:{server.server_port}"
        finally:
            server.shutdown()


class MailServer:
    """An SMTP server that keeps the emails it receives. It accepts everything for which `answers` has no reply."""

    def __init__(self) -> None:
        logging.getLogger("mail.log").setLevel("WARNING")  # otherwise, aiosmtpd logs every line that it reads
        self.mails: list[EmailMessage] = []
        self.answers: dict[str, str] = {}  # command or recipient → reply
        self.connections = 0  # number of connections that clients have ended
        self.when_received: Callable[[], None] = lambda: None  # called before the client learns that an email arrived
        self._port = free_port()
        self.start()

    @property
    def settings(self) -> dict[str, Any]:
        """Return the portal's settings for this server."""
        return {
            "EMAIL_BACKEND": "django.core.mail.backends.smtp.EmailBackend",
            "EMAIL_HOST": HOST,
            "EMAIL_PORT": self._port,
        }

    def start(self) -> None:
        self._controller = Controller(self, hostname=HOST, port=self._port)
        self._controller.start()

    def stop(self) -> None:
        self._controller.stop()

    def to(self, address: str) -> list[EmailMessage]:
        """Return the emails to this address, oldest first."""
        return [mail for mail in self.mails if mail["To"] == address]

    async def handle_QUIT(self, _server: SMTP, _session: Session, _envelope: Envelope) -> str:  # noqa: N802
        self.connections += 1
        return "221 Bye"

    async def handle_MAIL(  # noqa: N802
        self, _server: SMTP, _session: Session, envelope: Envelope, address: str, _options: list[str]
    ) -> str:
        answer = self.answers.get("MAIL")
        if answer is None:
            envelope.mail_from = address
        return answer or "250 OK"

    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, _session: Session, to: Envelope, address: str, options: list[str]
    ) -> str:
        answer = self.answers.get(address) or self.answers.get("RCPT")
        if answer is None:
            to.rcpt_tos.append(address)
        return answer or "250 OK"

    async def handle_DATA(self, _server: SMTP, _session: Session, envelope: Envelope) -> str:  # noqa: N802
        answer = self.answers.get("DATA")
        if answer is None and isinstance(envelope.content, bytes):
            self.mails.append(email.message_from_bytes(envelope.content, policy=email.policy.default))
            self.when_received()
        return answer or "250 OK"


def text_of(mail: EmailMessage) -> str:
    """Return the email's plain text."""
    body = mail.get_body(("plain",))
    assert body is not None
    return str(body.get_content()).replace("\r\n", "\n")


def code_in(mail: EmailMessage) -> str:
    """Return the code in an email."""
    (code,) = re.findall(r"^\s*([A-Z]{4}-[A-Z]{4})\s*$", text_of(mail), re.MULTILINE)
    return str(code)


class S3:
    """moto's S3 server behind `tests.signed_s3`. It verifies no object checksums, so tests cannot rely on them."""

    def __init__(self, host: str = HOST) -> None:
        self._host, self._port = host, free_port()
        self.endpoint = f"http://{host}:{self._port}"

    def start(self) -> None:
        command = [sys.executable, "-m", "tests.signed_s3", self._host, str(self._port)]
        self._process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: answers(self._port, self._host), "moto's server listens")

    def be_unavailable(self, unavailable: bool) -> None:
        """Answer every request with status 503, or answer normally again."""
        self._process.send_signal(signal.SIGUSR1 if unavailable else signal.SIGUSR2)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def new_bucket(self) -> dict[str, str]:
        """Create a bucket and return its settings."""
        access = {"endpoint": self.endpoint, "region": REGION, "key": KEY, "secret": SECRET}
        client = boto3.client(
            "s3",
            endpoint_url=self.endpoint,
            region_name=REGION,
            aws_access_key_id=KEY,
            aws_secret_access_key=SECRET,
        )
        name = f"agon-{secrets.token_hex(4)}"
        client.create_bucket(Bucket=name)
        return {"name": name, **access}
