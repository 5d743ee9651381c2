"""Every row as a line of JSON, to the microsecond, in a form that SQLite and PostgreSQL both take in.

Django's own dumps cut times to milliseconds, and a receipt's signature covers them all.
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

Table = type[Model]

LEFT_OUT = (  # who was signed in signs in again; each worker reports its machine again
    "sessions.Session",
    "usersessions.UserSession",
    "portal.WorkerHost",
)
MADE_BY_MIGRATING = ("contenttypes.ContentType", "auth.Permission")  # there in an empty database too
_BATCH = 500
_BEGIN = {"sqlite": "BEGIN", "postgresql": "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"}


def tables() -> list[Table]:
    """All that are to be kept, with those between many and many."""
    models = apps.get_models(include_auto_created=True)
    return [model for model in models if model._meta.managed and model._meta.label not in LEFT_OUT]


def is_empty() -> bool:
    """Whether there is nothing but what migrating makes."""
    own = (table for table in tables() if table._meta.label not in MADE_BY_MIGRATING)
    return not any(table._base_manager.exists() for table in own)


def migrations() -> list[str]:
    """Of the database as it is."""
    return sorted(f"{app}.{name}" for app, name in MigrationRecorder(connection).applied_migrations())


@contextmanager
def snapshot() -> Iterator[None]:
    """Whatever is read in here is of one moment, and nobody waits for it: SQLite's readers do not lock out writers."""
    with connection.cursor() as cursor:
        cursor.execute(_BEGIN[connection.vendor])
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")


def dump(table: Table, file: TextIO) -> int:
    """Write the rows in the order of their keys; how many they are."""
    count = 0
    for row in table._base_manager.order_by("pk").iterator(chunk_size=_BATCH):
        values = {field.attname: _text(field, row) for field in table._meta.concrete_fields}
        file.write(f"{json.dumps(values, ensure_ascii=False)}\n")
        count += 1
    return count


class MissingColumn(Exception):
    """A row has no value for a column; the text is `table.column`."""


def load(table: Table, lines: Iterable[str]) -> int:
    """Insert the rows as they were, whatever the model would make of them; how many they are.

    Within a transaction, at whose end the database looks at references.

    Raises:
        MissingColumn: the rows are of a table of another version.
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


def go_on_counting() -> None:
    """Let the next row of each table get the next key; SQLite sees to that itself."""
    with connection.cursor() as cursor:
        for statement in connection.ops.sequence_reset_sql(no_style(), tables()):
            cursor.execute(statement)


def _text(field: Any, row: Model) -> Any:
    value = field.value_from_object(row)
    return value if value is None or isinstance(field, JSONField) else field.value_to_string(row)


def _value(field: Any, value: Any) -> Any:
    made = value if value is None or isinstance(field, JSONField) else field.to_python(value)
    return field.get_db_prep_save(made, connection)
