"""Start all of Agon's programs on this machine, with demo data: `./run demo`."""

import errno
import fcntl
import os
import shlex
import shutil
import socket
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.core.management.base import CommandError
from django.db import DatabaseError
from django.db.migrations.exceptions import InconsistentMigrationHistory

from portal.management.command import PortalCommand
from portal.management.commands.load_demo import (
    ACCOUNTS,
    CAPTAIN,
    PASSWORD,
    SMALL,
    TEAM,
    create_accounts,
    is_loaded,
)
from portal.management.processes import Processes
from portal.management.programs import BEAT, WORKERS, web_command, worker_command
from portal.management.schema import is_migrated, migrate
from portal.management.valkey import HOST, announced, free_port, valkey_command
from portal.models import Run
from portal.sealing import as_text, public_key
from tasks import DEMO

MARKER = "made-by-the-demo"  # file that marks the state folders that --fresh may empty
LOADER = "data"  # the program that loads the sample tasks
LOAD = [sys.executable, str(settings.BASE_DIR / "manage.py"), "load_demo"]


class Command(PortalCommand):
    help = "Start the web server, the worker and the broker with the demo's shared tasks. Press Ctrl-C to stop them."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--fresh", action="store_true", help="create all demo data from scratch")
        parser.add_argument("--small", action="store_true", help="load only the two smallest sample tasks")

    def handle(self, *, fresh: bool, small: bool, **_: Any) -> None:
        state: Path = settings.STATE_ROOT
        port = _free_web_port(os.environ.get("PORT", "8000"))
        lock = _claim(state)
        if fresh:
            _empty(state)
        environment = os.environ | {
            "AGON_DEMO": "true",
            "AGON_URL": f"http://{HOST}:{port}",
            "PYTHONUNBUFFERED": "1",
            "PYTHONWARNINGS": "ignore::UserWarning",  # workers run as root, and static files are not collected
        }
        if sys.stdout.isatty():
            environment["FORCE_COLOR"] = "true"
        options = ["--small"] if small else []
        broker_port = None if os.environ.get("REDIS_URL") else free_port()
        if broker_port:
            environment["REDIS_URL"] = f"redis://{HOST}:{broker_port}/0"
        try:
            with announced(environment["REDIS_URL"]), Processes(environment) as processes:
                if broker_port:
                    _start_broker(processes, state / "valkey", broker_port)
                _await_broker(environment["REDIS_URL"])
                _prepare_database()
                with _loading_shown(not is_loaded(SMALL if small else DEMO)) as is_loading:
                    self._start(processes, port, state, [*LOAD, *options] if is_loading else None)
                    _wait(processes, lambda: not is_loading or processes.has_succeeded(LOADER))
                self._serve(processes, port)
        except KeyboardInterrupt:
            again = start_command(*options)
            self._say(f"\nStopped. The data is kept in {state}. To continue with it, run:\n{again}\n")
        finally:
            os.close(lock)

    def _start(self, processes: Processes, port: int, state: Path, loader: list[str] | None) -> None:
        """Start the web server and, once it answers, all other programs. `loader` is the command that loads tasks."""
        processes.start("web", web_command(port), AGON_GOLD_PUBLIC_KEY_FILE=str(_public_key_file(state)))
        if loader:
            create_accounts()  # while the web server starts
        _wait(processes, lambda: _answers(port))
        if loader:
            address = self.style.SUCCESS(f"http://{HOST}:{port}")
            self._say(f"\n  You can open {address} now. The sample tasks appear there one by one.\n")
            processes.start_once(LOADER, loader)
        for name, lanes in WORKERS.items():
            processes.start(name, worker_command(name, lanes))
        processes.start("beat", BEAT)

    def _serve(self, processes: Processes, port: int) -> None:
        """Print the welcome message once all is loaded, and again once the baselines are scored."""
        welcome = self._welcome(f"http://{HOST}:{port}")
        self._say(welcome)
        if _has_work():
            _wait(processes, lambda: not _has_work(), pause=1)
            self._say(f"\n  The baselines are scored.\n{welcome}")
        _wait(processes, lambda: False, pause=1)

    def _say(self, text: str) -> None:
        self.stdout.write(text)
        self.stdout.flush()  # needed if the output is a file or a pipe

    def _welcome(self, address: str) -> str:
        accounts = "\n".join(f"    {email:<24} {part}" for email, (_, part) in ACCOUNTS.items())
        return (
            f"\n  Agon is ready: {self.style.SUCCESS(address)}\n\n"
            f"  Accounts, all with the password {self.style.SUCCESS(PASSWORD)}:\n{accounts}\n\n"
            f"  Emails are written to {settings.MAIL_ROOT}. If a task’s data requires a team password,\n"
            f"  the approval email to {CAPTAIN} contains the password of {TEAM}.\n\n"
            "  Press Ctrl-C to stop everything.\n"
        )


def start_command(*options: str, **changed: str) -> str:
    """Return the command that starts this demo again, with the same folder and port, unless they are `changed`."""
    given = {name: changed.get(name) or os.environ.get(name) for name in ("AGON_STATE", "PORT")}
    words = [f"{name}={shlex.quote(value)}" for name, value in given.items() if value]
    return " ".join([*words, "./run demo", *options])


def _prepare_database() -> None:
    if is_migrated():
        return
    try:
        migrate()
    except (DatabaseError, InconsistentMigrationHistory) as error:
        again = start_command("--fresh")
        raise CommandError(f"The database can't be upgraded: {error}. To start over, run: {again}") from None


@contextmanager
def _loading_shown(is_loading: bool) -> Iterator[bool]:
    """Let the web server's pages show whether sample tasks are still loading."""
    settings.DEMO_IS_LOADING.unlink(missing_ok=True)  # an earlier demo may have been killed
    if is_loading:
        settings.DEMO_IS_LOADING.touch()
    try:
        yield is_loading
    finally:
        settings.DEMO_IS_LOADING.unlink(missing_ok=True)


def _public_key_file(state: Path) -> Path:
    """Write the public key to a file for the web server, so that it does not need the private key."""
    path = state / "gold-public-key"
    path.touch(mode=0o600)
    path.write_text(as_text(public_key()))
    return path


def _free_web_port(text: str) -> int:
    if not (text.isdecimal() and 0 < int(text) < 65536):
        raise CommandError(f"PORT is {text!r}. It must be a number from 1 to 65535.")
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, int(text)))
        except OSError as error:
            example = start_command(PORT="8001")
            why = "is already in use" if error.errno == errno.EADDRINUSE else "can't be used"
            raise CommandError(f"Port {text} {why}. Choose another port, for example: {example}") from None
    return int(text)


def _claim(state: Path) -> int:
    """Lock the state folder for this process and return the lock's descriptor. An empty folder is marked first."""
    lock = os.open(state, os.O_RDONLY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise CommandError(
            f"Another demo is already running in {state}. Set AGON_STATE to a different folder."
        ) from None
    if {path.name for path in state.iterdir()} <= {"secret-key"}:
        (state / MARKER).write_text("./run demo created this folder. ./run demo --fresh empties it.\n")
    return lock


def _empty(state: Path) -> None:
    if not (state / MARKER).exists():
        raise CommandError(
            f"{state} was not created by the demo, so --fresh does not empty it. Delete the folder yourself."
        )
    for path in state.iterdir():
        if path == settings.DEMO_TASKS or path.name == MARKER:
            continue
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _start_broker(processes: Processes, folder: Path, port: int) -> None:
    folder.mkdir(exist_ok=True)
    try:
        processes.start("broker", valkey_command(folder, port))
    except ModuleNotFoundError:
        raise CommandError(
            "The embedded Valkey is not available for this machine. Set REDIS_URL to your own Redis or Valkey."
        ) from None


def _await_broker(url: str) -> None:
    for _ in range(50):
        try:
            redis.Redis.from_url(url).ping()
        except redis.ConnectionError:
            time.sleep(0.1)
        else:
            return
    raise CommandError(f"No Redis or Valkey responds at {url}.")


def _wait(processes: Processes, condition: Callable[[], bool], pause: float = 0.1) -> None:
    """Wait until the condition holds, which is checked every `pause` seconds."""
    while not condition():
        if ended := processes.ended():
            if ended == LOADER:
                raise CommandError(f"The demo data could not be loaded. To start over, run: {start_command('--fresh')}")
            raise CommandError(
                f"The {ended} process stopped unexpectedly, so the demo is shutting down. See the log above for "
                f"the reason."
            )
        time.sleep(pause)


def _has_work() -> bool:
    return Run.objects.scorable().unfinished().exists()


def _answers(port: int) -> bool:
    connection = HTTPConnection(HOST, port, timeout=5)
    try:
        connection.request("GET", "/healthz")
        return connection.getresponse().status == HTTPStatus.OK
    except OSError:
        return False
    finally:
        connection.close()
