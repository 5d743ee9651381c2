"""Every page: valid HTML, nothing inline, and headers that restrict the browser."""

import re
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import html5lib
import pytest
from django.http.response import HttpResponseBase

from tests.security.conftest import World
from tests.security.pages import Answer, answers

HTML = "{http://www.w3.org/1999/xhtml}"
TOKEN = re.compile(r'(?<=csrfmiddlewaretoken" value=")[^"]*')  # different in every response
DATA = ("application/json", "application/ld+json")  # types of scripts that no browser executes
POLICY = {
    "default-src 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "object-src 'none'",
}


@pytest.fixture
def crawled(world: World) -> list[Answer]:
    return list(answers(world))


def test_every_page_is_what_it_should_be(crawled: list[Answer]) -> None:
    """Check all pages in one pass, because there are many, and list every problem."""
    pages = [answer for answer in crawled if answer.is_html and not 300 <= answer.response.status_code < 400]
    assert len(pages) > 150
    problems = [problem for answer in crawled for problem in header_problems(answer)]
    problems += [problem for answer in pages for problem in page_problems(answer)]
    assert "\n".join(problems) == ""


def header_problems(answer: Answer) -> Iterator[str]:
    headers = answer.response.headers
    policy = {part.strip() for part in headers.get("Content-Security-Policy", "").split(";")}
    forms = next((part for part in policy if part.startswith("form-action")), "")
    if (
        not policy >= POLICY
        or not forms.startswith("form-action 'self'")
        or "unsafe" in str(policy)
        or "nonce" in str(policy)
    ):
        yield f"{answer.name}: Content-Security-Policy {policy}"
    wanted = {
        "Cross-Origin-Opener-Policy": "same-origin",
        "Cross-Origin-Resource-Policy": "same-origin",
        "Referrer-Policy": "same-origin",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
    }
    for name, value in wanted.items():
        if headers.get(name) != value:
            yield f"{answer.name}: {name} {headers.get(name)}"
    if "camera=()" not in headers.get("Permissions-Policy", ""):
        yield f"{answer.name}: Permissions-Policy"
    if not answer.name.startswith("anonymous") and headers.get("Cache-Control") != "private, no-store":
        yield f"{answer.name}: Cache-Control {headers.get('Cache-Control')}"
    yield from cookie_problems(answer.name, answer.response)


def cookie_problems(name: str, response: HttpResponseBase) -> Iterator[str]:
    for cookie in response.cookies.values():
        if cookie["samesite"] not in ("Lax", "Strict") or (not cookie["httponly"] and cookie.key != "messages"):
            yield f"{name}: cookie {cookie.key}"


def page_problems(answer: Answer) -> list[str]:
    return [f"{answer.name}: {problem}" for problem in _problems(TOKEN.sub("", answer.text))]


@lru_cache(None)  # roles often get the same page
def _problems(text: str) -> list[str]:
    parser, root = parsed(text)
    lines = text.splitlines()
    problems = [f"{code} in {lines[line - 1].strip()[:100]!r}" for (line, _), code, _ in parser.errors]
    seen = Counter(element.get("id") for element in root.iter() if element.get("id"))
    problems += [f"id {name} {count} times" for name, count in seen.items() if count > 1]
    for element in root.iter():
        if isinstance(element.tag, str):
            problems += inline_problems(element)
    return problems


@lru_cache(1)
def parsed(text: str) -> tuple[html5lib.HTMLParser, Any]:
    """Return the parser, which knows the errors, and the root of a page or of a fragment that HTMX inserts."""
    parser = html5lib.HTMLParser()
    is_page = text.lstrip()[:9].lower() == "<!doctype"
    return parser, parser.parse(text) if is_page else parser.parseFragment(text)


def inline_problems(element) -> Iterator[str]:
    tag = element.tag.removeprefix(HTML)
    if tag == "style" or (tag == "script" and not element.get("src") and element.get("type") not in DATA):
        yield f"inline <{tag}>"
    for name, value in element.items():
        name = name.rpartition("}")[2]
        if name.startswith(("on", "hx-on")) or name == "style":
            yield f"<{tag} {name}>"
        if name in ("href", "src", "action", "formaction") and value.strip().lower().startswith("javascript:"):
            yield f"<{tag} {name}={value[:20]!r}>"
