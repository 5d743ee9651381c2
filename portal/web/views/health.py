"""Monitoring: whether the portal is alive and ready, and its metrics."""

import hmac
from collections.abc import Iterator
from http import HTTPStatus

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

from portal.models.clock import database_now
from portal.models.worker_host import running_version
from portal.queries.health import HealthStatus, health
from portal.queries.metrics import metrics as figures
from portal.web.requests import keep_counts


@never_cache
@require_safe
def livez(request: HttpRequest) -> HttpResponse:
    """Show that this process responds, whether or not its database does. The process's own watchdog requests it."""
    return HttpResponse("ok\n", content_type="text/plain")


@never_cache
@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """Show that this process and its database respond, and the version."""
    keep_counts()
    now = f"{database_now():%Y-%m-%dT%H:%M:%SZ}"
    return HttpResponse(f"ok {now} agon {running_version()}\n", content_type="text/plain")


@never_cache
@require_safe
def readyz(request: HttpRequest) -> JsonResponse:
    """Return 503 if uploads cannot be accepted.

    If only the broker or workers are down, uploads are accepted and only their scores are delayed.
    """
    found = health(for_everyone=True)
    keep_counts()
    status = HTTPStatus.SERVICE_UNAVAILABLE if found.status == HealthStatus.UNREADY else HTTPStatus.OK
    return JsonResponse({"status": found.status, "parts": found.parts}, status=status)


class _Figures(Collector):
    def collect(self) -> Iterator[Metric]:
        return figures(database_now())


_registry = CollectorRegistry(auto_describe=False)
_registry.register(_Figures())


@never_cache
@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """Return metrics for Prometheus if the request has the token, otherwise 404."""
    token: str = settings.METRICS_TOKEN
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if not token or not hmac.compare_digest(given.encode(), token.encode()):
        raise Http404
    keep_counts()
    return HttpResponse(generate_latest(_registry), content_type=CONTENT_TYPE_LATEST)
