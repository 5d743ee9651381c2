"""A check that the database has the tables and columns of this version. A newer database may have more."""

from functools import cache
from typing import Any

from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_SHOWN = 3  # maximum number of names in a sentence


def schema_problems() -> list[str]:
    """Return what the database lacks, as sentences that explain the fix. Empty if nothing is missing."""
    return missing_migrations() or _missing_columns()


def missing_migrations() -> list[str]:
    """Return a sentence about the migrations that have not been applied, if any. This takes one query."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    missing = sorted(".".join(key) for key in _known_migrations() - applied)
    if not missing:
        return []
    count = f"{len(missing)} migration{'s' if len(missing) > 1 else ''}"
    return [f"The database is missing {count} ({some_of(missing)}). Make a backup, then run manage.py migrate."]


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations in this code, except those that were replaced by a squashed migration."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _missing_columns() -> list[str]:
    missing = []
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        for table in apps.get_models(include_auto_created=True):
            name = table._meta.db_table
            there = _columns(cursor, name) if name in tables else set()
            missing += [f"{name}.{field.column}" for field in table._meta.concrete_fields if field.column not in there]
    if not missing:
        return []
    count = f"{len(missing)} column{'s' if len(missing) > 1 else ''}"
    return [
        f"The database is missing {count} ({some_of(missing)}), although every migration has been applied. It was "
        f"created before Agon 0.1.0 or changed manually. Restore the most recent backup into a new database."
    ]


def _columns(cursor: Any, table: str) -> set[str]:
    """Return the table's columns. On SQLite, Django's introspection would also parse SQL, which takes much longer."""
    cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)} LIMIT 0")
    return {column[0] for column in cursor.description}


def some_of(names: list[str]) -> str:
    """Return the first few names, separated by commas."""
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
