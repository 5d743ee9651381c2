"""The demo, started as a user would start it, and people who use it in terminals and browsers."""

import email
import email.policy
import json
import os
import pty
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from portal.management.commands.load_demo import PASSWORD
from portal.management.valkey import HOST, free_port
from tasks import DEMO as TASKS
from tasks.kept import content_key
from tests.bare.visitor import Visitor
from tests.conftest import ROOT
from tests.services import PATIENCE, Program, text_of, wait_until

_OURS = ("AGON_", "DATABASE_URL", "REDIS_URL", "DJANGO_")  # variables that would point to a different portal


def clean_environment() -> dict[str, str]:
    """Return the tests' environment without the settings of any portal."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


@dataclass(frozen=True)
class Page:
    """The answer to a request."""

    status: int
    text: str


class Demo:
    """`manage.py demo` with its web server, Celery workers and broker, on a free port."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.address, self.state, self._log = f"http://{HOST}:{port}", folder / "state", folder / "log"
        self.state.mkdir()
        self._environment = clean_environment() | {"AGON_STATE": str(self.state), "PORT": str(port)}
        self._program: Program | None = None

    def add_task_folders(self, kept: Path) -> None:
        """Copy the generated task folders that are in `kept`, except those of tasks that this demo has already."""
        for slug in TASKS:
            folder = kept / slug / content_key(slug)
            if folder.exists() and not (self._task_folders / slug).exists():
                shutil.copytree(folder, self._task_folders / slug / folder.name)

    def keep_task_folders(self, kept: Path) -> None:
        """Copy this demo's task folders to `kept` if they are not there yet. Delete those of an earlier version."""
        for slug in TASKS:
            folder = kept / slug / content_key(slug)
            own = self._task_folders / slug / folder.name
            if own.exists() and not folder.exists():
                folder.parent.mkdir(exist_ok=True)
                for earlier in folder.parent.iterdir():
                    shutil.rmtree(earlier, ignore_errors=True)
                with tempfile.TemporaryDirectory(dir=kept.parent) as place:
                    draft = shutil.copytree(own, Path(place) / "draft")
                    with suppress(OSError):  # another test has just kept it
                        draft.rename(folder)

    @property
    def _task_folders(self) -> Path:
        return self.state / "demo-tasks"

    def start(self, until: str, *options: str) -> None:
        """Start the demo and wait until its log, which starts empty, contains `until`."""
        self._log.write_text("")
        self._program = Program([sys.executable, "manage.py", "demo", *options], self._environment, self._log)
        self._program.start()
        self.wait_for(until)

    def stop(self) -> None:
        if self._program is not None:
            self._program.stop()

    def press_ctrl_c(self, *options: str) -> None:
        """Press Ctrl-C, and check that a demo with these options ends without an error."""
        os.kill(self.pid, signal.SIGINT)
        assert self._process.wait(PATIENCE) == 0, self.log
        port = self.address.rpartition(":")[2]
        command = " ".join([f"AGON_STATE={self.state} PORT={port} ./run demo", *options])
        assert f"The data is kept in {self.state}. To continue with it, run:\n{command}\n" in self.log

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def _process(self) -> "subprocess.Popen[bytes]":
        assert self._program is not None
        assert self._program.process is not None
        return self._program.process

    def wait_for(self, text: str) -> None:
        """Wait until the log contains the text."""

        def is_shown() -> bool:
            assert self._process.poll() is None, self.log
            return text in self.log

        wait_until(is_shown, f"the demo shows: {text}")

    def get(self, path: str) -> Page:
        """Request a page without signing in."""
        connection = HTTPConnection(self.address.removeprefix("http://"), timeout=PATIENCE)
        with closing(connection):
            connection.request("GET", path)
            response = connection.getresponse()
            return Page(response.status, response.read().decode())

    def let_deadline_pass(self, task: str) -> None:
        """Close all phases of the task now, as if time had passed. Organizers would have to give an hour's notice."""
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        of_task = "shared_task_id = (SELECT id FROM portal_sharedtask WHERE slug = ?)"
        with closing(sqlite3.connect(self.state / "agon.sqlite3", timeout=PATIENCE)) as database, database:
            changed = database.execute(f"UPDATE portal_phase SET closes = ? WHERE {of_task}", (now, task))
            assert changed.rowcount

    def mails_to(self, address: str) -> list[str]:
        """Return the texts of the emails to this address, oldest first."""
        files = sorted((self.state / "mail").glob(f"*_{address}_*.eml"))
        return [text_of(email.message_from_bytes(file.read_bytes(), policy=email.policy.default)) for file in files]


class Person:
    """A person with a demo account, a browser, and a terminal in a separate folder."""

    def __init__(self, demo: Demo, email: str, folder: Path) -> None:
        self.folder, self._demo = folder, demo
        folder.mkdir()
        self.browser = Visitor(demo.address)
        self.browser.sign_in(email, PASSWORD)
        self.browser.post("/accounts/reauthenticate/", password=PASSWORD)  # required before approving a login
        own = {"HOME": folder, "XDG_CONFIG_HOME": folder / ".config", "XDG_CACHE_HOME": folder / ".cache"}
        self.environment = clean_environment() | {name: str(value) for name, value in own.items()}
        self.environment |= {"PYTHONPATH": str(ROOT), "PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}
        self.err = ""

    def agon(self, *words: object, expect: int = 0, typed: str = "") -> str:
        """Run `agon`, check its exit code, and return its standard output."""
        done = subprocess.run(
            self._command(*words),
            cwd=self.folder,
            env=self.environment,
            input=typed,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        self.err = done.stderr
        assert done.returncode == expect, (words, done.returncode, done.stdout, done.stderr)
        return done.stdout

    def json(self, *words: object, expect: int = 0) -> Any:
        """Run a command that prints only JSON, and return the parsed output."""
        return json.loads(self.agon(*words, "--json", expect=expect))

    def login(self, *words: str) -> str:
        """Sign in with `agon login`, approve the login in the browser, and return the HTML of the approval page."""
        leader, follower = pty.openpty()
        terminal = {"stdin": follower, "stdout": follower, "stderr": follower}
        command = self._command("login", self._demo.address, "--no-browser", *words)
        program = subprocess.Popen(command, cwd=self.folder, env=self.environment, start_new_session=True, **terminal)
        os.close(follower)
        try:
            found = _read_until(leader, rb"in your browser: (\S+)\s")
            link = found[1].decode().removeprefix(self._demo.address)
            page = self.browser.get(link)
            (code,) = re.findall(r'name="code" value="([^"]+)"', page)
            assert "Access allowed." in self.browser.post(link, code=code, allow="")
            _read_until(leader, rb"Signed in to (\S+) as")
            assert program.wait(PATIENCE) == 0
        finally:
            program.kill()
            program.wait()
            os.close(leader)
        return page

    def _command(self, *words: object) -> list[str]:
        return [sys.executable, "-m", "agon", *map(str, words)]


def _read_until(terminal: int, pattern: bytes) -> re.Match[bytes]:
    """Read a terminal's output until it contains `pattern`, and return the match."""
    shown, end = b"", time.monotonic() + PATIENCE
    while not (found := re.search(pattern, shown)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 4096)
    return found
