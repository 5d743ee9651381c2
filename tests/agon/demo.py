"""The demo as people start it, and the people who use it at terminals and in browsers."""

import email
import email.policy
import json
import os
import pty
import re
import select
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from portal.management.commands.load_demo import PASSWORD
from portal.management.valkey import HOST, free_port
from tests.bare.visitor import Visitor
from tests.conftest import ROOT
from tests.services import PATIENCE, Program, text_of, wait_until

_OURS = ("AGON_", "DATABASE_URL", "REDIS_URL", "DJANGO_")  # prefixes of variables that would lead to another portal


def clean_environment() -> dict[str, str]:
    """Return the tests' environment without the settings of any portal."""
    return {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}


class Demo:
    """`manage.py demo` with its web server, Celery workers and broker, on a free port."""

    def __init__(self, folder: Path) -> None:
        port = free_port()
        self.address, self._state, self._log = f"http://{HOST}:{port}", folder / "state", folder / "log"
        self._state.mkdir()
        self._log.touch()
        environment = clean_environment() | {"AGON_STATE": str(self._state), "PORT": str(port), "PYTHONUNBUFFERED": "1"}
        self._program = Program([sys.executable, "manage.py", "demo"], environment, self._log)

    def start(self) -> None:
        self._program.start()
        wait_until(self._is_ready, "the demo is ready")

    def stop(self) -> None:
        self._program.stop()

    def _is_ready(self) -> bool:
        process = self._program.process
        assert process is not None
        assert process.poll() is None, self._log.read_text()
        return "Agon is ready" in self._log.read_text()

    def let_deadline_pass(self, task: str) -> None:
        """Let all phases of the task close now, as if time had passed: organizers must give an hour's notice."""
        now = datetime.now(UTC).strftime("%Y-%m-%d %H:%M:%S.%f")
        of_task = "shared_task_id = (SELECT id FROM portal_sharedtask WHERE slug = ?)"
        with closing(sqlite3.connect(self._state / "agon.sqlite3", timeout=PATIENCE)) as database, database:
            changed = database.execute(f"UPDATE portal_phase SET closes = ? WHERE {of_task}", (now, task))
            assert changed.rowcount

    def mails_to(self, address: str) -> list[str]:
        """Return the texts of the emails to that address, oldest first."""
        files = sorted((self._state / "mail").glob(f"*_{address}_*.eml"))
        return [text_of(email.message_from_bytes(file.read_bytes(), policy=email.policy.default)) for file in files]


class Person:
    """A person with a demo account, a browser, and a terminal in a separate folder."""

    def __init__(self, demo: Demo, email: str, folder: Path) -> None:
        self.folder, self._demo = folder, demo
        folder.mkdir()
        self.browser = Visitor(demo.address)
        self.browser.sign_in(email, PASSWORD)
        self.browser.post("/accounts/reauthenticate/", password=PASSWORD)  # needed before a login can be allowed
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
        """Run a command that prints only JSON, and return it."""
        return json.loads(self.agon(*words, "--json", expect=expect))

    def login(self, *words: str) -> str:
        """Sign in with `agon login`, allow it in the browser, and return the page where it is allowed."""
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
    """Read a program's terminal output until it matches."""
    shown, end = b"", time.monotonic() + PATIENCE
    while not (found := re.search(pattern, shown)):
        ready, _, _ = select.select([terminal], [], [], max(0, end - time.monotonic()))
        assert ready, shown
        shown += os.read(terminal, 4096)
    return found
