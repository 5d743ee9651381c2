"""Bounds for a leaderboard's page: the same page rendered without queries, and a static response of the same size.

This is an application for `portal.server`. The page's own address renders the page again for each request, with the
results of its queries from the first request. `SAME_SIZE` answers with the finished page, and no middleware runs.
"""

# ruff: noqa: E402 - models need the settings

import os
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")

import django

django.setup()

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.test import Client, override_settings
from django.urls import path

from portal.urls import urlpatterns as portal_urls
from portal.web.views import boards

SAME_SIZE = "/same-size/"
_BOARD_CACHE = "portal.web.board_cache.kept_boards"


def _handler(middleware: list[str]) -> WSGIHandler:
    with override_settings(MIDDLEWARE=middleware):
        return WSGIHandler()


def _same_size(_request: HttpRequest) -> HttpResponse:
    return HttpResponse(_page())


@cache
def _page() -> bytes:
    """Return the page that the benchmark requests, as the portal sends it."""
    answer = Client(SERVER_NAME="localhost").get(os.environ["BENCHMARK_PAGE"], secure=True)
    assert answer.status_code == 200, answer.status_code
    return answer.content


urlpatterns = [path(SAME_SIZE[1:], _same_size), *portal_urls]
settings.ROOT_URLCONF = __name__
_results: dict[str, Any] = {}


def _once(name: str) -> None:
    """Replace a function of the board's view with one that returns its first result forever."""
    function = getattr(boards, name)

    def first_result(*_given: Any, **_named: Any) -> Any:
        if name not in _results:
            _results[name] = function(*_given, **_named)
        result = _results[name]
        return dict(result) if isinstance(result, dict) else result

    setattr(boards, name, first_result)


for _name in ("board_head", "tab_context", "find_board"):
    _once(_name)
setattr(boards, "kept_part", lambda _request, _head, _reader, make: make())  # noqa: B010 - a module, for mypy

_static, _rendered = _handler([]), _handler([one for one in settings.MIDDLEWARE if one != _BOARD_CACHE])


def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    return (_static if environ["PATH_INFO"] == SAME_SIZE else _rendered)(environ, start_response)
