"""The portal's clock. It is the database's clock, because the clocks of web servers may differ."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic, time

from django.db import connection
from django.db.models import DateTimeField
from django.db.models.expressions import RawSQL

_QUESTIONS = {
    # PostgreSQL's now() does not advance within a transaction.
    "postgresql": "SELECT clock_timestamp()",
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}


def database_now() -> datetime:
    """Return the database's time in UTC, with a resolution of at least a millisecond."""
    with connection.cursor() as cursor:
        cursor.execute(clock_question())
        (moment,) = cursor.fetchone()
    return parse_db_time(moment)


def clock_offset() -> float:
    """Return by how many seconds this machine's clock is ahead of the database's.

    The error is at most half the duration of the query.
    """
    before = time()
    database = database_now().timestamp()
    return (before + time()) / 2 - database


def database_clock() -> RawSQL:
    """Return `database_now` as an annotation, to read the time together with other rows."""
    return RawSQL(clock_question().replace("%", "%%"), (), DateTimeField())


def clock_question() -> str:
    """Return an SQL query for the time that can be run on its own or as a subquery."""
    return _QUESTIONS[connection.vendor]


def parse_db_time(answer: str | datetime) -> datetime:
    """Convert the database's answer to a datetime in UTC."""
    if isinstance(answer, str):
        return datetime.fromisoformat(answer).replace(tzinfo=UTC)
    return answer.astimezone(UTC)


def running_from(at: datetime) -> Callable[[], datetime]:
    """Return a clock that starts at `at`, for code that must not read the time itself."""
    started = monotonic()
    return lambda: at + timedelta(seconds=monotonic() - started)
