"""Subqueries whose SQL is built once per process, for conditions that occur in many statements."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache, update_wrapper
from typing import Any

from django.db import connection
from django.db.models import QuerySet
from django.db.models.expressions import RawSQL

_PLACEHOLDER = datetime(1, 1, 1, tzinfo=UTC)


class PreparedSubquery:
    """A subquery as a function of the time, for conditions such as `pk__in`.

    `build` returns a queryset of keys. It is called once, with a placeholder, so it must use the time as it is.
    """

    def __init__(self, build: Callable[[datetime], QuerySet[Any, Any]]) -> None:
        update_wrapper(self, build)
        self._build = build
        self._sql_and_parameters = cache(self._compiled)

    def __call__(self, at: datetime) -> RawSQL:
        sql, parameters = self._sql_and_parameters(connection.vendor)
        placeholder, moment = _adapted(_PLACEHOLDER), _adapted(at)
        return RawSQL(sql, [moment if one == placeholder else one for one in parameters])

    def _compiled(self, _vendor: str) -> tuple[str, tuple[Any, ...]]:
        sql, parameters = self._build(_PLACEHOLDER).query.sql_with_params()
        return sql, parameters


def _adapted(moment: datetime) -> Any:
    """Return the time as Django passes it to the driver."""
    return connection.ops.adapt_datetimefield_value(moment)
