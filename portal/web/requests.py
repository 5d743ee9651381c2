"""Count requests by status and duration. Each process adds its counts to the database when its health is checked.

This way, ordinary requests write nothing to the database, and all processes report the same metrics.
"""

from collections import Counter
from collections.abc import Callable
from threading import Lock
from time import perf_counter

import structlog
from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase

from portal.models import Tally
from portal.queries.metrics import ANSWERED, ANSWERED_SECONDS, ANSWERS

log = structlog.get_logger("portal.web")

_WATCHING = ("/livez", "/healthz", "/readyz", "/metrics")  # requested every few seconds; 503 is a normal response there
_lock = Lock()
_counts: Counter[tuple[str, str]] = Counter()


def counted(
    get_response: Callable[[HttpRequest], HttpResponseBase],
) -> Callable[[HttpRequest], HttpResponseBase]:
    """Measure the time from each request to the headers of its response."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        started = perf_counter()
        response = get_response(request)
        if request.path not in _WATCHING:
            _count(response.status_code, perf_counter() - started)
        return response

    return middleware


def keep_counts() -> None:
    """Add this process's counts to the database. If that fails, keep them in memory."""
    with _lock:
        counts = _counts.copy()
        _counts.clear()
    try:
        Tally.objects.add(counts)
    except DatabaseError as error:
        log.warning("request counts not saved yet", error=type(error).__name__)
        with _lock:
            _counts.update(counts)


def _count(status: int, seconds: float) -> None:
    with _lock:
        _counts[ANSWERS, f"{status // 100}xx"] += 1
        for bound in ANSWERED_SECONDS:
            _counts[ANSWERED, str(float(bound))] += seconds <= bound
        _counts[ANSWERED, "+Inf"] += 1
        _counts[ANSWERED, "sum"] += seconds  # type: ignore[assignment]
