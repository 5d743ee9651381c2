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
from contextlib import closing, contextmanager
from dataclasses import dataclass
from gzip import decompress
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


@contextmanager
def empty_database(kind: str, folder: Path) -> Iterator[str]:
    if kind == "sqlite":
        folder.mkdir()
        yield f"sqlite:///{folder / 'agon.sqlite3'}"
        return
    with tempfile.TemporaryDirectory() as place, postgres(Path(place)) as url:  # the user `postgres` needs access
        yield url


@pytest.fixture(params=["sqlite", "postgresql"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Portal]:
    """A portal of version 0.1.0 with three evaluated runs and one waiting run."""
    state = tmp_path / "state"
    with tarfile.open(OLD / "state.tar.gz") as tar:
        tar.extractall(state, filter="data")
    dump = decompress((OLD / f"{request.param}.sql.gz").read_bytes()).decode()
    with empty_database(request.param, tmp_path / "database") as url:
        if request.param == "sqlite":
            with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection:
                connection.executescript(dump)
        else:
            programs = postgres_programs()
            assert programs
            psql = [programs / "psql", "--quiet", "--set=ON_ERROR_STOP=1", url]
            subprocess.run(psql, input=dump, text=True, check=True, stdout=subprocess.DEVNULL)
        yield Portal(state, url, f"redis://{HOST}:{free_port()}/0")


@pytest.fixture(scope="session")
def old_code(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The code that made the dump, from the history of this clone."""
    folder = tmp_path_factory.mktemp("old-code")
    revision = (OLD / "revision").read_text().strip()
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "--extract", "--directory", folder], input=packed, check=True)
    return folder


@pytest.fixture
def own_broker(old: Portal, tmp_path: Path) -> Iterator[None]:
    (tmp_path / "valkey").mkdir()
    broker = Broker(tmp_path / "valkey", int(old.redis_url.rpartition(":")[2].removesuffix("/0")))
    broker.start()
    yield
    broker.kill()


def test_a_database_of_version_0_1_0_is_upgraded(old: Portal, own_broker: None, tmp_path: Path) -> None:
    rejected = old.run("-m", "portal.server", "--port", str(free_port()))
    assert rejected.returncode == 1
    assert "run manage.py migrate" in rejected.stderr
    old.manage("migrate")
    assert old.says("from portal.models.schema import schema_problems; print(schema_problems())") == "[]"
    worker = old.worker(tmp_path / "new.log")
    worker.start()
    try:
        old.wait_until(f"{STATES} == {AFTER}")
    finally:
        worker.kill()
    assert old.manage("reconcile").strip() == "No differences."


def test_version_0_1_0_accepts_uploads_while_the_database_is_upgraded(
    old: Portal, own_broker: None, old_code: Path
) -> None:
    """It does not know the new columns, so they are nullable or have a default in the database."""
    before = ast.literal_eval(old.says(COLUMNS))
    old.manage("migrate")
    after = ast.literal_eval(old.says(COLUMNS))
    added = [
        (f"{table}.{column}", may_be_left_out)
        for table in before.keys() & after.keys()
        for column, may_be_left_out in after[table].items()
        if column not in before[table]
    ]
    assert ("portal_run.fields", True) in added
    assert [column for column, may_be_left_out in added if not may_be_left_out] == []
    assert old.says(UPLOAD, old_code) == "one_Meltemi_2.json"


def test_a_worker_of_version_0_1_0_goes_on_while_the_database_is_upgraded(
    old: Portal, own_broker: None, old_code: Path, tmp_path: Path
) -> None:
    old.manage("migrate")
    scorer = "from scoring import __version__; print(__version__)"
    is_same_scorer = old.says(scorer) == old.says(scorer, old_code)
    worker = old.worker(tmp_path / "old.log", old_code)
    worker.start()
    try:
        old.wait_until(HAS_WORKED)
        if is_same_scorer:
            old.wait_until(f"{STATES} == {AFTER}")
    finally:
        worker.kill()
    said = (tmp_path / "old.log").read_text()
    schema_errors = ("ProgrammingError", "IntegrityError", "no such column", "no such table")
    assert [words for words in schema_errors if words in said] == []


def test_a_migration_that_fails_half_way_and_the_way_back(old: Portal, old_code: Path, tmp_path: Path) -> None:
    """Follow docs/for-administrators.md: make a backup, and restore the old version from it after a failed upgrade."""
    backup = tmp_path / "before.tar"
    old.manage("backup", str(backup), code=old_code)
    add = "from django.db import connection; connection.cursor().execute('CREATE TABLE portal_workerhost (id integer)')"
    old.says(add, old_code)  # the new version's migration creates the same table, and therefore fails
    failed = old.run("manage.py", "migrate")
    assert failed.returncode != 0
    assert "portal_workerhost" in failed.stderr
    rejected = old.run("-m", "portal.server", "--port", str(free_port()))
    assert (rejected.returncode, "The database is missing" in rejected.stderr) == (1, True)
    kind = "sqlite" if old.database_url.startswith("sqlite") else "postgresql"
    with empty_database(kind, tmp_path / "new-database") as url:
        back = Portal(tmp_path / "new-state", url, old.redis_url)
        back.state.mkdir()
        for key in KEYS:
            shutil.copy(old.state / key, back.state)
        back.manage("restore", str(backup), code=old_code)
        assert back.says(TEAM_RUNS, old_code) == BEFORE
        newer = back.run("manage.py", "restore", str(backup))
        assert newer.returncode == 1  # the portal is not empty, and nothing may be overwritten
