"""A production installation on this machine: the services in docker-compose.yml, a certificate, a task and a team."""

import http.client
import shutil
import socket
import ssl
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from deploy.compose import Compose, read
from deploy.native import Native
from tests.bare.visitor import Visitor
from tests.canary import EYES
from tests.conftest import ROOT
from tests.services import PATIENCE

HOST = "agon.example"
ADDRESS = f"https://{HOST}"
CAPTAIN, PASSWORD = "captain@agon.example", "correct horse battery"
VARIABLES = {"AGON_URL": ADDRESS, "EMAIL_FROM": "Agon <agon@agon.example>", "EMAIL_HOST": "127.0.0.1"}
DATASET = b"sample\t0123456789\n" * 1000

BEGIN = "import os, sys; os.environ['DJANGO_SETTINGS_MODULE'] = 'portal.settings'; import django; django.setup()\n"
SETUP = f"""
from allauth.account.models import EmailAddress
from pathlib import Path
from portal.actions.task_folder.import_shared_task import import_shared_task
from portal.actions.teams import register_team
from portal.models import User
from portal.models.clock import database_now
task = import_shared_task(None, Path(sys.argv[1]), database_now()).shared_task
captain = User.objects.create_user("{CAPTAIN}", "{PASSWORD}", name="Cleo")
EmailAddress.objects.create(user=captain, email=captain.email, verified=True, primary=True)
register_team(captain, task, database_now(), name="Meltemi")
"""


class Production(Native):
    """The running services, and visitors from outside."""

    def __init__(self, folder: Path) -> None:
        mounted = folder / "mounted"
        compose = read(ROOT / "docker-compose.yml", VARIABLES)
        secrets = {name: mounted / "secrets" / name for name in compose.secrets}
        super().__init__(folder, Compose(compose.services, secrets), mounted)
        _make_certificate(mounted / "certificates")
        (mounted / "acme").mkdir()
        (mounted / "backups").mkdir(mode=0o700)
        make = [sys.executable, "manage.py", "make_secrets", mounted / "secrets"]
        environment = {"AGON_STATE": str(folder / "make-secrets")}  # without the variables of a public portal
        subprocess.run(make, cwd=ROOT, env=environment, check=True, stdout=subprocess.DEVNULL)

    @property
    def secrets(self) -> dict[str, str]:
        return {name: path.read_text() for name, path in self._compose.secrets.items()}

    def visitor(self, source: str = "127.0.0.1") -> Visitor:
        """Return a visitor who has the IP address `source` and trusts the portal's certificate."""
        return Visitor(ADDRESS, _ByTls(self.address("proxy"), self._mounted / "certificates/fullchain.pem", source))

    def captain(self, source: str = "127.0.0.1") -> Visitor:
        visitor = self.visitor(source)
        visitor.sign_in(CAPTAIN, PASSWORD)
        return visitor

    def connection(self, source: str = "127.0.0.1", service: str = "proxy") -> http.client.HTTPConnection:
        """Open a connection to the proxy or directly to a web service, for requests that no browser sends."""
        if service != "proxy":
            return http.client.HTTPConnection(self.address(service), 8000, timeout=PATIENCE)
        return _Connection(HOST, self.address("proxy"), self._mounted / "certificates/fullchain.pem", source)

    def python(self, service: str, program: str, *arguments: str) -> str:
        """Run a Python program with the service's variables and return its output."""
        return self.run(service, ["python", "-c", BEGIN + program, *arguments]).stdout


class _Connection(http.client.HTTPSConnection):
    """A TLS connection to the proxy's address, regardless of the host name."""

    def __init__(
        self, host: str, address: str, authority: Path, source: str, timeout: float = PATIENCE, **_: Any
    ) -> None:
        super().__init__(host, 443, timeout=timeout, context=ssl.create_default_context(cafile=str(authority)))
        self._address, self._source = address, source

    def connect(self) -> None:
        plain = socket.create_connection((self._address, 8443), self.timeout, (self._source, 0))
        self.sock = self._context.wrap_socket(plain, server_hostname=HOST)  # type: ignore[attr-defined]


class _ByTls(urllib.request.HTTPSHandler):
    def __init__(self, address: str, authority: Path, source: str) -> None:
        super().__init__()
        self._made_with = (address, authority, source)

    def https_open(self, request: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(lambda host, **options: _Connection(host, *self._made_with, **options), request)


def _make_certificate(folder: Path) -> None:
    folder.mkdir(parents=True)
    made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    named = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    files = ["-keyout", folder / "privkey.pem", "-out", folder / "fullchain.pem"]
    subprocess.run([*made, *named, *files], check=True, capture_output=True)


def _task_folder(folder: Path) -> Path:
    """Write the tiny task with a public dataset and an open phase that accepts many runs."""
    shutil.copytree(ROOT / "tests/portal/tiny_task", folder)
    path = folder / "task.yaml"
    text = path.read_text().replace("number: [1, 2, 3, 4, 5]", f"number: [{', '.join(map(str, range(1, 1000)))}]")
    text = text.replace("split: test, runs_per_day: 2,", "split: test,")
    path.write_text(text + "datasets:\n  - {slug: sample, file: data/sample.tsv, access: public}\n")
    (folder / "data/sample.tsv").write_bytes(DATASET)
    return folder


@contextmanager
def production(folder: Path) -> Iterator[Production]:
    """Start all services with the team Meltemi in the shared task `tiny`. At the end, search their files for gold."""
    task = folder / "tiny"
    with Production(folder) as services:
        services.start_all()
        services.python("background", SETUP, str(_task_folder(task)))
        yield services
    shutil.rmtree(task)  # the organizers' own folder, where the gold is allowed
    EYES.look_at_folder(folder)
