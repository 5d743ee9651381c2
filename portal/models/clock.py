"""The clock of the portal: the database's, as web servers' clocks may differ."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from time import monotonic, time

from django.db import connection
from django.db.models import DateTimeField
from django.db.models.expressions import RawSQL

_QUESTIONS = {
    # Not now(), which stands still within a transaction.
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
    """Seconds by which this machine's clock is ahead of the database's, within half the time of the query."""
    before = time()
    database = database_now().timestamp()
    return (before + time()) / 2 - database


def database_clock() -> RawSQL:
    """`database_now` as an annotation, to read it with other rows."""
    return RawSQL(clock_question().replace("%", "%%"), (), DateTimeField())


def clock_question() -> str:
    """SQL for the time, alone or within another query."""
    return _QUESTIONS[connection.vendor]


def parse_db_time(answer: str | datetime) -> datetime:
    """The database's time as a datetime in UTC."""
    if isinstance(answer, str):
        return datetime.fromisoformat(answer).replace(tzinfo=UTC)
    return answer.astimezone(UTC)


def running_from(at: datetime) -> Callable[[], datetime]:
    """A clock that starts at `at`, for work that is given its time."""
    started = monotonic()
    return lambda: at + timedelta(seconds=monotonic() - started)
