"""A migrated database that is created once and copied by every pytest process, because migrating takes several seconds.

On SQLite, the database is kept in pytest's cache under a digest of all migrations, so a new one is created when a
migration changes. On PostgreSQL, a template database is kept as long as the server runs.
"""

import hashlib
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from django import get_version
from django.db import connection, transaction
from django.db.backends.sqlite3.creation import DatabaseCreation
from django.db.migrations.loader import MigrationLoader
from django.test import TransactionTestCase


@pytest.fixture(scope="session")
def migrated(pytestconfig: pytest.Config) -> Path:
    """The path of the SQLite database with the current migrations. The first process creates it."""
    digest = hashlib.sha256(f"{sqlite3.sqlite_version} {get_version()}".encode())
    for name, migration in sorted(MigrationLoader(None).disk_migrations.items()):
        source = sys.modules[type(migration).__module__].__file__ or ""
        digest.update(repr(name).encode() + Path(source).read_bytes())
    return pytestconfig.cache.mkdir("migrated") / f"{digest.hexdigest()}.sqlite3"


@pytest.fixture(scope="session")
def first_migration(migrated: Path, django_db_blocker: Any) -> Iterator[ExitStack]:
    """A lock that is held on PostgreSQL until there is a template. Other processes wait here until it is released."""
    with ExitStack() as lock:
        if connection.vendor == "postgresql":
            with django_db_blocker.unblock():
                cursor = lock.enter_context(connection.creation._nodb_cursor())
                cursor.execute("SELECT pg_advisory_lock(1)")
                if _has_template(cursor, migrated):
                    lock.close()
        yield lock


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings: None, migrated: Path, first_migration: ExitStack, django_db_blocker: Any
) -> Iterator[None]:
    """Create Django's test database as a copy of the migrated one, if there is one."""
    create = DatabaseCreation._create_test_db

    def copy(*given: Any, **options: Any) -> str:
        name: str = create(*given, **options)
        if migrated.exists():
            shutil.copyfile(migrated, name)
        return name

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(DatabaseCreation, "_create_test_db", copy)
        if connection.vendor == "postgresql":
            with django_db_blocker.unblock(), connection.creation._nodb_cursor() as cursor:
                if _has_template(cursor, migrated):
                    patch.setitem(connection.settings_dict["TEST"], "TEMPLATE", _template(migrated))
        yield


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any, migrated: Path, first_migration: ExitStack) -> None:
    """Keep the database after it has been migrated for the first time. On SQLite, delete older databases."""
    with django_db_blocker.unblock():
        if connection.vendor == "postgresql":
            _keep_as_template(migrated)
        elif not migrated.exists():
            _keep_as_file(migrated)
    first_migration.close()


def _keep_as_file(migrated: Path) -> None:
    with TemporaryDirectory(dir=migrated.parent) as folder:
        draft = Path(folder) / "draft"
        connection.cursor().execute("VACUUM INTO %s", [str(draft)])
        for other in migrated.parent.glob("*.sqlite3"):
            other.unlink(missing_ok=True)
        draft.replace(migrated)


def _keep_as_template(migrated: Path) -> None:
    connection.close()  # a database can be copied only while no one uses it
    with connection.creation._nodb_cursor() as cursor:
        if not _has_template(cursor, migrated):
            own = connection.settings_dict["NAME"]
            cursor.execute(f'CREATE DATABASE "{_template(migrated)}" TEMPLATE "{own}"')


def _has_template(cursor: Any, migrated: Path) -> bool:
    cursor.execute("SELECT 1 FROM pg_database WHERE datname = %s", [_template(migrated)])
    return cursor.fetchone() is not None


def _template(migrated: Path) -> str:
    return f"migrated_{migrated.stem[:16]}"


# Tables that migrations fill and that no test changes.
FILLED = {"django_migrations", "django_content_type", "auth_permission"}


@pytest.fixture(scope="session", autouse=True)
def quick_flush() -> Iterator[None]:
    """Replace Django's flush between tests, which clears even tables without rows and refills `FILLED` each time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _test: delete_all_rows())
        yield


def delete_all_rows() -> None:
    """Delete every row that a test may have left, including those of the cache. Constraints are checked at the end."""
    tables = sorted(set(connection.introspection.table_names()) - FILLED)
    has_rows = " UNION ALL ".join(f"SELECT '{table}' WHERE EXISTS (SELECT 1 FROM \"{table}\")" for table in tables)
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(has_rows)
        for (table,) in cursor.fetchall():
            cursor.execute(f'DELETE FROM "{table}"')
