"""Dates as iCalendar (RFC 5545), in UTC. Calendar programs show them in the reader's time zone."""

from collections.abc import Iterable
from datetime import datetime

from django.utils.translation import gettext as _
from icalendar import Calendar, Event, vText

from portal.queries.public import Date
from portal.times_and_numbers import AOE, end_of_day, written


def as_ics(dates: Iterable[Date], slug: str, name: str, portal: str, at: datetime) -> bytes:
    """Return the calendar. `slug` identifies it in the portal, and `portal` is the portal's URL."""
    uid = f"{slug}@{portal.partition('://')[2]}"  # would otherwise be random in every response
    events = [_event(date, portal, at) for date in dates]
    calendar = Calendar.new(prodid="-//Agon//shared tasks//EN", uid=uid, subcomponents=events)
    for key in ("NAME", "X-WR-CALNAME"):
        # icalendar would not treat these values as text and would leave commas unescaped
        calendar.add(key, vText(" ".join(name.split())))
    return calendar.to_ical()


def _event(date: Date, portal: str, at: datetime) -> Event:
    phase = date.phase
    words = {"opens": _("opens"), "closes": _("closes"), "released": _("scores are released")}
    moment = end_of_day(date.at) if date.kind == "closes" else date.at
    return Event.new(
        uid=f"{phase.task_slug}-{phase.slug}-{date.kind}@{portal.partition('://')[2]}",
        stamp=phase.changed_at,
        start=moment,
        summary=" ".join(f"{phase.task_title}: {phase.title} {words[date.kind]}".split()),
        description=f"{written(moment, AOE, at)} AoE",
        url=f"{portal}/tasks/{phase.task_slug}/",
    )
