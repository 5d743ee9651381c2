"""Statements and subqueries whose SQL is built once per process, for what most requests and uploads need.

Django builds a statement's SQL again for each use. This takes several times as long as running it. A statement is worth
preparing if this saves about 5 % of the CPU time of a frequent request, alone or together with the request's others.
"""

from collections.abc import Callable, Mapping
from copy import copy
from datetime import UTC, datetime
from functools import cache, update_wrapper
from inspect import get_annotations
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import Model, QuerySet
from django.db.models.expressions import RawSQL
from django.db.models.sql import UpdateQuery
from django.db.models.sql.compiler import SQLCompiler

from portal.models.clock import clock_question

Row = TypeVar("Row")
Built = TypeVar("Built")

_PLACEHOLDERS: dict[type, Callable[[int], Any]] = {
    int: lambda number: 2 * 10**9 + number,  # fits into every column for integers
    str: lambda number: f"placeholder {number}",
    datetime: lambda number: datetime(1, 1, 1 + number, tzinfo=UTC),
}


class _Prepared(Generic[Built]):
    """A statement as a function of its parameters.

    `build` is called once, with placeholders, so it must use each parameter as it is and compute nothing from it. Its
    parameters must be annotated with `int`, `str` or `datetime`.
    """

    def __init__(self, build: Callable[..., Built]) -> None:
        update_wrapper(self, build)  # type: ignore[arg-type]
        self._build = build
        # Statements can contain `database_clock`, which differs between databases, and from test to test.
        self._compiled = cache(self._compile)

    def _compile(self, _clock: str) -> tuple[Built, SQLCompiler, str, list[Any]]:
        """Return what `build` returned, its compiler, and the SQL with parameters, in which names replace placeholders.

        Raises:
            TypeError: a parameter does not occur in the SQL, or not as it was given.
        """
        kinds = get_annotations(self._build, eval_str=True)
        kinds.pop("return")
        placeholders = {name: _PLACEHOLDERS[kind](number) for number, (name, kind) in enumerate(kinds.items())}
        built = self._build(**placeholders)
        compiler = self._compiler_of(built)
        sql, found = compiler.as_sql()
        names = {_adapted(placeholder): _Name(name) for name, placeholder in placeholders.items()}
        parameters = [names.get(one, one) if isinstance(one, (int, str, datetime)) else one for one in found]
        if missing := set(names.values()).difference(one for one in parameters if isinstance(one, _Name)):
            raise TypeError(f"{self._build.__name__} changes {', '.join(sorted(one.name for one in missing))}")
        return built, compiler, sql, parameters

    def _compiler_of(self, built: Any) -> SQLCompiler:
        return built.query.get_compiler(connection=connection)


class PreparedQuery(_Prepared[QuerySet[Any, Row]], Generic[Row]):
    """A query as a function of its parameters, which returns the rows of the queryset that `build` returns."""

    def __call__(self, **values: Any) -> list[Row]:
        queryset, built_compiler, sql, parameters = self._compiled(clock_question())
        compiler, statement = copy(built_compiler), (sql, _filled(parameters, values))
        compiler.as_sql = lambda *_, **__: statement  # type: ignore[method-assign]
        rows = queryset.all()
        rows.query.get_compiler = lambda *_, **__: compiler  # type: ignore[method-assign]
        return list(rows)

    def first(self, **values: Any) -> Row | None:
        """Return the first row, or None if there is none."""
        return next(iter(self(**values)), None)


class PreparedSubquery(_Prepared[QuerySet[Any, Any]]):
    """A subquery as a function of its parameters, for conditions such as `pk__in`."""

    def __call__(self, **values: Any) -> RawSQL:
        _built, _compiler, sql, parameters = self._compiled(clock_question())
        return RawSQL(sql, _filled(parameters, values))


class PreparedUpdate(_Prepared[tuple[QuerySet[Any, Any], dict[str, Any]]]):
    """An UPDATE as a function of its parameters, which returns the number of changed rows.

    `build` returns the rows and their new values.
    """

    def __call__(self, **values: Any) -> int:
        _built, _compiler, sql, parameters = self._compiled(clock_question())
        with connection.cursor() as cursor:
            cursor.execute(sql, _filled(parameters, values))
            return cursor.rowcount

    def _compiler_of(self, built: Any) -> SQLCompiler:
        rows, values = built
        update: UpdateQuery = rows.query.chain(UpdateQuery)
        update.add_update_values(values)
        return update.get_compiler(connection=connection)


def set_related(owner: Model, name: str, rows: list[Any]) -> None:
    """Store rows that refer to this object under the name of the reverse relation, as `prefetch_related` does."""
    related = getattr(owner, name)
    for row in rows:
        setattr(row, related.field.name, owner)
    found = related.all()
    found._result_cache, found._prefetch_done = rows, True
    vars(owner).setdefault("_prefetched_objects_cache", {})[name] = found


class _Name:
    """The name of the parameter that belongs in this place."""

    def __init__(self, name: str) -> None:
        self.name = name


def _filled(parameters: list[Any], values: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return the parameters with values instead of names."""
    adapted = {name: _adapted(value) for name, value in values.items()}
    return tuple(adapted[one.name] if isinstance(one, _Name) else one for one in parameters)


def _adapted(value: Any) -> Any:
    """Return the value as Django passes it to the driver."""
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
