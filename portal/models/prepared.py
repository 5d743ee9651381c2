"""Queries whose SQL is built once per process, for statements of every upload.

Django builds a query's SQL again for each use. For a union of several tables, this takes several times as long as
running it.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, update_wrapper
from inspect import get_annotations
from typing import Any

from django.db import connection
from django.db.models import QuerySet

_PLACEHOLDERS: dict[type, Callable[[int], Any]] = {
    int: lambda number: 10**15 + number,
    str: lambda number: f"placeholder {number}",
    datetime: lambda number: datetime(1, 1, 1 + number, tzinfo=UTC),
}


class PreparedQuery:
    """A query as a function of its parameters, which returns the rows as the database driver does.

    `build` returns a queryset of tuples. It is called once, with placeholders, so it must use each parameter as it is
    and compute nothing from it. Its parameters must be annotated with `int`, `str` or `datetime`.
    """

    def __init__(self, build: Callable[..., QuerySet[Any, Any]]) -> None:
        update_wrapper(self, build)
        self._build = build
        self._sql_and_names = cache(self._compiled)

    def __call__(self, **values: Any) -> list[tuple[Any, ...]]:
        sql, parameters = self._sql_and_names(connection.vendor)
        adapted = {name: _adapted(value) for name, value in values.items()}
        with connection.cursor() as cursor:
            cursor.execute(sql, [adapted[one.name] if isinstance(one, _Name) else one for one in parameters])
            return cursor.fetchall()

    def _compiled(self, _vendor: str) -> tuple[str, list[Any]]:
        """Return the SQL, and its parameters with a name instead of each placeholder.

        Raises:
            TypeError: a parameter does not occur in the SQL, or not as it was given.
        """
        kinds = get_annotations(self._build, eval_str=True)
        kinds.pop("return")
        placeholders = {name: _PLACEHOLDERS[kind](number) for number, (name, kind) in enumerate(kinds.items())}
        sql, found = self._build(**placeholders).query.sql_with_params()
        names = {_adapted(placeholder): _Name(name) for name, placeholder in placeholders.items()}
        parameters = [names.get(one, one) if isinstance(one, (int, str, datetime)) else one for one in found]
        if missing := set(names.values()).difference(one for one in parameters if isinstance(one, _Name)):
            raise TypeError(f"{self._build.__name__} changes {', '.join(sorted(one.name for one in missing))}")
        return sql, parameters


class _Name:
    """The name of the parameter that belongs in this place."""

    def __init__(self, name: str) -> None:
        self.name = name


def _adapted(value: Any) -> Any:
    """Return the value as Django passes it to the driver."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
