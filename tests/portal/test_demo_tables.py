"""The tables of the demo, which are created without migrations, as are those of a restore into SQLite."""

import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT

pytestmark = pytest.mark.postgres

DEMO = "import django; django.setup(); from portal.management.schema import migrate; migrate()"
ROWS = (
    "SELECT app, name FROM django_migrations",
    "SELECT app_label, model FROM django_content_type",
    "SELECT codename, app_label, model FROM auth_permission JOIN django_content_type AS c ON c.id = content_type_id",
)


def created(database: Path) -> sqlite3.Connection:
    """Create the demo's tables, and open the database."""
    own = {"DJANGO_SETTINGS_MODULE": "portal.settings", "DATABASE_URL": f"sqlite:///{database}"}
    environment = os.environ | own | {"AGON_STATE": str(database.parent)}
    subprocess.run([sys.executable, "-c", DEMO], cwd=ROOT, env=environment, check=True)
    return sqlite3.connect(database)


def shape(database: sqlite3.Connection) -> dict[str, Any]:
    """Return all tables and indexes, without the order of columns, and the rows that migrations create."""
    parts: dict[str, Any] = {query: sorted(database.execute(query)) for query in ROWS}
    for kind, name, sql in database.execute("SELECT type, name, sql FROM sqlite_master WHERE sql IS NOT NULL"):
        body = sql.partition("(")[2].removesuffix(")")
        parts[f"{kind} {name}"] = sorted(part.strip() for part in body.split(", "))
    return parts


@pytest.mark.slow
def test_the_demos_tables_are_those_of_the_migrations(django_db_setup: None, migrated: Path, tmp_path: Path) -> None:
    with (
        closing(sqlite3.connect(f"file:{migrated}?mode=ro", uri=True)) as migrations,
        closing(created(tmp_path / "demo.sqlite3")) as demo,
    ):
        assert shape(demo) == shape(migrations)
        demo.execute("DELETE FROM django_migrations")  # as if creating the tables had been interrupted
        demo.commit()
    with closing(created(tmp_path / "demo.sqlite3")) as demo:
        assert demo.execute("SELECT count(*) FROM django_migrations").fetchone()[0] > 0
