"""Limits on requests per minute. Each web process counts separately, so that reading needs no database writes.

The limits that protect runs, passwords and mailboxes belong to actions, which count in the database.
"""

from dataclasses import dataclass

from django.core.cache import caches

REQUESTS = 600  # per minute per token, or per address if there is no token
WRONG_TOKENS = 30  # per minute per address
_WINDOW = 60  # seconds


@dataclass(frozen=True, slots=True)
class Usage:
    """A client's request count, which resets in `seconds`."""

    limit: int
    used: int
    seconds: int

    @property
    def is_over(self) -> bool:
        return self.used > self.limit

    @property
    def headers(self) -> dict[str, str]:
        return {
            "RateLimit-Limit": str(self.limit),
            "RateLimit-Remaining": str(max(0, self.limit - self.used)),
            "RateLimit-Reset": str(self.seconds),
        }


def count(who: str, limit: int, now: float) -> Usage:
    """Count a request by the client `who`. `now` is Unix time in seconds."""
    window, passed = divmod(int(now), _WINDOW)
    key = f"{who}:{window}"
    caches["rates"].add(key, 0, timeout=_WINDOW)
    return Usage(limit, caches["rates"].incr(key), _WINDOW - passed)
