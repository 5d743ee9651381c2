"""Render organizers' Markdown as safe HTML."""

from collections.abc import Iterator
from dataclasses import dataclass

import nh3
from django.utils.safestring import SafeString, mark_safe
from django.utils.text import slugify
from markdown_it import MarkdownIt
from markdown_it.token import Token

_reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])

TAGS = {
    "a", "blockquote", "br", "code", "dd", "del", "dl", "dt", "em", "h1", "h2", "h3", "h4", "hr", "li", "ol", "p",
    "pre", "s", "strong", "table", "tbody", "td", "th", "thead", "tr", "ul",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    """A section heading and its anchor."""

    anchor: str
    words: str


def render(text: str) -> SafeString:
    """Render CommonMark with tables. Raw HTML, images and script URLs are removed. Tables get the portal's styles."""
    tokens = _reader.parse(text)
    for place, heading in _sections(tokens):
        tokens[place].attrSet("id", heading.anchor)
    html = nh3.clean(
        _reader.renderer.render(tokens, _reader.options, {}),
        tags=TAGS,
        attributes={"a": {"href", "title"}, "ol": {"start"}, "h2": {"id"}},
        url_schemes={"http", "https", "mailto"},
        set_tag_attribute_values={"table": {"class": "ruled secondary"}, "th": {"scope": "col"}},
    )
    return mark_safe(html)  # noqa: S308 - nh3 has just cleaned it


def contents(text: str) -> list[Heading]:
    """Return the sections of the text in order."""
    return [heading for _place, heading in _sections(_reader.parse(text))]


def _sections(tokens: list[Token]) -> Iterator[tuple[int, Heading]]:
    """Yield second-level headings with their token index. Their anchors cannot clash with those of the page."""
    places = [place for place, token in enumerate(tokens) if token.type == "heading_open" and token.tag == "h2"]
    for number, place in enumerate(places, start=1):
        words = "".join(part.content for part in tokens[place + 1].children or [])
        yield place, Heading(f"s{number}-{slugify(words)}", words)


def has_heading(text: str) -> bool:
    """Return whether the text starts with its own title."""
    return text.lstrip().startswith("# ")
