"""The parts of an email's text. Each is rendered both as plain text and as HTML."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal

from django.conf import settings
from django.urls import reverse
from django.utils.text import wrap

from portal.models import OutgoingMail, User
from portal.times_and_numbers import AOE, written, zone_of, zone_words

PLAIN_WIDTH = 76  # characters per line of plain text


@dataclass(frozen=True, slots=True)
class Block:
    """One part of an email's text.

    The kinds `text`, `quote` and `secret` show `text`. `markdown` shows `text` or, in HTML, `html`. `link` and `button`
    show `text` above `url`. `facts` (label, value) and `points` (heading, text) show `rows`.
    """

    kind: Literal["text", "quote", "secret", "markdown", "link", "button", "facts", "points"]
    text: str = ""
    url: str = ""
    html: str = ""  # must be safe
    rows: Sequence[tuple[str, str]] = ()

    @property
    def plain(self) -> str:
        """The part as plain text, without the blank line after it."""
        if self.kind == "facts":
            width = max(len(label) for label, _value in self.rows)
            return "\n".join(f"{label.ljust(width)}  {value}" for label, value in self.rows)
        if self.kind == "points":
            return "\n".join(f"- {head}\n  {words}" if head else f"- {words}" for head, words in self.rows)
        if self.url:
            return f"{self.text}:\n{self.url}"
        return wrap(self.text, PLAIN_WIDTH) if self.kind in ("text", "markdown") else self.text


@dataclass(frozen=True, slots=True)
class MailContent:
    """An email before it is rendered. `why` tells readers why they received it.

    An attachment is a file name and JSON text.
    """

    subject: str
    blocks: Sequence[Block]
    why: str
    attachment: tuple[str, str] | None = None


text = partial(Block, "text")
quote = partial(Block, "quote")  # text by someone else, possibly long
secret = partial(Block, "secret")  # a line to copy
link = partial(Block, "link")
button = partial(Block, "button")  # the next step; at most one per email


def facts(*rows: tuple[str, str]) -> Block:
    return Block("facts", rows=rows)


def points(rows: Sequence[tuple[str, str]]) -> Block:
    return Block("points", rows=rows)


def names_of(mail: OutgoingMail) -> dict[str, str]:
    """Return the names to fill into an email's sentences: the task's and, if there are any, the team's and phase's."""
    found = {"task": mail.shared_task.title}
    found |= {"team": mail.team.name} if mail.team else {}
    return found | ({"phase": mail.phase.title} if mail.phase else {})


def page(name: str, *arguments: object) -> str:
    """Return the absolute URL of a page."""
    return f"{settings.PUBLIC_URL}{reverse(name, args=arguments)}"


def moment(reader: User | None, value: datetime, at: datetime, *, seconds: bool = False) -> str:
    """Format a time in AoE and in the reader's time zone."""
    zone = zone_of(reader.time_zone if reader else "UTC")
    return f"{written(value, AOE, at, seconds)} AoE · {written(value, zone, at, seconds)} {zone_words(zone)}"
