"""The commands in docs/storage-and-backup.md, *Back to a point in time*, with PostgreSQL as on Debian."""

import os
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.conftest import ROOT
from tests.services import Postgres, postgres_programs, wait_until

MOMENT = "2027-05-16 14:03:00+00"
SUDO = """#!/bin/sh
shift 2
exec setpriv --reuid=postgres --regid=postgres --clear-groups "$@"
"""


@pytest.fixture
def place() -> Iterator[Path]:
    if os.geteuid() != 0 or postgres_programs() is None:
        pytest.skip("PostgreSQL is not installed, or we are not root")
    with tempfile.TemporaryDirectory(prefix="agon-moment-") as folder:
        place = Path(folder)
        place.chmod(0o755)
        yield place


def sections() -> list[str]:
    text = (ROOT / "docs/storage-and-backup.md").read_text().partition("## Back to a point in time")[2]
    return re.findall(r"```sh\n(.*?)```", text, re.DOTALL)


class Server(Postgres):
    """A server whose folders have Debian's paths below the test's folder. `service` starts and stops it."""

    def __init__(self, place: Path) -> None:
        main = place / "var/lib/postgresql/15/main"
        main.mkdir(parents=True)
        super().__init__(main)

    @property
    def environment(self) -> dict[str, str]:
        port = self.url.rpartition(":")[2].partition("/")[0]
        return {"PGHOST": "127.0.0.1", "PGPORT": port, "PGUSER": "agon", "PGDATABASE": "postgres"}


def ask(server: Server, statement: str) -> list[tuple[object, ...]]:
    with psycopg.connect(server.url.replace("postgres://", "postgresql://"), autocommit=True) as connection:
        done = connection.execute(statement)
        return done.fetchall() if done.description else []


def typed(place: Path, server: Server, commands: str) -> None:
    """Run the commands with Debian's paths moved below the test's folder. Nothing else is changed."""
    for path in ("/var/lib/postgresql", "/var/backups/agon"):
        commands = commands.replace(path, f"{place}{path}")
    programs = postgres_programs()
    path = f"{place / 'bin'}:{programs}:{os.environ['PATH']}"
    done = subprocess.run(
        ["sh", "-eu", "-c", commands],
        env={"PATH": path, "PYTHONPATH": str(ROOT), **server.environment},
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_what_was_there_at_the_moment_is_there_again(place: Path) -> None:
    server = Server(place)
    (place / "bin").mkdir()
    pg_ctl = f"setpriv --reuid=postgres --regid=postgres --clear-groups {postgres_programs()}/pg_ctl"
    port = server.environment["PGPORT"]
    main = place / "var/lib/postgresql/15/main"
    options = f"-o '-p {port} -k /tmp' -l {place}/log"
    (place / "log").touch()
    shutil.chown(place / "log", "postgres")
    (place / "bin/service").write_text(f"#!/bin/sh\ncd /\nexec {pg_ctl} -D {main} -w -m fast {options} $2\n")
    (place / "bin/sudo").write_text(SUDO)
    for program in (place / "bin").iterdir():
        program.chmod(0o755)
    (place / "var/backups").mkdir(parents=True)
    archive, back = sections()
    typed(place, server, "service postgresql start")
    try:
        ask(server, "CREATE TABLE run (name text)")
        typed(place, server, archive)
        ask(server, "INSERT INTO run VALUES ('before')")
        ((moment,),) = ask(server, "SELECT clock_timestamp()::text")
        time.sleep(1)
        ask(server, "DELETE FROM run")  # the mistake to recover from
        ask(server, "INSERT INTO run VALUES ('after')")
        ((last,),) = ask(server, "SELECT pg_walfile_name(pg_switch_wal())")
        archived = place / "var/backups/agon/wal" / str(last)
        wait_until(archived.exists, "the last change is archived")
        assert MOMENT in back
        typed(place, server, back.replace(MOMENT, str(moment)))
        wait_until(lambda: ask(server, "SELECT pg_is_in_recovery()") == [(False,)], "PostgreSQL has recovered")
        assert ask(server, "SELECT name FROM run") == [("before",)]
    finally:
        typed(place, server, "service postgresql stop")
