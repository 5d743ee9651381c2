"""Dates as iCalendar (RFC 5545): each a moment, in UTC, which every calendar shows in its reader's zone."""

from collections.abc import Iterable
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from portal.printing import AOE, end_of_day, written
from portal.queries.public import Date

_LINE = 75  # octets


def as_ics(dates: Iterable[Date], name: str, portal: str, at: datetime) -> bytes:
    """The calendar; `portal` is the address of the pages."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Agon//shared tasks//EN", f"X-WR-CALNAME:{_text(name)}"]
    for date in dates:
        lines += _event(date, portal, at)
    return b"".join(_folded(line) + b"\r\n" for line in (*lines, "END:VCALENDAR"))


def _event(date: Date, portal: str, at: datetime) -> list[str]:
    phase, task = date.phase, date.phase.shared_task
    words = {"opens": _("opens"), "closes": _("closes"), "released": _("scores are released")}
    told = end_of_day(date.at) if date.kind == "closes" else date.at
    return [
        "BEGIN:VEVENT",
        f"UID:{task.slug}-{phase.slug}-{date.kind}@{portal.partition('://')[2]}",
        f"DTSTAMP:{_moment(task.imported_at)}",
        f"DTSTART:{_moment(told)}",
        f"SUMMARY:{_text(f'{task.title}: {phase.title} {words[date.kind]}')}",
        f"DESCRIPTION:{_text(f'{written(told, AOE, at)} AoE')}",
        f"URL:{portal}/tasks/{task.slug}/",
        "END:VEVENT",
    ]


def _moment(value: datetime) -> str:
    return f"{value.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _text(text: str) -> str:
    for char in "\\;,":
        text = text.replace(char, f"\\{char}")
    return " ".join(text.split())


def _folded(line: str) -> bytes:
    """In pieces of at most 75 octets, of which all but the first begin with a space; no character is torn apart."""
    pieces, piece = [], b""
    for char in line:
        octets = char.encode()
        if len(piece) + len(octets) > _LINE:
            pieces.append(piece)
            piece = b" "
        piece += octets
    return b"\r\n".join([*pieces, piece])
