"""How long limits last: the parameter `seconds` of their errors, which the API sends as `Retry-After`."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import ceil


def seconds_until(moment: datetime, at: datetime) -> int:
    """Whole seconds, at least one."""
    return max(1, ceil((moment - at).total_seconds()))


def until_fewer(times: Iterable[datetime], limit: int, period: timedelta, at: datetime) -> int:
    """Seconds until fewer than `limit` of these times are within `period`; zero if they already are."""
    newest = sorted(times)[-limit:]
    return seconds_until(newest[0] + period, at) if len(newest) == limit else 0


def until_tomorrow(at: datetime) -> int:
    """Seconds until the next day in UTC, when daily limits are reset."""
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return seconds_until(today + timedelta(days=1), at)
