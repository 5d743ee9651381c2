"""Fixtures that are built once per process, and restored in later tests that start from the same state.

Importing a task, uploading and scoring take longer than most tests that need them. Therefore, `@remembered` replaces
`@pytest.fixture` for fixtures whose rows and files depend only on the fixtures that they request. A fixture is built
again if anything it depends on has changed: earlier database rows, the folders passed to it, the storage location, or a
file that it stored. Tests with a broker build everything themselves, because restoring rows sends no messages.
"""

import inspect
import pickle
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, wraps
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from django.conf import settings
from django.core.management.color import no_style
from django.db import connection, transaction

from portal.models.task import definition_name
from portal.storage import pack_name, stored_name

Rows = dict[str, list[Any]]  # by table, in the database's own representation
Files = dict[Path, tuple[int, int]]  # size in bytes and modification time

# Tables whose content is the same in every test, or follows from the inserted rows.
STATIC = {"django_migrations", "django_content_type", "auth_permission", "sqlite_sequence"}
SHA256 = re.compile(r"\b[0-9a-f]{64}\b")
UUID = re.compile(r"\b[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}\b")


@dataclass(frozen=True, slots=True)
class Recording:
    """What a fixture created, and the rows before and after it ran."""

    before: Rows
    after: Rows
    files: Files
    value: bytes  # pickled, so that each test has its own objects

    @property
    def is_whole(self) -> bool:
        """Whether all of the fixture's files are unchanged."""
        return {path: _state(path) for path in self.files} == self.files


USUAL_STORES = settings.STORAGES
_recordings: dict[Any, list[Recording]] = {}


def remembered(make: Callable[..., Any]) -> Any:
    """Make this function a fixture, like `@pytest.fixture`, but restore what it has built before."""

    @wraps(make)
    def fixture(request: pytest.FixtureRequest, **given: Any) -> Any:
        if "broker" in request.fixturenames or settings.STORAGES != USUAL_STORES:
            return make(**given)
        before, key = _rows(), (make.__module__, make.__qualname__, *_surroundings(given))
        for recording in _recordings.get(key, ()):
            if recording.before == before and recording.is_whole:
                _put_back(recording)
                return pickle.loads(recording.value)
        value = make(**given)
        after = _rows()
        recording = Recording(before, after, _files_of(after), pickle.dumps(value))
        _recordings.setdefault(key, []).append(recording)
        return value

    request = inspect.Parameter("request", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    fixture.__signature__ = inspect.Signature([request, *inspect.signature(make).parameters.values()])
    return pytest.fixture(fixture)


def _surroundings(given: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a fixture may depend on besides rows: the gold keys and the contents of folders."""
    folders = [_content(value) for value in given.values() if isinstance(value, Path)]
    return settings.GOLD_PUBLIC_KEY, *settings.GOLD_PRIVATE_KEYS, *folders


def _content(folder: Path) -> frozenset[tuple[str, bytes]]:
    return frozenset((str(path.relative_to(folder)), path.read_bytes()) for path in folder.rglob("*") if path.is_file())


def _tables() -> list[str]:
    return sorted(set(connection.introspection.table_names()) - STATIC)


def _rows() -> Rows:
    """Return all rows, as SQLite stores them or PostgreSQL prints them."""
    with connection.cursor() as cursor:
        raw = cursor.cursor
        tables = _tables()
        if connection.vendor == "sqlite":
            one = 'SELECT * FROM "{0}" ORDER BY rowid'
            found = {table: list(map(tuple, raw.connection.execute(one.format(table)))) for table in tables}
        else:
            one = "SELECT '{0}', row::text FROM \"{0}\" AS row"
            raw.execute(" UNION ALL ".join(one.format(table) for table in tables))
            found = {table: [] for table in tables}
            for table, row in raw.fetchall():
                found[table].append(row)
    return found


def _put_back(recording: Recording) -> None:
    changed = {table: rows for table, rows in recording.after.items() if rows != recording.before[table]}
    with transaction.atomic(), connection.cursor() as cursor:
        raw = cursor.cursor
        for table, rows in changed.items():
            if recording.before[table]:
                raw.execute(f'DELETE FROM "{table}"')
            if connection.vendor == "sqlite":
                places = ", ".join("?" * len(rows[0])) if rows else ""
                raw.connection.executemany(f'INSERT INTO "{table}" VALUES ({places})', rows)
            else:
                raw.execute(f'INSERT INTO "{table}" SELECT (row::"{table}").* FROM unnest(%s::text[]) AS row', [rows])
        if sequences := _sequences(frozenset(changed)):
            raw.execute(sequences)


@cache
def _sequences(tables: frozenset[str]) -> str:
    """Return SQL that sets these tables' sequences to their highest keys (an empty string for SQLite)."""
    models = [model for model in apps.get_models(include_auto_created=True) if model._meta.db_table in tables]
    return "; ".join(connection.ops.sequence_reset_sql(no_style(), models))


def stored_files() -> list[Path]:
    """Return all files that the database refers to."""
    return list(_files_of(_rows()))


def _files_of(rows: Rows) -> Files:
    """Return the stored files and folders that these rows refer to."""
    text = repr([found for found in rows.values() if found])
    data, gold = Path(settings.DATA_ROOT), Path(settings.GOLD_ROOT)
    paths = [gold / one for one in set(SHA256.findall(text))]
    for one in set(SHA256.findall(text)):
        paths += [data / name for name in (stored_name(one), pack_name(one), definition_name(one))]
    paths += [data / "validations" / one for one in set(UUID.findall(text))]
    found = [path for path in paths if path.exists()]
    within = [path for folder in found if folder.is_dir() for path in folder.rglob("*")]
    return {path: _state(path) for path in (*found, *within) if path.is_file()}


def _state(path: Path) -> tuple[int, int]:
    try:
        stat = path.stat()
    except FileNotFoundError:
        return -1, -1
    return stat.st_size, stat.st_mtime_ns
