"""A secret word in the tests' gold files, and a search for it wherever gold could leak.

Everything that leaves the worker is searched while the tests run: responses, log lines, emails, queue messages, all
values sent to the database (which also holds the cache, so this covers everything that a dump could contain), the
output of commands and tests, what browsers receive, events for Sentry, and what a production installation leaves on its
disk, such as the proxy's log. At the end, every file under AGON_STATE is searched. If the word is found during a test,
the test fails.
"""

import base64
import json
import logging
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import pytest
from celery.signals import before_task_publish
from django.conf import settings
from django.core.mail import EmailMessage
from django.core.management.base import OutputWrapper
from django.db import connections
from django.db.backends.signals import connection_created
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from scoring import load_definition

CANARY = "CANARYq7w2zx9k"
_PIECE = 1024 * 1024


def _forms() -> list[bytes]:
    """Return the word in plain form, in hexadecimal, and in base64 at each offset."""
    plain = CANARY.encode()
    encoded = [base64.b64encode(b"\0" * before + plain)[4 if before else 0 : -4] for before in range(3)]
    return [plain, plain.hex().encode(), *encoded]


FORMS = _forms()
WORDLESS = (int, float, datetime, type(None))  # types of values that cannot contain the word


class Eyes:
    """A search for the word. `seen` lists where it was found."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def look(self, way: str, content: Any) -> None:
        data = content if isinstance(content, bytes) else str(content).encode(errors="replace")
        if any(form in data for form in FORMS):
            self.seen.append(way)

    def look_at_folder(self, folder: Path) -> None:
        """Search every file, in overlapping pieces."""
        for path in folder.rglob("*"):
            if path.is_file():
                with path.open("rb") as file:
                    tail = b""
                    while piece := file.read(_PIECE):
                        self.look(f"file {path}", tail + piece)
                        tail = piece[-64:]

    def look_at_recording(self, har: Path) -> None:
        """Search the headers and bodies of a browser's responses. Requests are skipped: they may contain the word."""
        for entry in json.loads(har.read_text())["log"]["entries"]:
            url, answer = entry["request"]["url"], entry["response"]
            body = answer["content"].get("text", "")
            is_encoded = answer["content"].get("encoding") == "base64"
            self.look(f"browser, {url}", base64.b64decode(body) if is_encoded else body)
            self.look(f"browser, headers of {url}", answer["headers"])

    @contextmanager
    def aside(self) -> Iterator[list[str]]:
        """Collect what is found in this context separately, so that no test fails. Only tests of the search use it."""
        kept, self.seen = self.seen, []
        try:
            yield self.seen
        finally:
            self.seen = kept


EYES = Eyes()


class ResponseEyes:
    """The outermost middleware, which searches every response."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self._get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self._get_response(request)
        EYES.look(f"headers of {request.path}", dict(response.items()))
        EYES.look(f"cookies of {request.path}", response.cookies.output())
        if isinstance(response, HttpResponse):
            EYES.look(f"answer of {request.path}", response.content)
        else:
            response.streaming_content = _watched(response.streaming_content, request.path)  # type: ignore[attr-defined]
        return response


def _watched(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    tail = b""
    for piece in pieces:
        EYES.look(f"stream of {path}", tail + piece)
        tail = piece[-64:]
        yield piece


class LogEyes(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        EYES.look(f"log of {record.name}", logging.Formatter().format(record))
        EYES.look(f"log of {record.name}", record.__dict__)


def _look_at_statement(execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
    if not _is_clean(str(sql)):
        EYES.look("statement", sql)
    for values in (params or ()) if many else [params]:
        row = values.values() if isinstance(values, dict) else values or ()
        words = [value for value in row if not isinstance(value, WORDLESS)]
        # As a string, psycopg's JSON wrapper is shortened, so its content is searched instead.
        EYES.look("database", "\n".join(str(getattr(value, "obj", value)) for value in words))
    return execute(sql, params, many, context)


@lru_cache(10_000)
def _is_clean(sql: str) -> bool:
    """Return whether the statement does not contain the word.

    The result is cached, because the same statements are repeated.
    """
    eyes = Eyes()
    eyes.look("statement", sql)
    return not eyes.seen


def _watch_connection(connection: Any, **_: Any) -> None:
    if _look_at_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(_look_at_statement)


def _look_at_message(body: Any = None, headers: Any = None, **_: Any) -> None:
    EYES.look("message on the queue", (body, headers))


@pytest.fixture(scope="session", autouse=True)
def eyes_open() -> Iterator[None]:
    """Search while the tests run, and search all files under AGON_STATE at the end."""
    handler = LogEyes()
    logging.getLogger().addHandler(handler)
    connection_created.connect(_watch_connection)
    for connection in connections.all(initialized_only=True):
        _watch_connection(connection)
    before_task_publish.connect(_look_at_message)
    patch = pytest.MonkeyPatch()
    patch.setattr(EmailMessage, "send", _looking(EmailMessage.send, "mail", _mail))
    patch.setattr(OutputWrapper, "write", _looking(OutputWrapper.write, "command", lambda _self, *words, **__: words))
    yield
    patch.undo()
    before_task_publish.disconnect(_look_at_message)
    connection_created.disconnect(_watch_connection)
    logging.getLogger().removeHandler(handler)
    EYES.look_at_folder(Path(settings.STATE_ROOT))
    assert EYES.seen == [], f"gold got out: {EYES.seen}"


def _looking(original: Callable[..., Any], way: str, content: Callable[..., Any]) -> Callable[..., Any]:
    def looking(*arguments: Any, **options: Any) -> Any:
        EYES.look(way, content(*arguments, **options))
        return original(*arguments, **options)

    return looking


def _mail(mail: EmailMessage, *_: Any, **__: Any) -> Any:
    return mail.subject, mail.body, mail.to, mail.extra_headers, getattr(mail, "alternatives", None), mail.attachments


@pytest.fixture(autouse=True)
def gold_stays_hidden() -> Iterator[None]:
    """Fail a test during which the word was found."""
    yield
    seen, EYES.seen = EYES.seen, []
    assert seen == [], f"gold got out: {seen}"


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Search what the test and its processes printed. Tests of this search are exempt because they print the word."""
    outcome = yield
    if item.path.name != "test_canary.py":
        look_at_report(outcome.get_result())  # type: ignore[attr-defined]


def look_at_report(report: pytest.TestReport) -> None:
    for name, text in report.sections:
        EYES.look(name, text)


def mark_gold(folder: Path) -> None:
    """Add a field with the word to a task folder's gold files, if they are JSON, CSV or TSV."""
    for path in {gold.file for gold in load_definition(folder).gold}:
        if path.suffix == ".json":
            entries = [entry | {"note": CANARY} for entry in json.loads(path.read_text())]
            path.write_text(json.dumps(entries))
        elif path.suffix in (".csv", ".tsv"):
            separator = "," if path.suffix == ".csv" else "\t"
            head, *rows = path.read_text().splitlines()
            path.write_text("\n".join([f"{head}{separator}note", *(f"{row}{separator}{CANARY}" for row in rows), ""]))
