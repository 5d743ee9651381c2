"""Agon as in production, on this machine: PostgreSQL, Valkey, granian, workers by lane and beat, with EXIST 2024.

Each program can be killed and started again. Servers and programs are started like in the tests.
"""

import json
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import django

from benchmarks.exist_runs import build_variants
from portal.evaluation.lanes import Lane
from portal.management.programs import BEAT, web_command, worker_command
from portal.management.valkey import HOST, free_port
from tests.services import Broker, Postgres, Program, answers, children, wait_until

TRACK, PHASE = "task2-soft", "post-evaluation"
ITEMS = 2076


@dataclass(frozen=True)
class Sender:
    """A signed-in team captain."""

    team: str
    session: str


class Installation:
    """The running programs. There are `scorers` scoring workers, each with `processes` processes."""

    def __init__(self, folder: Path, web_workers: int, scorers: int, processes: int) -> None:
        self.folder = folder
        self.state = folder / "state"
        self.port, broker_port = free_port(), free_port()
        self.database = Postgres(_made(folder / "postgres"))
        self.broker = Broker(_made(folder / "valkey"), broker_port)
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "AGON_STATE": str(_made(self.state)),
            "AGON_URL": f"http://{HOST}:{self.port}",
            "AGON_DEMO": "true",  # emails are written to files
            "DATABASE_URL": self.database.url,
            "REDIS_URL": f"redis://{HOST}:{broker_port}/0",
            "LOG_LEVEL": "WARNING",
            "PYTHONWARNINGS": "ignore",
        }
        self._web_workers = web_workers
        self.web = self._program("web", web_command(self.port, web_workers))
        names = [f"scorer-{number}" for number in range(scorers)]
        self.scorers = [self._program(name, worker_command(name, [Lane.SCORING], processes)) for name in names]
        self.others = [
            self._program("worker", worker_command("worker", [Lane.BULK], 1)),
            self._program("mailer", worker_command("mailer", [Lane.MAIL], 1)),
            self._program("beat", BEAT),
        ]

    def start_web(self) -> None:
        self.web.start()
        wait_until(lambda: answers(self.port), f"the web server answers; see {self.folder / 'web.log'}")

    @contextmanager
    def serving(self, application: str) -> Iterator[int]:
        """Serve another application on a server like the portal's, and yield its port."""
        port = free_port()
        server = self._program("another", [*web_command(port, self._web_workers), application])
        server.start()
        try:
            wait_until(lambda: answers(port), f"{application} answers; see {self.folder / 'another.log'}")
            yield port
        finally:
            server.stop()

    def restart_ended(self) -> None:
        """Restart programs that have ended, like systemd. Celery ends if a new process of its pool is killed."""
        for program in self.programs:
            if program.process is not None and program.process.poll() is not None:
                program.start()

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU seconds that each part has used so far, including ended children.

        This process is the sender.
        """
        programs = {"web": [self.web], "scoring": self.scorers, "bulk, mail, beat": self.others}
        found = {name: sum(_cpu_seconds(one.pid) for one in those if one.process) for name, those in programs.items()}
        return found | {
            "PostgreSQL": _cpu_seconds(self.database.process.pid),
            "Valkey": _cpu_seconds(self.broker.pid),
            "sender": time.process_time(),
        }

    @property
    def programs(self) -> list[Program]:
        return [*self.others, *self.scorers, self.web]

    def logs(self) -> str:
        """Return the last lines of each program's log."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {file.name}\n{file.read_text(errors='replace')[-4000:]}" for file in files)

    def _program(self, name: str, command: list[str]) -> Program:
        return Program(command, self.environment, self.folder / f"{name}.log")


@contextmanager
def installation(web_workers: int = 2, scorers: int = 1, processes: int = 2) -> Iterator[Installation]:
    """Start all servers, set up Django in this process, and create the database. Web and workers are started later."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agon-benchmark-")))
        folder.chmod(0o755)  # PostgreSQL runs as another user and needs access
        own = Installation(folder, web_workers, scorers, processes)
        own.database.start(fsync=True)
        stack.callback(own.database.stop)
        own.broker.start()
        stack.callback(own.broker.kill)
        os.environ |= own.environment
        django.setup()
        from django.core.management import call_command

        call_command("migrate", verbosity=0)
        for program in own.programs:
            stack.callback(program.stop)
        yield own


def prepare(own: Installation, teams: int) -> list[Sender]:
    """Import EXIST 2024 with raised limits and without baselines, and create teams whose captains have signed."""
    from portal.actions.import_shared_task import import_shared_task
    from portal.models import OutgoingMail, Run
    from portal.models.clock import database_now

    folder = own.folder / "exist2024"
    build_variants(folder)
    rules = folder / "task.yaml"
    rules.write_text(rules.read_text().replace("runs_per_day: 10", "runs_per_day: 100000"))
    shared_task = import_shared_task(None, folder, database_now()).shared_task
    Run.objects.all().delete()  # deletes the baselines, which are not measured
    senders = [_sender(shared_task, number) for number in range(teams)]
    OutgoingMail.objects.all().delete()  # emails about approved teams, with passwords, are not measured either
    return senders


def _sender(shared_task: Any, number: int) -> Sender:
    from django.conf import settings
    from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
    from django.contrib.sessions.backends.db import SessionStore

    from portal.actions.agreement import sign_agreement
    from portal.actions.teams import register_team
    from portal.models import User
    from portal.models.clock import database_now
    from portal.models.signature import text_sha256

    at, name = database_now(), f"Team{number:03d}"
    user = User.objects.create_user(f"{name}@example.org".lower(), name=name)
    register_team(user, shared_task, at, name=name)
    sign_agreement(
        user, shared_task, at, typed_name=name, sha256=text_sha256(shared_task.definition.agreement.file.read_text())
    )
    session = SessionStore()
    session[SESSION_KEY] = str(user.pk)
    session[BACKEND_SESSION_KEY] = settings.AUTHENTICATION_BACKENDS[0]
    session[HASH_SESSION_KEY] = user.get_session_auth_hash()
    session.create()
    return Sender(name, session.session_key or "")


def bodies(own: Installation, count: int) -> Iterator[bytes]:
    """Yield different runs of `ITEMS` items."""
    run = json.loads((own.folder / "exist2024" / "runs" / f"{TRACK}.json").read_bytes())
    assert len(run) == ITEMS
    for number in range(count):
        value = run[number % ITEMS]["value"]
        first, second, *_ = value
        value[first], value[second] = value[second], value[first]
        yield json.dumps(run).encode()


def _cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a process and all its descendants."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(_cpu_seconds, children(pid)))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def machine() -> str:
    """Describe the machine and its load."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load before {load}"
