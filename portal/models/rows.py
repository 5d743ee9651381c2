"""Database rows as lines of JSON, which both SQLite and PostgreSQL can load. Times keep their microseconds.

Django's own dumps truncate times to milliseconds, which would invalidate the signatures of receipts.
"""

import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any, TextIO

from django.apps import apps
from django.core.management.color import no_style
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder
from django.db.models import JSONField, Model

TableModel = type[Model]

LEFT_OUT = (  # tables that are not backed up: people can sign in again, and workers report their machines again
    "sessions.Session",
    "usersessions.UserSession",
    "portal.WorkerHost",
)
# Migrations also fill these tables in an empty database.
MADE_BY_MIGRATING = ("contenttypes.ContentType", "auth.Permission")
_BATCH = 500
_BEGIN = {"sqlite": "BEGIN", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


def tables() -> list[TableModel]:
    """Return all tables to back up, including those of many-to-many fields."""
    models = apps.get_models(include_auto_created=True)
    return [model for model in models if model._meta.managed and model._meta.label not in LEFT_OUT]


def is_empty() -> bool:
    """Return whether the database has only rows that migrations created. It may not have all tables, or any."""
    there = connection.introspection.table_names()
    own = (table for table in tables() if table._meta.label not in MADE_BY_MIGRATING and table._meta.db_table in there)
    return not any(table._base_manager.exists() for table in own)


def migrations() -> list[str]:
    """Return the applied migrations."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


@contextmanager
def snapshot() -> Iterator[None]:
    """Read everything in this context from one snapshot, without blocking writers."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN[connection.vendor])
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def dump(table: TableModel, file: TextIO) -> int:
    """Write the rows in the order of their keys, and return the number of rows."""
    count = 0
    for row in table._base_manager.order_by("pk").iterator(chunk_size=_BATCH):
        values = {field.attname: _text(field, row) for field in table._meta.concrete_fields}
        file.write(f"{json.dumps(values, ensure_ascii=False)}\n")
        count += 1
    return count


class MissingColumn(Exception):
    """A row lacks a value for a column. The error's text is `table.column`."""


def load(table: TableModel, lines: Iterable[str]) -> int:
    """Insert the rows unchanged, bypassing the models' own logic, and return the number of rows.

    Call this in a transaction. References are checked when it ends.

    Raises:
        MissingColumn: the rows are from a different version of the table.
    """
    fields = table._meta.concrete_fields
    quote = connection.ops.quote_name
    columns = ", ".join(quote(str(field.column)) for field in fields)
    marks = ", ".join(["%s"] * len(fields))
    insert = f"INSERT INTO {quote(table._meta.db_table)} ({columns}) VALUES ({marks})"
    rows = map(json.loads, lines)
    count = 0
    with connection.cursor() as cursor:
        while batch := list(islice(rows, _BATCH)):
            try:
                values = [[_value(field, row[field.attname]) for field in fields] for row in batch]
            except KeyError as missing:
                raise MissingColumn(f"{table._meta.db_table}.{missing.args[0]}") from None
            cursor.executemany(insert, values)
            count += len(batch)
    return count


def reset_sequences() -> None:
    """Reset key sequences after rows were inserted with their keys. SQLite does not need this."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), tables()):
            cursor.execute(statement)


def _text(field: Any, row: Model) -> Any:
    value = field.value_from_object(row)
    return value if value is None or isinstance(field, JSONField) else field.value_to_string(row)


def _value(field: Any, value: Any) -> Any:
    made = value if value is None or isinstance(field, JSONField) else field.to_python(value)
    return field.get_db_prep_save(made, connection)
