"""Time until a limit is reset. Errors have it as the parameter `seconds`, which the API sends as `Retry-After`."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from math import ceil


def seconds_until(moment: datetime, at: datetime) -> int:
    """Return the number of whole seconds until `moment`, at least one."""
    return max(1, ceil((moment - at).total_seconds()))


def until_fewer(times: Iterable[datetime], limit: int, period: timedelta, at: datetime) -> int:
    """Return the seconds until fewer than `limit` of these times are in the last `period`, or 0 if that is so now."""
    newest = sorted(times)[-limit:]
    return seconds_until(newest[0] + period, at) if len(newest) == limit else 0


def until_tomorrow(at: datetime) -> int:
    """Return the seconds until the next day in UTC, when daily limits are reset."""
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    return seconds_until(today + timedelta(days=1), at)
