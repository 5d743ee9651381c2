"""A migrated SQLite that is made once and copied by every process of pytest, as migrating takes seconds of CPU.

It is in pytest's cache under a digest of all migrations, so that a changed one makes another.
"""

import hashlib
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django.db import connection
from django.db.backends.sqlite3.creation import DatabaseCreation
from django.db.migrations.loader import MigrationLoader


@pytest.fixture(scope="session")
def migrated(pytestconfig: pytest.Config) -> Path:
    """The path of the database for these migrations; the first process creates it."""
    digest = hashlib.sha256(sqlite3.sqlite_version.encode())
    for name, migration in sorted(MigrationLoader(None).disk_migrations.items()):
        source = sys.modules[type(migration).__module__].__file__ or ""
        digest.update(repr(name).encode() + Path(source).read_bytes())
    return pytestconfig.cache.mkdir("migrated") / f"{digest.hexdigest()}.sqlite3"


@pytest.fixture(scope="session")
def django_db_modify_db_settings(django_db_modify_db_settings: None, migrated: Path) -> Iterator[None]:
    """Django's new test database is a copy with all migrations applied."""
    create = DatabaseCreation._create_test_db

    def copy(*given: Any, **options: Any) -> str:
        name: str = create(*given, **options)
        if migrated.exists():
            shutil.copyfile(migrated, name)
        return name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseCreation, "_create_test_db", copy)
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any, migrated: Path) -> None:
    """After the first migration, save the database and delete older ones."""
    if connection.vendor != "sqlite" or migrated.exists():
        return
    with TemporaryDirectory(dir=migrated.parent) as folder, django_db_blocker.unblock():
        draft = Path(folder) / "draft"
        connection.cursor().execute("VACUUM INTO %s", [str(draft)])
        for other in migrated.parent.glob("*.sqlite3"):
            other.unlink(missing_ok=True)
        draft.replace(migrated)
