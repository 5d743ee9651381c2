"""Checking that the database has the tables of this version. A newer database may have more tables."""

from functools import cache

from django.apps import apps
from django.db import connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

_SHOWN = 3  # names per sentence


def schema_problems() -> list[str]:
    """List what the database lacks, as sentences that say how to fix it. Empty if nothing is missing."""
    return missing_migrations() or _missing_columns()


def missing_migrations() -> list[str]:
    """Return the migrations that were not applied, with one query."""
    applied = set(MigrationRecorder(connection).applied_migrations())
    missing = sorted(".".join(key) for key in _known_migrations() - applied)
    if not missing:
        return []
    count = f"{len(missing)} migration{'s' if len(missing) > 1 else ''}"
    return [f"The database lacks {count} ({_some(missing)}): run manage.py migrate. Make a backup first."]


@cache
def _known_migrations() -> frozenset[tuple[str, str]]:
    """Return the migrations of this code, without those that a squashed one replaces."""
    return frozenset(MigrationLoader(None).graph.nodes)


def _missing_columns() -> list[str]:
    missing = []
    with connection.cursor() as cursor:
        for table in apps.get_models(include_auto_created=True):
            name = table._meta.db_table
            there = {column.name for column in connection.introspection.get_table_description(cursor, name)}
            missing += [f"{name}.{field.column}" for field in table._meta.concrete_fields if field.column not in there]
    if not missing:
        return []
    count = f"{len(missing)} column{'s' if len(missing) > 1 else ''}"
    return [
        f"The database lacks {count} ({_some(missing)}), although every migration is applied: it was made before"
        " Agon 0.1.0 or changed by hand. Restore the last backup into a new database."
    ]


def _some(names: list[str]) -> str:
    return ", ".join([*names[:_SHOWN], *(["…"] if len(names) > _SHOWN else [])])
