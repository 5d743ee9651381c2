"""The portal behind PgBouncer in transaction mode, where each transaction may get any free connection."""

import http.client
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from portal.management.programs import web_command
from portal.management.valkey import HOST, free_port
from tests.conftest import ROOT
from tests.services import Program, answers, postgres, wait_until

pytestmark = pytest.mark.slow

CONFIGURATION = """
[databases]
postgres = host={host} port={database} dbname=postgres user=agon
[pgbouncer]
listen_addr = {host}
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 3
ignore_startup_parameters = extra_float_digits
"""


@pytest.fixture
def pooled() -> Iterator[str]:
    """The DATABASE_URL of a PgBouncer with three connections."""
    if sys.platform != "linux":
        pytest.skip("PgBouncer is a program of Debian")
    with tempfile.TemporaryDirectory() as place, tempfile.TemporaryDirectory() as data, postgres(Path(data)) as url:
        folder, port = Path(place), free_port()
        text = CONFIGURATION.format(host=HOST, database=urlsplit(url).port, port=port)
        (folder / "pgbouncer.ini").write_text(text)
        owner = {"user": "postgres", "group": "postgres", "extra_groups": []} if os.geteuid() == 0 else {}
        if owner:  # PgBouncer does not run as root
            for path in (folder, folder / "pgbouncer.ini"):
                shutil.chown(path, "postgres", "postgres")
        command = [shutil.which("pgbouncer", path=f"{os.environ['PATH']}:/usr/sbin") or "pgbouncer", "--quiet"]
        bouncer = subprocess.Popen([*command, folder / "pgbouncer.ini"], cwd=folder, **owner)
        wait_until(lambda: answers(port), "PgBouncer listens")
        yield f"postgres://agon@{HOST}:{port}/postgres"
        bouncer.kill()
        bouncer.wait()


def test_every_page_is_answered(pooled: str, tmp_path: Path) -> None:
    own = {"DATABASE_URL": pooled, "AGON_PGBOUNCER": "true", "AGON_STATE": str(tmp_path / "state"), "AGON_DEMO": "true"}
    environment = os.environ | own | {"DJANGO_SETTINGS_MODULE": "portal.settings"}
    subprocess.run([sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=environment, check=True)
    port = free_port()
    web = Program(web_command(port), environment, tmp_path / "web.log")
    web.start()
    try:
        wait_until(lambda: answers(port), "the web server answers")

        def status(number: int) -> int:
            connection = http.client.HTTPConnection(HOST, port)
            connection.request("GET", ("/", "/healthz", "/accounts/login/", "/guide/")[number % 4])
            return connection.getresponse().status

        with ThreadPoolExecutor(8) as pool:
            statuses = list(pool.map(status, range(80)))
    finally:
        web.kill()
    assert statuses == [200] * 80, (tmp_path / "web.log").read_text()[-3000:]
