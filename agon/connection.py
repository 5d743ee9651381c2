"""HTTP connection to a portal's API: token, retries, paginated lists, and conversion of problems to errors."""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import IO, Any, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import msgspec
from urllib3 import BaseHTTPResponse, PoolManager, ProxyManager, Retry, Timeout
from urllib3.exceptions import HTTPError, MaxRetryError, NameResolutionError, NewConnectionError, ProtocolError
from urllib3.exceptions import TimeoutError as TimedOut

from agon.answers import Problems, TaskSummary
from agon.errors import AgonError, NotAllowed, NotFound, NotSignedIn, RunInvalid, Unavailable
from agon.version import HEADER, version, warn_if_old
from scoring.reports.nearest import nearest

Kind = TypeVar("Kind")
Body = bytes | IO[bytes] | None

ONCE = 60.0  # seconds to wait for the response to a request that must not be repeated
_BASE = "/api/v1"
_OUTSIDE_THE_API = ("/.well-known/", "/device/")
_SECRET = ("Authorization", "X-Data-Password")  # headers that are never sent to another host
ATTEMPTS = 5  # attempts per request
_NO_LONGER_THAN = 30  # maximum wait in seconds that a server may request before a retry
_UNAVAILABLE = (502, 503, 504)
_ERRORS = dict.fromkeys(_UNAVAILABLE, Unavailable) | {401: NotSignedIn, 403: NotAllowed, 404: NotFound, 429: NotAllowed}
_NOT_FOUND = "not_found"
_TASK = re.compile(r"(/tasks/([^/]+))(/.+)?")


class _Retries(Retry):
    """Retry policy that returns 429 responses to the caller.

    Rate limits take longer to reset than users would be willing to wait without being asked.
    """

    RETRY_AFTER_STATUS_CODES = frozenset({503})


class Connection:
    """A connection to one portal, with or without a token.

    Requests that get no response, or a 502, 503 or 504, are repeated. This is safe if a second one changes nothing:
    uploads have an `Idempotency-Key`. Others are sent with `within=ONCE`.
    """

    def __init__(self, address: str, token: str | None) -> None:
        self.address = address
        self._headers = {"User-Agent": f"agon/{version() or 'checkout'}"}
        self._is_compared = False
        if token:
            if not token.isascii() or len(token.split()) != 1:
                raise NotSignedIn("The token contains characters that are not allowed in tokens. Copy it again.")
            self._headers["Authorization"] = f"Bearer {token}"
        self._retries = _Retries(
            total=ATTEMPTS - 1,
            allowed_methods=None,
            status_forcelist=_UNAVAILABLE,
            backoff_factor=0.5,
            raise_on_status=False,
            remove_headers_on_redirect=_SECRET,
            retry_after_max=_NO_LONGER_THAN,
        )
        options: dict[str, Any] = {"timeout": Timeout(connect=10, read=60), "retries": self._retries}
        parts = urlsplit(address)
        proxy = None if proxy_bypass(parts.hostname or "") else getproxies().get(parts.scheme)
        self._pool = ProxyManager(proxy, **options) if proxy else PoolManager(**options)

    def read(self, kind: type[Kind], path: str, *, within: float | None = None, **query: Any) -> Kind:
        """GET a path below `/api/v1` and return the decoded response. `within` is as in `ask`."""
        return self.decoded(kind, self.ask("GET", path, query=query, within=within).data)

    def send(
        self, kind: type[Kind], path: str, content: Mapping[str, Any] | Body = None, query: Any = (), **headers: str
    ) -> Kind:
        """POST JSON or a file's bytes and return the decoded response."""
        if content is None or isinstance(content, Mapping):
            headers["Content-Type"] = "application/json"
            content = None if content is None else json.dumps(dict(content)).encode()
        return self.decoded(kind, self.ask("POST", path, query=dict(query), body=content, headers=headers).data)

    def pages(self, path: str, **query: Any) -> Iterator[dict[str, Any]]:
        asked: list[dict[str, Any]] = []
        while True:
            asked.append(query)
            page = self.read(dict[str, Any], path, **query)
            yield page
            if not page.get("next"):
                return
            following = self.converted(str, page["next"])
            # keep only the query, because the token must not be sent to any other host
            query = dict(parse_qsl(following.partition("?")[2]))
            if query in asked:
                raise self._surprising(ValueError(f"the page after {path} is {following}"))

    def items(self, kind: type[Kind], path: str, **query: Any) -> Iterator[Kind]:
        """Yield the items of a list from all of its pages."""
        for page in self.pages(path, **query):
            yield from self.converted(list[kind], page.get("items"))  # type: ignore[valid-type]

    def ask(
        self,
        method: str,
        path: str,
        query: Mapping[str, Any] | None = None,
        body: Body = None,
        headers: Mapping[str, str] | None = None,
        stream: bool = False,
        redirect: bool = False,
        within: float | None = None,
    ) -> BaseHTTPResponse:
        """Send a request and return the response if its status is below 300.

        Args:
            stream: leave the response body unread.
            redirect: follow the redirect of a GET to the file storage.
            within: send the request only once, and wait at most this many seconds for the response.

        Raises:
            AgonError: the status is 300 or higher, or there was no response. The subclass depends on the status.
        """
        base = "" if path.startswith(_OUTSIDE_THE_API) else _BASE
        wanted = {name: value for name, value in (query or {}).items() if value not in ("", None)}
        place = f"{base}{quote(path)}"
        address = f"{self.address}{place}{'?' if wanted else ''}{urlencode(wanted, doseq=True)}"
        once: dict[str, Any] = {"timeout": Timeout(total=within), "retries": self._retries.new(total=0)}
        try:
            answer = self._pool.request(
                method,
                address,
                body=body,
                headers={**self._headers, **(headers or {})},
                preload_content=not stream,
                redirect=redirect,
                **({} if within is None else once),
            )
            self._compare(answer.headers.get(HEADER))
            if 300 <= answer.status < 400:
                raise self._moved(address, answer.headers.get("Location", ""), place)
            if not stream and _is_of_another_site(answer):
                raise self._no_portal(answer)
            if answer.status >= 400:
                raise self._explained(_error(answer), path)
        except HTTPError as error:
            reason = error.reason if isinstance(error, MaxRetryError) else error
            raise Unavailable(f"{self.address} is not responding: {_why(reason)}.") from None
        return answer

    def _no_portal(self, answer: BaseHTTPResponse) -> AgonError:
        """Return the error for a response that does not come from a portal's API."""
        kind = answer.headers.get("Content-Type", "").partition(";")[0] or "no content type"
        return AgonError(
            f"{self.address} is not an Agon portal: it responded with status {answer.status} ({kind}). Set the URL of "
            "a portal with “agon login URL”, --portal or AGON_URL. It has no path, as in https://YOUR-PORTAL.",
            "no_portal",
        )

    def _explained(self, error: AgonError, path: str) -> AgonError:
        """Return the error, or a clearer one if the task in the path does not exist."""
        asked = _TASK.fullmatch(path)
        if error.code != _NOT_FOUND or asked is None:
            return error
        place, task, part = asked.groups()
        try:
            if part:
                self.ask("GET", place)
                return error
            known = [one.slug for one in self.items(TaskSummary, "/tasks")]
        except NotFound as missing:
            return missing
        except AgonError:
            return error
        return error if task in known else _no_task(task, known)

    def _compare(self, portal: str | None) -> None:
        """Compare the client's version with the portal's, once per connection."""
        if portal and not self._is_compared:
            self._is_compared = True
            warn_if_old(portal, self.address)

    def _moved(self, asked: str, location: str, place: str) -> AgonError:
        """Return the error for a redirect.

        The portal's real address is the part of `location` before the requested path, `place`.
        """
        try:
            found = urljoin(asked, location).partition("?")[0]
        except ValueError:
            found = ""
        portal = found.rstrip("/").removesuffix(place.rstrip("/"))
        if not location or portal in ("", self.address, found.rstrip("/")):
            return AgonError(
                f"{self.address} redirects to {location or 'nowhere'}, so it is not a portal. Check AGON_URL."
            )
        return AgonError(f"The portal’s URL is {portal}. Set AGON_URL to this URL.")

    def decoded(self, kind: type[Kind], content: bytes) -> Kind:
        """Decode a JSON response to the given type."""
        try:
            return msgspec.json.decode(content, type=kind)
        except msgspec.DecodeError as error:
            raise self._surprising(error) from None

    def converted(self, kind: type[Kind], content: Any) -> Kind:
        """Convert values of a response to the given type."""
        try:
            return msgspec.convert(content, kind)
        except msgspec.ValidationError as error:
            raise self._surprising(error) from None

    def _surprising(self, error: Exception) -> AgonError:
        return AgonError(
            f"{self.address} sent a response that this version of agon does not understand: {error}. "
            f"Update agon: {self.address}/client/"
        )


def _why(reason: Exception | None) -> str:
    """Return in words why there was no response."""
    match reason:
        case NameResolutionError():
            return "there is no host with this name. Check the URL and your internet connection"
        case NewConnectionError():
            system = str(reason).rpartition("] ")[2]  # as in: [Errno 101] Network is unreachable
            return f"{system}. Check the URL, or try again later"
        case TimedOut():
            return "it took too long. Try again later"
        case ProtocolError():
            return "the connection was closed. Try again later"
        case _:
            return str(reason)


def _no_task(task: str, known: list[str]) -> NotFound:
    meant = nearest(task, known)
    hint = f"Did you mean {meant}?" if meant else "“agon tasks” lists all tasks."
    return NotFound(f"There is no task {task}, or you don’t have access to it. {hint}", _NOT_FOUND)


def _is_of_another_site(answer: BaseHTTPResponse) -> bool:
    """Return whether this response can't come from a portal's API.

    Proxies in front of a portal also send HTML, but with other statuses, such as 413, 429 and 502.
    """
    if HEADER in answer.headers:
        return False
    if answer.status == 200:
        return "html" in answer.headers.get("Content-Type", "")
    return answer.status in (404, 405) and _problem(answer.data) is None


def _error(answer: BaseHTTPResponse) -> AgonError:
    """Convert an error response to an exception. If the body is not a problem document, the message is general."""
    problem = _problem(answer.data) or _Problem(f"The portal responded with status {answer.status}.")
    lines = [f"{one.field}: {one.detail}" for one in problem.errors if one.detail not in problem.detail]
    message = "\n".join([problem.detail + _login_hint(problem.code), *lines])
    by_status = NotAllowed if problem.code == "uploads-paused" else _ERRORS.get(answer.status, AgonError)
    kind = RunInvalid if problem.problems else by_status
    error = kind(message, problem.code, problem.problems)
    with suppress(ValueError):
        error.retry_after = int(answer.headers.get("Retry-After", ""))
    return error


def _login_hint(code: str) -> str:
    """Return how to sign in, if the error with this code means that the token is missing or invalid."""
    if code == "token_invalid":
        how = "correct AGON_TOKEN, or unset it and use" if "AGON_TOKEN" in os.environ else "use"
        return f" To sign in again, {how} “agon login”."
    return " Use “agon login”." if code == "signed_out" else ""


def _problem(content: bytes) -> "_Problem | None":
    with suppress(msgspec.DecodeError):
        return msgspec.json.decode(content, type=_Problem)
    with suppress(msgspec.DecodeError):
        found = msgspec.json.decode(content, type=_DeviceError)
        return _Problem(found.error_description or found.error, found.error)
    return None


class _FieldProblem(msgspec.Struct):
    field: str
    detail: str


class _Problem(msgspec.Struct):
    """A problem in the format of RFC 9457, with Agon's own fields."""

    detail: str
    code: str = ""
    errors: list[_FieldProblem] = []
    problems: Problems = []


class _DeviceError(msgspec.Struct):
    """An error in the format of RFC 6749, used for signing in with a browser."""

    error: str
    error_description: str = ""
