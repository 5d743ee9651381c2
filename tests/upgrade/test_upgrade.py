"""An earlier version's database and files: upgraded (even with an old worker running), interrupted, and restored."""

import ast
import os
import shutil
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from gzip import decompress
from itertools import count
from pathlib import Path

import pytest

from portal.management.programs import worker_command
from portal.management.valkey import HOST, free_port
from tests.conftest import ROOT
from tests.services import PATIENCE, Broker, Program, postgres, postgres_programs
from tests.upgrade.dump import KEYS

pytestmark = pytest.mark.slow

OLD = Path(__file__).parent / "0.1.0"
STATES = "sorted(Run.objects.filter(kind='team').values_list('state', flat=True))"
TEAM_RUNS = f"from portal.models import *; print({STATES})"
BEFORE = str(["received", "rejected", "scored", "scored"])
AFTER = str(["rejected", "scored", "scored", "scored"])
COLUMNS = """
from django.db import connection
describe = connection.introspection.get_table_description
with connection.cursor() as cursor:
    print({
        table: {one.name: one.null_ok or one.default is not None for one in describe(cursor, table)}
        for table in connection.introspection.table_names(cursor)
    })
"""  # for each table, whether an INSERT may leave out a column
UPLOAD = """
from tests.portal.world import *
run = send_run(Team.objects.get(name="Meltemi"), GOOD, 2, POST, "post")
print(Run.objects.get(pk=run.pk).name)
"""
HAS_WORKED = "Heartbeat.objects.count() == 3"
# One process waits, because starting one for each question takes more time than what it waits for.
WAIT = """
import time
from portal.models import *
while not ({condition}):
    time.sleep(0.05)
"""


@dataclass(frozen=True)
class Portal:
    """A database and its state folder. Commands run with the code of either version."""

    state: Path
    database_url: str
    redis_url: str

    @property
    def environment(self) -> dict[str, str]:
        own = {"AGON_STATE": str(self.state), "DATABASE_URL": self.database_url, "REDIS_URL": self.redis_url}
        return (
            os.environ
            | own
            | {"DJANGO_SETTINGS_MODULE": "portal.settings", "LOG_LEVEL": "WARNING", "AGON_DEMO": "true"}
        )

    def run(self, *words: str, code: Path = ROOT) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=code,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )

    def manage(self, *words: str, code: Path = ROOT) -> str:
        done = self.run("manage.py", *words, code=code)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def says(self, program: str, code: Path = ROOT) -> str:
        return self.manage("shell", "--no-imports", "-c", program, code=code).strip()

    def wait_until(self, condition: str) -> None:
        """Wait until the condition, an expression of the portal's models, holds. Fail after `PATIENCE` seconds."""
        self.says(WAIT.format(condition=condition))

    def worker(self, log: Path, code: Path = ROOT) -> Program:
        return Program([*worker_command(log.stem), "--beat"], self.environment, log, code)


class Databases:
    """Databases of one kind. Each can begin as a copy of another that no one uses."""

    def __init__(self, folder: Path, server: str | None) -> None:
        """Create the databases in `folder` or, if `server` is the URL of a PostgreSQL database, in that server."""
        self._folder, self._server, self._numbers = folder, server, count(1)

    def new(self, source: str | None = None) -> str:
        """Return the URL of a new database. It is empty or a copy of the database with the URL `source`."""
        name = f"agon{next(self._numbers)}"
        if self._server is None:
            path = self._folder / f"{name}.sqlite3"
            if source is not None:
                original = sqlite3.connect(source.removeprefix("sqlite:///"))
                with closing(original), closing(sqlite3.connect(path)) as connection:
                    original.backup(connection)
            return f"sqlite:///{path}"
        template = "template1" if source is None else source.rpartition("/")[2]
        self.execute(self._server, f"CREATE DATABASE {name} TEMPLATE {template};")
        return f"{self._server.rpartition('/')[0]}/{name}"

    def new_from_dump(self) -> str:
        """Return the URL of a new database with the rows of version 0.1.0."""
        url = self.new()
        kind = "sqlite" if self._server is None else "postgresql"
        self.execute(url, decompress((OLD / f"{kind}.sql.gz").read_bytes()).decode())
        return url

    def execute(self, url: str, statements: str) -> None:
        if self._server is None:
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                connection.executescript(statements)
            return
        programs = postgres_programs()
        assert programs
        command = [programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", url]
        subprocess.run(command, input=statements, text=True, check=True, stdout=subprocess.DEVNULL)


def new_state(folder: Path) -> Path:
    """Write the files and keys of version 0.1.0 to `folder` and return it."""
    with tarfile.open(OLD / "state.tar.gz") as tar:
        tar.extractall(folder, filter="data")
    return folder


def new_broker() -> str:
    return f"redis://{HOST}:{free_port()}/0"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def databases(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Databases]:
    folder = tmp_path_factory.mktemp("databases")
    if request.param == "sqlite":
        yield Databases(folder, None)
        return
    with tempfile.TemporaryDirectory() as place, postgres(Path(place)) as url:  # the user `postgres` needs access
        yield Databases(folder, url)


@pytest.fixture
def old(databases: Databases, tmp_path: Path) -> Portal:
    """A portal of version 0.1.0 with three evaluated runs and one waiting run."""
    return Portal(new_state(tmp_path / "state"), databases.new_from_dump(), new_broker())


@pytest.fixture(scope="module")
def once_upgraded(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> Portal:
    """The portal after `migrate`, which takes seconds. Tests use copies of it."""
    portal = Portal(new_state(tmp_path_factory.mktemp("upgraded") / "state"), databases.new_from_dump(), new_broker())
    portal.manage("migrate")
    return portal


@pytest.fixture
def upgraded(databases: Databases, once_upgraded: Portal, tmp_path: Path) -> Portal:
    """A portal of version 0.1.0 whose database has been upgraded."""
    state = shutil.copytree(once_upgraded.state, tmp_path / "state-upgraded")
    return Portal(state, databases.new(once_upgraded.database_url), new_broker())


@pytest.fixture(scope="session")
def old_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that made the dump, from the history of this clone."""
    folder = tmp_path_factory.mktemp("old-code")
    revision = (OLD / "revision").read_text().strip()
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", folder], input=packed, check=True)
    return folder


@pytest.fixture
def own_broker(upgraded: Portal, tmp_path: Path) -> Iterator[None]:
    (tmp_path / "valkey").mkdir()
    broker = Broker(tmp_path / "valkey", int(upgraded.redis_url.rpartition(":")[2].removesuffix("/0")))
    broker.start()
    yield
    broker.kill()


def test_the_server_does_not_start_before_the_upgrade(old: Portal) -> None:
    rejected = old.run("-m", "portal.server", "--port", str(free_port()))
    assert rejected.returncode == 1
    assert "run manage.py migrate" in rejected.stderr


def test_a_database_of_version_0_1_0_is_upgraded(upgraded: Portal, own_broker: None, tmp_path: Path) -> None:
    assert upgraded.says("from portal.models.schema import schema_problems; print(schema_problems())") == "[]"
    worker = upgraded.worker(tmp_path / "new.log")
    worker.start()
    try:
        upgraded.wait_until(f"{STATES} == {AFTER}")
    finally:
        worker.kill()
    assert upgraded.manage("reconcile").strip() == "No differences."


def test_version_0_1_0_accepts_uploads_while_the_database_is_upgraded(
    old: Portal, upgraded: Portal, own_broker: None, old_code: Path
) -> None:
    """It does not know the new columns, so they are nullable or have a default in the database."""
    before = ast.literal_eval(old.says(COLUMNS))
    after = ast.literal_eval(upgraded.says(COLUMNS))
    added = [
        (f"{table}.{column}", may_be_left_out)
        for table in before.keys() & after.keys()
        for column, may_be_left_out in after[table].items()
        if column not in before[table]
    ]
    assert ("portal_run.fields", True) in added
    assert [column for column, may_be_left_out in added if not may_be_left_out] == []
    assert upgraded.says(UPLOAD, old_code) == "one_Meltemi_2.json"


def test_a_worker_of_version_0_1_0_goes_on_while_the_database_is_upgraded(
    upgraded: Portal, own_broker: None, old_code: Path, tmp_path: Path
) -> None:
    scorer = ("-c", "from scoring import __version__; print(__version__)")
    is_same_scorer = upgraded.run(*scorer).stdout == upgraded.run(*scorer, code=old_code).stdout
    worker = upgraded.worker(tmp_path / "old.log", old_code)
    worker.start()
    try:
        upgraded.wait_until(HAS_WORKED)
        if is_same_scorer:
            upgraded.wait_until(f"{STATES} == {AFTER}")
    finally:
        worker.kill()
    said = (tmp_path / "old.log").read_text()
    schema_errors = ("ProgrammingError", "IntegrityError", "no such column", "no such table")
    assert [words for words in schema_errors if words in said] == []


def test_a_migration_that_fails_half_way_and_the_way_back(
    old: Portal, databases: Databases, old_code: Path, tmp_path: Path
) -> None:
    """Follow docs/for-administrators.md: make a backup, and restore the old version from it after a failed upgrade."""
    backup = tmp_path / "before.tar"
    old.manage("backup", str(backup), code=old_code)
    # The new version's migration creates the same table, and therefore fails.
    databases.execute(old.database_url, "CREATE TABLE portal_workerhost (id integer);")
    failed = old.run("manage.py", "migrate")
    assert failed.returncode != 0
    assert "portal_workerhost" in failed.stderr
    rejected = old.run("-m", "portal.server", "--port", str(free_port()))
    assert (rejected.returncode, "The database is missing" in rejected.stderr) == (1, True)
    back = Portal(tmp_path / "new-state", databases.new(), old.redis_url)
    back.state.mkdir()
    for key in KEYS:
        shutil.copy(old.state / key, back.state)
    back.manage("restore", str(backup), code=old_code)
    assert back.says(TEAM_RUNS, old_code) == BEFORE
    newer = back.run("manage.py", "restore", str(backup))
    assert newer.returncode == 1  # the portal is not empty, and nothing may be overwritten
