"""A cache of public leaderboards. Each page is rendered once for each state of its leaderboard.

Every request reads the board's state from the database, and the state is part of the cache key. Therefore, nothing has
to be invalidated. Boards that are not public have no key and are never cached. The cache is in each web process's
memory rather than in Redis, where the same bytes would go through a socket twice and others could read them.
"""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from http import HTTPStatus

from django.conf import settings
from django.core.cache import caches
from django.db import OperationalError, connection
from django.http import Http404, HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils.cache import get_conditional_response
from django.utils.http import quote_etag
from django.utils.safestring import SafeString
from django.utils.translation import get_language

from portal.queries.boards.head import BoardHead, board_head

_LONGEST_QUERY = 500  # characters; prevents long URLs from filling the memory
_LARGEST = 256 * 1024  # bytes of a page, or characters of a part
_PARAMETERS = {"as_of", "baselines", "column", "cursor", "format", "group", "limit", "page", "phase"}
_PARAMETERS |= {"runs", "search", "slice", "slot", "sort", "system"}
"""The parameters of boards. Pages with any other parameters are not cached, because their links repeat them."""
_HEADERS = {"Cache-Control": "no-cache"}  # browsers must ask each time whether their copy is current
_PERSONAL = (settings.SESSION_COOKIE_NAME, "messages")


def kept_boards(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answer requests without a session from the cache, or with 304 if the page has not changed.

    This is the outermost middleware, so no other middleware runs for a cached page. Headers are cached with the page.
    """

    def middleware(request: HttpRequest) -> HttpResponse:
        address = _board_at(request.path_info) if "/leaderboard" in request.path_info else None
        if address is None or address.is_personal(request):
            return get_response(request)
        key = _key_of(request, address)
        if key is None:
            return get_response(request)
        kept = caches["boards"].get(key)
        if kept is None:
            response = get_response(request)
            if response.status_code != HTTPStatus.OK or request.method != "GET":
                return response
            headers = {name: value for name, value in response.items() if not name.startswith("RateLimit")}
            kept = response.content, headers | {"ETag": quote_etag(key)} | _HEADERS | {"Vary": address.varies_by}
            if len(response.content) <= _LARGEST:
                caches["boards"].set(key, kept)
        content, headers = kept
        page = HttpResponse(content, headers=headers)
        return get_conditional_response(request, etag=headers["ETag"], response=page) or page

    return middleware


@dataclass(frozen=True, slots=True)
class _Address:
    """The URL of a leaderboard's page or of its data in the API, where a token identifies the user."""

    shared_task: str
    track: str | None  # None for all tracks
    is_api: bool

    @property
    def varies_by(self) -> str:
        return "Authorization, Accept" if self.is_api else "Cookie, Accept-Language"

    def is_personal(self, request: HttpRequest) -> bool:
        if self.is_api:
            return "HTTP_AUTHORIZATION" in request.META
        return any(cookie in request.COOKIES for cookie in _PERSONAL)


def _key_of(request: HttpRequest, address: _Address) -> str | None:
    """Return the key of the page or data in the leaderboard's current state, or None if it cannot be cached."""
    if request.method not in ("GET", "HEAD"):
        return None
    request.get_host()  # rejects host names that are not the portal's
    # This query also tests the connection. For other pages, Django first tests it with a separate query.
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        head = board_head(address.shared_task, address.track, request.GET.get("phase"))
    except Http404:
        return None
    except Exception as error:
        if not (address.is_api or isinstance(error, OperationalError)):
            raise
        connection.close_if_unusable_or_obsolete()
        return None  # the view tries again, and the API returns errors as JSON
    parts = [wants_csv(request)] if address.is_api else []
    return board_key(request, head, *parts)


@lru_cache(maxsize=1000)
def _board_at(path: str) -> _Address | None:
    try:
        match = resolve(path)
    except Resolver404:
        return None
    if match.url_name not in ("leaderboard", "leaderboards", "leaderboard_csv"):
        return None
    is_api = match.namespace == "api"
    return _Address(match.kwargs["task" if is_api else "slug"], match.kwargs.get("track"), is_api)


def wants_csv(request: HttpRequest) -> bool:
    """Return whether the client wants CSV instead of JSON from the API."""
    # Most clients do not accept CSV at all. For these, skip the parsing.
    may = "text/csv" in request.META.get("HTTP_ACCEPT", "")
    return may and request.get_preferred_type(["application/json", "text/csv"]) == "text/csv"


def board_key(request: HttpRequest, head: BoardHead, *parts: object) -> str | None:
    """Return the cache key of this URL in this state, or None if the response cannot be cached."""
    is_long = len(request.META.get("QUERY_STRING", "")) > _LONGEST_QUERY
    if head.state is None or is_long or not _PARAMETERS.issuperset(request.GET):
        return None
    name = repr((request.path, sorted(request.GET.lists()), get_language(), head.state, parts))
    return hashlib.sha256(name.encode()).hexdigest()


def kept_part(request: HttpRequest, head: BoardHead, reader: object, make: Callable[[], SafeString]) -> SafeString:
    """Return a part of a page. It is rendered once for all users with the same `reader`."""
    key = board_key(request, head, reader)
    if key is None:
        return make()
    part: SafeString | None = caches["boards"].get(key)
    if part is None:
        part = make()
        if len(part) <= _LARGEST:
            caches["boards"].set(key, part)
    return part


def personal(response: HttpResponse, head: BoardHead) -> HttpResponse:
    """Mark an answer as private: shared caches do not store it, and clients store it only if the board is public.

    Pages of signed-in people are never stored (`web.sessions`).
    """
    response["Cache-Control"] = "private, no-store" if head.state is None else "private, no-cache"
    return response
