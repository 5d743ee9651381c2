"""The one clock that decides: the database's, so that web servers may disagree about the time."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic, time

from django.db import connection
from django.db.models import DateTimeField
from django.db.models.expressions import RawSQL

_QUESTIONS = {
    # Not now(): it does not move within a transaction.
    "postgresql": "SELECT clock_timestamp()",
    "sqlite": "SELECT strftime('%Y-%m-%d %H:%M:%f', 'now')",
}


def database_now() -> datetime:
    """The database's time in UTC, to the millisecond at least."""
    with connection.cursor() as cursor:
        cursor.execute(clock_question())
        (moment,) = cursor.fetchone()
    return parse_db_time(moment)


def clock_offset() -> float:
    """Seconds that this machine's clock is ahead of the database's, to half the time that the question took."""
    before = time()
    database = database_now().timestamp()
    return (before + time()) / 2 - database


def database_clock() -> RawSQL:
    """`database_now` as a column of rows that are read anyway."""
    return RawSQL(clock_question().replace("%", "%%"), (), DateTimeField())


def clock_question() -> str:
    """The SQL that asks for the time, alone or within another question."""
    return _QUESTIONS[connection.vendor]


def parse_db_time(answer: str | datetime) -> datetime:
    """The database's answer in UTC."""
    if isinstance(answer, str):
        return datetime.fromisoformat(answer).replace(tzinfo=UTC)
    return answer.astimezone(UTC)


def running_from(at: datetime) -> Callable[[], datetime]:
    """A clock that shows `at` now and goes on from there, so that work is timed by the one moment it was given."""
    started = monotonic()
    return lambda: at + timedelta(seconds=monotonic() - started)
