"""How many requests a minute: counted in each web process, so that reading writes nothing to the database.

What protects runs, passwords and mailboxes is counted in the database, by the actions themselves.
"""

from dataclasses import dataclass

from django.core.cache import caches

REQUESTS = 600  # a minute, for each token or, without one, each address
WRONG_TOKENS = 30  # a minute, for each address
_WINDOW = 60  # seconds


@dataclass(frozen=True, slots=True)
class Usage:
    """Where one who asks stands: `seconds` until the count begins again."""

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
    """One request more of `who`; `now` in seconds of Unix time."""
    window, passed = divmod(int(now), _WINDOW)
    key = f"{who}:{window}"
    caches["rates"].add(key, 0, timeout=_WINDOW)
    return Usage(limit, caches["rates"].incr(key), _WINDOW - passed)
