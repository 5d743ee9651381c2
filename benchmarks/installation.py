"""Agon as in production, on this machine: PostgreSQL, Valkey, Granian, workers by lane and beat, with EXIST 2024.

Each program can be killed and started again. Servers and programs are started as in the tests. Data can be in a
folder or in a bucket, and web servers and scoring workers can run on separate hosts, which share only the network.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import django

from benchmarks.engine import TRACK
from benchmarks.exist_runs import build_variants
from portal.evaluation.lanes import Lane
from portal.management.programs import BEAT, web_command, worker_command
from portal.management.valkey import HOST, free_port
from tests.hosts import GATEWAY, Host
from tests.services import S3, Broker, Postgres, Program, answers, children, wait_until

PHASE = "post-evaluation"
ITEMS = 2076
HERE = Host("here")
_KEYS = ("gold-private-key", "receipt-key.pem", "secret-key")  # files that all hosts need


@dataclass(frozen=True)
class Sender:
    """A signed-in team captain."""

    team: str
    session: str


@dataclass(frozen=True)
class Shape:
    """Which programs run, and where. `webs` and `scorers` list the host of each web server and scoring worker."""

    webs: Sequence[Host] = (HERE,)
    web_workers: int = 2
    scorers: Sequence[Host] = (HERE,)
    processes: int = 2
    has_bucket: bool = False
    disk_bytes: int = 0  # size of a separate disk for the state, if this process may mount one
    environment: Mapping[str, str] = field(default_factory=dict)  # additional settings

    @property
    def address(self) -> str:
        """The address at which all hosts reach the servers."""
        return HOST if HERE in self.webs else GATEWAY


class Installation:
    """The running programs. `web` and `port` belong to the first web server."""

    def __init__(self, folder: Path, shape: Shape, bucket: S3 | None) -> None:
        self.folder, self.shape, self.bucket = folder, shape, bucket
        self.state = folder / "state"
        self.gold = self.state / "gold"
        self.has_own_disk = False
        self.addresses = [(host.address, free_port()) for host in shape.webs]
        self.port, broker_port = self.addresses[0][1], free_port()
        self.database = Postgres(_made(folder / "postgres"), shape.address)
        self.broker = Broker(_made(folder / "valkey"), broker_port, shape.address)
        self.environment = os.environ | {
            "DJANGO_SETTINGS_MODULE": "portal.settings",
            "AGON_STATE": str(_made(self.state)),
            "AGON_URL": f"http://{HOST}:{self.port}",
            "AGON_DEMO": "true",  # emails are written to files
            "DATABASE_URL": self.database.url,
            "REDIS_URL": f"redis://{shape.address}:{broker_port}/0",
            "LOG_LEVEL": "WARNING",
            "PYTHONWARNINGS": "ignore",
            **(_buckets(bucket) if bucket else {}),
            **shape.environment,
        }
        self.webs = [
            self._program(f"web-{number}", [*web_command(port, shape.web_workers), "--host", address], host)
            for number, (host, (address, port)) in enumerate(zip(shape.webs, self.addresses, strict=True))
        ]
        self.web = self.webs[0]
        self.scorers = [
            self._program(name, worker_command(name, [Lane.SCORING], shape.processes), host)
            for name, host in ((f"scorer-{number}", host) for number, host in enumerate(shape.scorers))
        ]
        self.others = [
            self._program("hidden", worker_command("hidden", [Lane.HIDDEN], 1)),
            self._program("worker", worker_command("worker", [Lane.BULK], 1)),
            self._program("mailer", worker_command("mailer", [Lane.MAIL], 1)),
            self._program("beat", BEAT),
        ]

    def start_all(self) -> None:
        """Start all programs and wait until every web server answers."""
        for program in self.programs:
            program.start()
        for address, port in self.addresses:
            wait_until(lambda: answers(port, address), f"the web server at {address} answers")  # noqa: B023

    def start_web(self) -> None:
        self.web.start()
        wait_until(lambda: answers(self.port), f"the web server answers; see {self.folder / 'web.log'}")

    @contextmanager
    def serving(self, application: str) -> Iterator[int]:
        """Serve a different application on the same kind of server as the portal, and yield its port."""
        port = free_port()
        server = self._program("another", [*web_command(port, self.shape.web_workers), application])
        server.start()
        try:
            wait_until(lambda: answers(port), f"{application} answers; see {self.folder / 'another.log'}")
            yield port
        finally:
            server.stop()

    def restart_ended(self) -> None:
        """Restart programs that have exited, as systemd does. Celery exits if a new process in its pool is killed."""
        for program in self.programs:
            if program.process is not None and program.process.poll() is not None:
                program.start()

    def cpu_seconds(self) -> dict[str, float]:
        """Return the CPU seconds that each part has used so far, including children that have exited.

        This process counts as the sender.
        """
        programs = {"web": self.webs, "scoring": self.scorers, "hidden, bulk, mail, beat": self.others}
        found = {name: sum(cpu_seconds_of(one.pid) for one in those if one.process) for name, those in programs.items()}
        return found | {
            "PostgreSQL": cpu_seconds_of(self.database.process.pid),
            "Valkey": cpu_seconds_of(self.broker.pid),
            "sender": time.process_time(),
        }

    def memory_mb(self) -> dict[str, float]:
        """Return the private memory of each program with its descendants, in megabytes.

        The short-lived children of fork servers are not included.
        """
        pids = {f"web {number}": one.pid for number, one in enumerate(self.webs)}
        pids |= {f"scoring {number}": one.pid for number, one in enumerate(self.scorers)}
        pids |= dict(zip(("hidden", "bulk", "mail", "beat"), (one.pid for one in self.others), strict=True))
        pids |= {"PostgreSQL": self.database.process.pid, "Valkey": self.broker.pid}
        return {name: _private_bytes(pid) / 1e6 for name, pid in pids.items()}

    @property
    def programs(self) -> list[Program]:
        return [*self.others, *self.scorers, *self.webs]

    def logs(self) -> str:
        """Return the last lines of each program's log."""
        files = sorted(self.folder.glob("*.log"))
        return "\n".join(f"== {file.name}\n{file.read_text(errors='replace')[-4000:]}" for file in files)

    def share_keys(self) -> None:
        """Copy the keys to each separate host, as an administrator would.

        These hosts share no other files with this machine.
        """
        from portal.queries.receipts import public_key

        public_key()  # creates the key
        for host in {*self.shape.webs, *self.shape.scorers} - {HERE}:
            state = _made(self.folder / host.name)
            for key in _KEYS:
                shutil.copy(self.state / key, state)

    def _program(self, name: str, command: list[str], host: Host = HERE) -> Program:
        own = {} if host == HERE else {"AGON_STATE": str(self.folder / host.name)}
        cache = self.folder / f"cache-{name}"
        environment = self.environment | own | {"AGON_CACHE": str(cache)}
        return Program([*host.prefix, *command], environment, self.folder / f"{name}.log", cache=cache)


def _buckets(server: S3) -> dict[str, str]:
    """Create buckets for data and gold, and return their settings."""
    data, gold = server.new_bucket(), server.new_bucket()
    found = {f"AGON_S3_{name.upper()}": value for name, value in data.items() if name != "name"}
    found |= {f"AGON_S3_GOLD_{name.upper()}": gold[name] for name in ("key", "secret")}
    return found | {"AGON_S3_BUCKET": data["name"], "AGON_S3_GOLD_BUCKET": gold["name"]}


@contextmanager
def installation(shape: Shape = Shape()) -> Iterator[Installation]:
    """Start all servers, set up Django in this process, and create the database. Web and workers are started later."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="agon-benchmark-")))
        folder.chmod(0o755)  # PostgreSQL runs as a different user and needs access
        bucket = S3(shape.address) if shape.has_bucket else None
        if bucket is not None:
            bucket.start()
            stack.callback(bucket.kill)
        own = Installation(folder, shape, bucket)
        if shape.disk_bytes:
            own.has_own_disk = stack.enter_context(_disk(own.state, shape.disk_bytes))
        if own.has_own_disk:
            stack.enter_context(_disk(_made(own.gold), shape.disk_bytes))
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


@contextmanager
def _disk(folder: Path, size: int) -> Iterator[bool]:
    """Mount an in-memory disk of `size` bytes at the folder. Yield whether this succeeded."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "agon", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        yield False
        return
    try:
        yield True
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def prepare(own: Installation, teams: int) -> list[Sender]:
    """Import EXIST 2024 with raised limits and no baselines, and create teams whose captains have signed."""
    from portal.actions.task_folder.import_shared_task import import_shared_task
    from portal.models import OutgoingMail, Run
    from portal.models.clock import database_now

    folder = own.folder / "exist2024"
    build_variants(folder)
    rules = folder / "task.yaml"
    rules.write_text(rules.read_text().replace("runs_per_day: 10", "runs_per_day: 100000"))
    shared_task = import_shared_task(None, folder, database_now()).shared_task
    Run.objects.all().delete()  # the baselines, which are not measured
    senders = [_sender(shared_task, number) for number in range(teams)]
    OutgoingMail.objects.all().delete()  # emails about approved teams, with passwords, are not measured either
    own.share_keys()
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
    """Yield `count` different runs of `ITEMS` items."""
    run = json.loads((own.folder / "exist2024" / "runs" / f"{TRACK}.json").read_bytes())
    assert len(run) == ITEMS
    for number in range(count):
        value = run[number % ITEMS]["value"]
        first, second, *_ = value
        value[first], value[second] = value[second], value[first]
        yield json.dumps(run).encode()


def cpu_seconds_of(pid: int) -> float:
    """Return the CPU seconds of a process and all its descendants."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
    return own + sum(map(cpu_seconds_of, children(pid)))


def _private_bytes(pid: int) -> int:
    """Return the memory that only this process or one of its descendants uses, without children of fork servers."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        is_fork_server = b"fork_server" in Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    own = sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("Private_Clean:", "Private_Dirty:")))
    return own if is_fork_server else own + sum(map(_private_bytes, children(pid)))


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def machine() -> str:
    """Describe the machine and its load."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    return f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, load before {load}"
